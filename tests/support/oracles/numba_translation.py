"""From a loop in Python to LLVM IR, by numba: its types, its lowering, and only those.

Invariant: one loop and all parts that it calls become one module with one function that others see, in C's convention
for words. Nothing is optimised or loaded here: numba's usual way does so for each part once more, and needs three times
as long. Parts are translated when a call of them is typed, so parts that a constant switches off cost nothing.

Uses the parts of numba's own ahead-of-time compiler, which may change between its minor versions: kmc requires one of
them.
"""

from __future__ import annotations

import dis
import inspect
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from types import CodeType, FunctionType, ModuleType
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
from support.oracles.numba_structs import StructAddress, StructClass, type_of

from kmc.engine.native.intrinsics import LoopIntrinsic, parts
from kmc.engine.native.structs import Struct
from kmc.runtime.native_module import symbol

Part = Callable[..., Any]

_WORD = ir.IntType(64)
_LOCK = Lock()
"""Held while a loop is translated, since all translations of a process share their parts."""


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
    with _LOCK:
        try:
            return _Translation(_translator(), specialization or {}).exported(loop, name)
        except BaseException:
            # Whatever an error or Ctrl-C has left unfinished, no later loop is made with it.
            _translator.cache_clear()
            raise


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
    """The interface that numba requires of a library. Each part has a module of its own, of which the text is kept."""

    def __init__(self, generator: Any) -> None:
        self.codegen = generator
        self.name = "loops"
        self.recorded_timings: tuple[()] = ()
        self.added: dict[str, str] = {}
        self.whole = self._empty()
        self._reload_init: set[Any] = set()

    def create_ir_module(self, name: str) -> ir.Module:
        """A module for one part. All parts have their metadata in one list, so that their numbers fit together."""
        module = self._empty()
        module.metadata, module._metadatacache = self.whole.metadata, self.whole._metadatacache
        return module

    def add_ir_module(self, module: ir.Module) -> None:
        """Take the text of what the module defines and declares, by name; what it defines is no other module's."""
        assert not module.get_identified_types()
        for value in module.global_values:
            if not getattr(value, "is_declaration", False):
                value.linkage = "internal"
        self.added = {value.name: str(value) for value in module.global_values}

    def _empty(self) -> ir.Module:
        return self.codegen._create_empty_module(self.name)


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


@dataclass(frozen=True, slots=True, eq=False)
class _Translated:
    """A part in LLVM IR, with all that it was made from: its code, the values of its names, and the parts it calls."""

    key: FunctionType
    code: CodeType
    read: dict[str, Any]
    called: dict[Part, _Translated]
    description: Any
    texts: dict[str, str]

    def has_read(self, part: FunctionType, names: Mapping[str, Any]) -> bool:
        """Return whether the part would be made from the same code and the same values now."""
        return part.__code__ is self.code and _is_same(_read(part, names), self.read)


class _Translator:
    """All that translations of this process share: numba's types and lowering, and the parts that are translated."""

    def __init__(self) -> None:
        self.translation: _Translation | None = None
        self.translated: defaultdict[Part, list[_Translated]] = defaultdict(list)
        self._types: dict[Any, Any] = {}
        self.typing = _Typing(self._known)
        self.target = _Target(self.typing)
        self.typing.refresh()
        self.target.refresh()
        self.library = _Library(self.target.codegen())
        self._flags = Flags()
        self._flags.no_compile = self._flags.no_cpython_wrapper = self._flags.no_cfunc_wrapper = True
        self._flags.forceinline = True
        # A division by zero gives 0 then, and loops have no other error to raise.
        self._flags.error_model = "numpy"

    def _known(self, value: Any) -> Any:
        """The type of an intrinsic, a part, a kind of words or the class of a struct; None for anything else."""
        if callable(value) and value in parts:
            assert self.translation is not None
            return self.translation.type_of_part(value)
        if isinstance(value, NewType):
            if value not in self._types:
                self._types[value] = types.Function(self._template_of_words(value))
            return self._types[value]
        if isinstance(value, type) and issubclass(value, Struct):
            if value not in self._types:
                self._types[value] = StructClass(value, self._template_of_struct(value))
            return self._types[value]
        if isinstance(value, LoopIntrinsic) or (callable(value) and value in _BUILTINS):
            if value not in self._types:
                self._types[value] = types.Function(self._template(value))
            return self._types[value]
        return None

    def _template(self, value: Any) -> Any:
        intrinsic = _BUILTINS.get(value, value)
        takes = (types.int64,) * intrinsic.arity

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return intrinsic.emit(builder, *arguments) or _WORD(0)

        self.target.insert_func_defn([(emit, value, takes)])
        return make_concrete_template("intrinsic", value, [signature(types.int64, *takes)])

    def _template_of_words(self, kind: NewType) -> Any:
        """Called with a word, a kind of words gives this word."""

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return arguments[0]

        self.target.insert_func_defn([(emit, kind, (types.int64,))])
        return make_concrete_template("words", kind, [signature(types.int64, types.int64)])

    def _template_of_struct(self, struct: type[Struct]) -> Any:
        """Called with an address, the class of a struct gives the struct there."""

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return arguments[0]

        self.target.insert_func_defn([(emit, struct, (types.int64,))])
        return make_concrete_template("struct", struct, [signature(StructAddress(struct), types.int64)])

    def translated_now(self, part: FunctionType, names: dict[str, Any], called: dict[Part, _Translated]) -> _Translated:
        """Translate a part whose names have these values; the translation adds those it calls to `called`."""
        takes = _signature(part)
        named = FunctionType(part.__code__, names, part.__name__)
        named.__module__ = part.__module__
        made = compile_extra(
            self.typing, self.target, named, takes.args, takes.return_type, self._flags, {}, self.library, _Compiler
        )
        self.target.insert_user_function(named, made.fndesc, [])
        return _Translated(named, part.__code__, _read(part, names), called, made.fndesc, self.library.added)


