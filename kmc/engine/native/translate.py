"""From a loop in Python to LLVM IR, by numba: its types, its lowering, and only those.

Invariant: one loop and all parts that it calls become one module with one function that others see, in C's convention
for words. Nothing is optimised or loaded here: numba's usual way does so for each part once more, and needs three times
as long. Parts are translated when a call of them is typed, so parts that a constant switches off cost nothing.

Uses the parts of numba's own ahead-of-time compiler, which may change between its minor versions: kmc requires one of
them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, ClassVar, NewType

from llvmlite import ir
from numba.core import codegen, types
from numba.core.compiler import CompilerBase, Flags, compile_extra
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.typed_passes import IRLegalization, NativeLowering, NopythonTypeInference, PreLowerStripPhis
from numba.core.typing.context import BaseContext
from numba.core.typing.templates import AbstractTemplate, make_concrete_template, signature
from numba.core.untyped_passes import DeadBranchPrune, FixupArgs, IRProcessing, ReconstructSSA, TranslateByteCode

from kmc.engine.native.intrinsics import LoopIntrinsic, parts
from kmc.engine.native.struct_types import StructAddress, StructClass, type_of
from kmc.engine.native.structs import Struct
from kmc.runtime.native_module import symbol

Part = Callable[..., Any]

_WORD = ir.IntType(64)


@LoopIntrinsic
def _least(builder: Any, left: Any, right: Any) -> Any:
    return builder.select(builder.icmp_signed("<", left, right), left, right)


@LoopIntrinsic
def _most(builder: Any, left: Any, right: Any) -> Any:
    return builder.select(builder.icmp_signed(">", left, right), left, right)


# numba's own of these take any number of any things, at a tenth of the whole time.
_BUILTINS: dict[Any, LoopIntrinsic] = {min: _least, max: _most}


def llvm_text(loop: Part, name: str, specialization: Mapping[str, int] | None = None) -> str:
    """LLVM IR of a module with the kernel `name`, made of `loop`; `specialization` gives globals of that name a value.

    numba's own errors come through: a loop that cannot be translated is a mistake in kmc.
    """
    translation = _Translation(specialization or {})
    translation.include(loop)
    translation.export(loop, name)
    return str(translation.module)


class _Typing(BaseContext):  # type: ignore[misc]  # numba has no types
    """Types of the functions that a loop calls; numba's others, of arrays and the like, are left out."""

    def __init__(self, known: Callable[[Any], Any]) -> None:
        super().__init__()
        self._known = known
        self._complete = False

    def refresh(self) -> None:
        """Load numba's types of numbers and operators, once."""
        if not self._complete:
            self._complete = True
            super().refresh()

    def resolve_value_type(self, val: Any) -> Any:
        """The type of a name in a loop."""
        return self._known(val) or super().resolve_value_type(val)


class _Target(CPUContext):  # type: ignore[misc]  # numba has no types
    """The lowering of numbers, operators and `range` to LLVM IR."""

    _complete = False

    def init(self) -> None:
        """Take numba's code generator for its data layout only."""
        self.is32bit = False
        self._internal_codegen = codegen.AOTCPUCodegen("loops")

    def load_additional_registries(self) -> None:
        """Register the operations that loops use."""
        # Imported for what it registers.
        from numba.cpython import builtins, iterators, numbers, rangeobj  # noqa: F401  # see above

    def refresh(self) -> None:
        """Load numba's implementations, once."""
        if not self._complete:
            self._complete = True
            super().refresh()

    def post_lowering(self, mod: Any, library: Any) -> None:
        """Loops need nothing of numba's runtime."""


class _Library:
    """The interface that numba requires of a library whose functions go to one module."""

    def __init__(self, module: ir.Module, generator: Any) -> None:
        self.codegen = generator
        self.name = "loops"
        self.recorded_timings: tuple[()] = ()
        self._module = module
        self._reload_init: set[Any] = set()

    def create_ir_module(self, name: str) -> ir.Module:
        """The one module."""
        return self._module

    def add_ir_module(self, module: ir.Module) -> None:
        """It is there already."""
        assert module is self._module


class _Compiler(CompilerBase):  # type: ignore[misc]  # numba has no types
    """numba's passes without those that find nothing in loops: closures, arrays, exceptions, parallel loops."""

    _PASSES: ClassVar = (
        TranslateByteCode,
        FixupArgs,
        IRProcessing,
        DeadBranchPrune,
        ReconstructSSA,
        NopythonTypeInference,
        PreLowerStripPhis,
        IRLegalization,
        NativeLowering,
    )

    def define_pipelines(self) -> list[Any]:
        """The passes in their order."""
        manager = PassManager("loops")
        for each in self._PASSES:
            manager.add_pass(each, each.__name__)
        manager.finalize()
        return [manager]


