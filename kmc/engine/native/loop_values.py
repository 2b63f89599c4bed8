"""The values of a loop while it is translated: words and structs, known now or when the loop runs.

Invariant: a struct is a 64-bit word, its address. A field is read or written by the same instructions as
`load(address, offset)` and `store(address, offset, value)`, and conversions between structs and words emit nothing.
An embedded struct is the address of the outer one; its offset is part of the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from kmc.engine.native.memory import WORD_BYTES
from kmc.engine.native.structs import Field, Struct

WORD = ir.IntType(64)
_WORD_MIN, _WORD_MAX = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class LoopValue:
    """A word of LLVM's, or a number that is known now; `struct` and `offset` if it is the address of a struct.

    `offset` counts words from the address to an embedded struct.
    """

    word: Any
    struct: type[Struct] | None = None
    offset: int = 0

    def emitted(self, builder: Any) -> Any:
        """The value as a word of LLVM's."""
        word = constant(self.word) if isinstance(self.word, int) else self.word
        return builder.add(word, WORD(self.offset * WORD_BYTES)) if self.offset else word

    def field(self, name: str) -> Field:
        """A field of the struct; TypeError if there is no such field."""
        field = self.struct.FIELDS.get(name) if self.struct is not None else None
        if field is None:
            raise TypeError(f"{self.struct.__name__ if self.struct else 'a word'} has no field {name}")
        return field

    def read(self, builder: Any, name: str) -> LoopValue:
        """The value of a field; of an embedded struct, its address."""
        field = self.field(name)
        struct = struct_of(field.kind)
        if field.embedded:
            return LoopValue(self.word, struct, self.offset + field.offset)
        return LoopValue(builder.load(self._place(builder, field)), struct)

    def write(self, builder: Any, name: str, value: LoopValue) -> None:
        """Write a field; TypeError if it is embedded, or holds the address of another struct."""
        field = self.field(name)
        if field.embedded:
            raise TypeError(f"{name} is a struct inside another: set its fields")
        builder.store(value.converted(builder, struct_of(field.kind)).emitted(builder), self._place(builder, field))

    def converted(self, builder: Any, struct: type[Struct] | None) -> LoopValue:
        """The value as a word, or as the address of a struct; TypeError if it is not one."""
        if struct is not None and self.struct is not struct:
            raise TypeError(f"{self.struct.__name__ if self.struct else 'a word'} is not a {struct.__name__}")
        return LoopValue(self.emitted(builder), struct) if self.offset else LoopValue(self.word, struct)

    def _place(self, builder: Any, field: Field) -> Any:
        address = constant(self.word) if isinstance(self.word, int) else self.word
        return builder.gep(builder.inttoptr(address, WORD.as_pointer()), [WORD(self.offset + field.offset)])


def constant(number: int) -> Any:
    """A number as a word of LLVM's; TypeError if it is none."""
    if not _WORD_MIN <= number <= _WORD_MAX:
        raise TypeError(f"{number} does not fit a word")
    return WORD(int(number))


def struct_of(kind: Any) -> type[Struct] | None:
    """The struct that an annotation names; None for words."""
    return kind if isinstance(kind, type) and issubclass(kind, Struct) else None