@cache
def _translator() -> _Translator:
    return _Translator()


class _Translation:
    """The translation of one loop: the parts that it calls, each as its names are in this loop."""

    def __init__(self, translator: _Translator, specialization: Mapping[str, int]) -> None:
        self._translator = translator
        self._specialization = specialization
        self._types: dict[Part, Any] = {}
        self._parts: dict[Part, _Translated] = {}
        self._calling: list[dict[Part, _Translated]] = []
        translator.translation = self

    def type_of_part(self, part: Part) -> Any:
        """The type of a part, which is translated when a call of it is typed."""
        if part not in self._types:
            self._types[part] = types.Function(self._template_of_part(part))
        return self._types[part]

    def _template_of_part(self, part: Part) -> Any:
        translation = self

        class Template(AbstractTemplate):  # type: ignore[misc]  # numba has no types
            key = part

            def generic(self, args: Any, kws: Any) -> Any:
                translation._include(part)
                return _signature(part)

            def get_impl_key(self, sig: Any) -> Any:
                return translation._parts[part].key

        return Template

    def _include(self, part: Part) -> _Translated:
        """Translate a function, unless it is there, and note that the one under way calls it."""
        found = self._kept(part)
        if found is None:
            assert isinstance(part, FunctionType), part
            self._calling.append({})
            found = self._translator.translated_now(part, self._names(part), self._calling[-1])
            self._calling.pop()
            self._translator.translated[part].append(found)
            self._parts[part] = found
        if self._calling:
            self._calling[-1][part] = found
        return found

    def _names(self, part: FunctionType) -> dict[str, Any]:
        return {**part.__globals__, **self._specialization}

    def _kept(self, part: Part) -> _Translated | None:
        """The part as it was translated for this loop or another one, if all its names have the same values."""
        if part not in self._parts:
            for each in self._translator.translated.get(part, ()):
                assert isinstance(part, FunctionType), part
                if each.has_read(part, self._names(part)) and all(
                    self._kept(called) is known for called, known in each.called.items()
                ):
                    self._parts[part] = each
                    break
        return self._parts.get(part)

    def exported(self, loop: Part, name: str) -> str:
        """LLVM IR of the loop and all that it calls, and the function that others see; all else is the module's own."""
        made = self._include(loop)
        target, library = self._translator.target, self._translator.library
        module = library.create_ir_module(name)
        description = made.description
        takes = [_WORD] * len(description.argtypes)
        kernel = ir.Function(module, ir.FunctionType(_WORD, takes), symbol(name))
        builder = ir.IRBuilder(kernel.append_basic_block())
        callee = target.declare_function(module, description)
        _, result = target.call_conv.call_function(
            builder, callee, description.restype, description.argtypes, kernel.args
        )
        builder.ret(result)
        reached: dict[_Translated, None] = {made: None}
        _reach(made, reached)
        texts = {symbol(name): str(kernel)}
        defined = {each.description.llvm_func_name for each in reached}
        for each in reached:
            own = each.description.llvm_func_name
            texts |= {key: text for key, text in each.texts.items() if key == own or key not in defined}
        # The module of no part has the target and all metadata.
        return "\n".join([str(library.whole), *texts.values()])


def _reach(made: _Translated, reached: dict[_Translated, None]) -> None:
    for each in made.called.values():
        if each not in reached:
            reached[each] = None
            _reach(each, reached)


def _read(part: FunctionType, names: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the global names that a part reads, and of the names that it may read in modules."""
    read = {name: names[name] for name in _global_names(part.__code__) if name in names}
    of_modules = {
        f"{place}.{name}": vars(module)[name]
        for place, module in read.items()
        if isinstance(module, ModuleType)
        for name in part.__code__.co_names
        if name in vars(module)
    }
    return read | of_modules


@cache
def _global_names(code: CodeType) -> frozenset[str]:
    return frozenset(each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL")


def _is_same(now: Mapping[str, Any], then: Mapping[str, Any]) -> bool:
    """Return whether all names have the same values: the same objects, or equal numbers."""
    return now.keys() == then.keys() and all(
        value is then[name] or (type(value) is int and type(then[name]) is int and value == then[name])
        for name, value in now.items()
    )


def _signature(part: Part) -> Any:
    """The types of the arguments and result of a part: words and structs, or nothing."""
    assert isinstance(part, FunctionType), part
    annotations = inspect.get_annotations(part, eval_str=True)
    names = part.__code__.co_varnames[: part.__code__.co_argcount]
    return signature(type_of(annotations["return"]), *[type_of(annotations[name]) for name in names])