class _Translation:
    """A module that grows by the parts that are requested."""

    def __init__(self, specialization: Mapping[str, int]) -> None:
        self._specialization = specialization
        self._types: dict[Any, Any] = {}
        self._parts: dict[Part, Any] = {}
        self._typing = _Typing(self._known)
        self._target = _Target(self._typing)
        self._typing.refresh()
        self._target.refresh()
        generator = self._target.codegen()
        self.module = generator._create_empty_module("loops")
        self._library = _Library(self.module, generator)
        self._flags = Flags()
        self._flags.no_compile = self._flags.no_cpython_wrapper = self._flags.no_cfunc_wrapper = True
        self._flags.forceinline = True
        # A division by zero gives 0 then, and loops have no other error to raise.
        self._flags.error_model = "numpy"

    def _known(self, value: Any) -> Any:
        """The type of an intrinsic, a part, a kind of words or the class of a struct; None for anything else."""
        if isinstance(value, NewType):
            if value not in self._types:
                self._types[value] = types.Function(self._template_of_words(value))
            return self._types[value]
        if isinstance(value, type) and issubclass(value, Struct):
            if value not in self._types:
                self._types[value] = StructClass(value, self._template_of_struct(value))
            return self._types[value]
        if isinstance(value, LoopIntrinsic) or (callable(value) and (value in parts or value in _BUILTINS)):
            if value not in self._types:
                self._types[value] = types.Function(self._template(value))
            return self._types[value]
        return None

    def _template(self, value: Any) -> Any:
        if value in parts:
            return self._template_of_part(value)
        intrinsic = _BUILTINS.get(value, value)
        takes = (types.int64,) * intrinsic.arity

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return intrinsic.emit(builder, *arguments) or _WORD(0)

        self._target.insert_func_defn([(emit, value, takes)])
        return make_concrete_template("intrinsic", value, [signature(types.int64, *takes)])

    def _template_of_words(self, kind: NewType) -> Any:
        """Called with a word, a kind of words gives this word."""

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return arguments[0]

        self._target.insert_func_defn([(emit, kind, (types.int64,))])
        return make_concrete_template("words", kind, [signature(types.int64, types.int64)])

    def _template_of_struct(self, struct: type[Struct]) -> Any:
        """Called with an address, the class of a struct gives the struct there."""

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return arguments[0]

        self._target.insert_func_defn([(emit, struct, (types.int64,))])
        return make_concrete_template("struct", struct, [signature(StructAddress(struct), types.int64)])

    def _template_of_part(self, part: Part) -> Any:
        translation = self

        class Template(AbstractTemplate):  # type: ignore[misc]  # numba has no types
            key = part

            def generic(self, args: Any, kws: Any) -> Any:
                translation.include(part)
                return _signature(part)

        return Template

    def include(self, part: Part) -> None:
        """Translate a function, unless it is there."""
        if part in self._parts:
            return
        assert isinstance(part, FunctionType), part
        takes = _signature(part)
        named = FunctionType(part.__code__, {**part.__globals__, **self._specialization}, part.__name__)
        named.__module__ = part.__module__
        made = compile_extra(
            self._typing, self._target, named, takes.args, takes.return_type, self._flags, {}, self._library, _Compiler
        )
        self._parts[part] = made.fndesc
        self._target.insert_user_function(part, made.fndesc, [])

    def export(self, part: Part, name: str) -> None:
        """Add the function that others see; all else is the module's own."""
        own = [value for value in self.module.global_values if not getattr(value, "is_declaration", False)]
        for value in own:
            value.linkage = "internal"
        description = self._parts[part]
        takes = [_WORD] * len(description.argtypes)
        kernel = ir.Function(self.module, ir.FunctionType(_WORD, takes), symbol(name))
        builder = ir.IRBuilder(kernel.append_basic_block())
        callee = self.module.get_global(description.llvm_func_name)
        _, result = self._target.call_conv.call_function(
            builder, callee, description.restype, description.argtypes, kernel.args
        )
        builder.ret(result)


def _signature(part: Part) -> Any:
    """The types of the arguments and result of a part: words and structs, or nothing."""
    assert isinstance(part, FunctionType), part
    annotations = inspect.get_annotations(part, eval_str=True)
    names = part.__code__.co_varnames[: part.__code__.co_argcount]
    return signature(type_of(annotations["return"]), *[type_of(annotations[name]) for name in names])
