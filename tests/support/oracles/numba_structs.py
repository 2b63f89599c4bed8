"""The types and the lowering, in numba, of the structs of `kmc.engine.native.structs` in loops.

Invariant: a struct is a 64-bit word, its address. A field is read or written by the same instructions as
`load(address, offset)` and `store(address, offset, value)`, and conversions between structs and words emit nothing.
An embedded struct is the address of the outer one; its offset is part of its type.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_cast, lower_getattr_generic, lower_setattr_generic
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate, infer_getattr

from kmc.engine.native.memory import WORD_BYTES
from kmc.engine.native.structs import Field, Struct

_WORD = ir.IntType(64)
_SIZES = ("WORDS", "BYTES")


class StructAddress(types.Type):
    """The type of a struct in a loop; `offset` counts words from the address to an embedded one."""

    def __init__(self, struct: type[Struct], offset: int = 0) -> None:
        self.struct, self.offset = struct, offset
        super().__init__(f"{struct.__module__}.{struct.__qualname__}[{offset}]")

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """A struct is a word wherever a word is wanted, and not the other way round."""
        return Conversion.safe if other == types.int64 else None

    def member(self, name: str) -> Any:
        """The type of a field; None if there is no such field."""
        field = self.struct.FIELDS.get(name)
        if field is None:
            return None
        kind = type_of(field.kind)
        return StructAddress(kind.struct, self.offset + field.offset) if field.embedded else kind

    def field(self, name: str) -> tuple[Field, Any]:
        """A field, and its offset from the address as a word."""
        declared = self.struct.FIELDS[name]
        return declared, _WORD(self.offset + declared.offset)


class StructClass(types.Function):
    """The type of a struct's class in a loop: it is called with an address, and has offsets and sizes as attributes."""

    def __init__(self, struct: type[Struct], template: Any) -> None:
        self.struct = struct
        super().__init__(template)


def type_of(kind: Any) -> Any:
    """The type in loops that an annotation names."""
    if kind is None:
        return types.none
    return StructAddress(kind) if isinstance(kind, type) and issubclass(kind, Struct) else types.int64


@register_default(StructAddress)
class _AddressModel(models.PrimitiveModel):  # type: ignore[misc]  # numba has no types
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD)


@lower_cast(StructAddress, types.Integer)  # type: ignore[untyped-decorator]  # numba has no types
def _as_word(context: Any, builder: Any, kind: Any, target: Any, value: Any) -> Any:
    return builder.add(value, _WORD(kind.offset * WORD_BYTES)) if kind.offset else value


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]  # numba has no types
    key = StructAddress

    def generic_resolve(self, kind: StructAddress, name: str) -> Any:
        return kind.member(name)


@infer_getattr
class _Offsets(AttributeTemplate):  # type: ignore[misc]  # numba has no types
    key = StructClass

    def generic_resolve(self, kind: StructClass, name: str) -> Any:
        return types.int64 if name in kind.struct.FIELDS or name in _SIZES else None


@lower_getattr_generic(StructAddress)  # type: ignore[untyped-decorator]  # numba has no types
def _read(context: Any, builder: Any, kind: StructAddress, value: Any, name: str) -> Any:
    field, offset = kind.field(name)
    return value if field.embedded else builder.load(_place(builder, value, offset))


@lower_setattr_generic(StructAddress)  # type: ignore[untyped-decorator]  # numba has no types
def _write(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    field, offset = signature.args[0].field(name)
    assert not field.embedded, f"{name} is a struct inside another: set its fields"
    builder.store(arguments[1], _place(builder, arguments[0], offset))


@lower_getattr_generic(StructClass)  # type: ignore[untyped-decorator]  # numba has no types
def _offset(context: Any, builder: Any, kind: StructClass, value: Any, name: str) -> Any:
    return _WORD(getattr(kind.struct, name))


def _place(builder: Any, address: Any, offset: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _WORD.as_pointer()), [offset])
