"""Structs of 64-bit words in memory that Python and native loops share. Each is declared once, as a class:

    class Buffer(Struct):
        address: int
        words: int

    class Thread(Struct, words=64):
        out: Buffer = embedded()  # the two words of a buffer
        source: StateRecord  # one word, the address of a record
        pending: int = at(20)

A struct is its address, an integer, in Python and in loops alike. On an instance a field is the value in memory
(`thread.pending`, to be read and written); on the class it is the field's offset in words (`Thread.pending`), as atomic
intrinsics and numpy arrays need it.

Invariant: no two fields share a word. A field follows the one before it, or lies further on at the offset given by
`at`.

`loop_values` gives them their meaning in loops.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from types import MappingProxyType
from typing import Any, ClassVar, Self

from kmc.engine.native.memory import WORD_BYTES, Memory

_WORD_LEAST = -(1 << 63)
_WORD_MOST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class _Placement:
    """The placement of a field that its declaration gives beside the type."""

    offset: int | None = None
    embedded: bool = False


def at(offset: int) -> Any:
    """Declare the offset of a field in words, for instance for a cache line of its own."""
    return _Placement(offset=offset)


def embedded(offset: int | None = None) -> Any:
    """Declare that a field is a struct inside this one; without it, a field of a struct type holds an address."""
    return _Placement(offset=offset, embedded=True)


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its offset in words, and its type: `int`, a struct, or for a kind of words `int` too."""

    name: str
    offset: int
    kind: type[int]
    embedded: bool

    @property
    def words(self) -> int:
        """The number of words of the field."""
        return self.kind.WORDS if self.embedded and issubclass(self.kind, Struct) else 1

    def __get__(self, struct: Struct | None, owner: type[Struct]) -> int:
        """The value in memory; of the class, the offset."""
        if struct is None:
            return self.offset
        if not self.embedded:
            return self.kind(_word_of(struct, self.offset).value)
        inner = self.kind(int(struct) + self.offset * WORD_BYTES)
        inner.__dict__.update(struct.__dict__)
        return inner

    def __set__(self, struct: Struct, value: int) -> None:
        """Write the value to memory; OverflowError if it is not a signed 64-bit word."""
        if self.embedded:
            raise AttributeError(f"{self.name} is a struct inside another: set its fields")
        word = index(value)
        if not _WORD_LEAST <= word <= _WORD_MOST:
            raise OverflowError(f"{self.name} = {word} does not fit a word")
        _word_of(struct, self.offset).value = word


class Struct(int):
    """A typed address. Subclasses declare the fields; see the module's docstring."""

    FIELDS: ClassVar[Mapping[str, Field]] = MappingProxyType({})
    WORDS: ClassVar[int] = 0
    BYTES: ClassVar[int] = 0

    def __init_subclass__(cls, words: int | None = None) -> None:
        """Place the fields; `words` is the size if that is more than the fields need. TypeError if they overlap."""
        fields = _fields_of(cls)
        end = max((field.offset + field.words for field in fields), default=0)
        if words is not None and words < end:
            raise TypeError(f"the fields of {cls.__name__} take {end} words, not {words}")
        for field in fields:
            setattr(cls, field.name, field)
        cls.FIELDS = MappingProxyType({field.name: field for field in fields})
        cls.WORDS = words or end
        cls.BYTES = cls.WORDS * WORD_BYTES

    def __setattr__(self, name: str, value: int) -> None:
        """Set a field; AttributeError for any other name."""
        if name not in self.FIELDS:
            raise AttributeError(f"{type(self).__name__} has no field {name}")
        super().__setattr__(name, value)

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """The struct at the beginning of a memory, which lives as long as the answer."""
        assert memory.words >= cls.WORDS, f"{memory.words} words are too few for {cls.__name__}"
        struct = cls(memory.address)
        struct.__dict__["memory"] = memory
        return struct


def _fields_of(struct: type[Struct]) -> list[Field]:
    fields: list[Field] = []
    end = 0
    for name, kind in inspect.get_annotations(struct, eval_str=True).items():
        if hasattr(Struct, name):
            raise TypeError(f"a field of {struct.__name__} cannot have the name {name}, which every struct has")
        # A NewType of words has their type.
        kind = getattr(kind, "__supertype__", kind)
        placement = struct.__dict__.get(name, _Placement())
        if not (isinstance(placement, _Placement) and isinstance(kind, type) and _is_kind(kind, placement)):
            raise TypeError(f"{struct.__name__}.{name} is not a word, an address of a struct, or an embedded struct")
        offset = end if placement.offset is None else placement.offset
        if offset < end:
            raise TypeError(f"{struct.__name__}.{name} at word {offset} overlaps what ends at word {end}")
        fields.append(Field(name, offset, kind, placement.embedded))
        end = offset + fields[-1].words
    return fields


def _is_kind(kind: type, placement: _Placement) -> bool:
    return issubclass(kind, Struct) or (kind is int and not placement.embedded)


def _word_of(struct: int, offset: int) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(struct + offset * WORD_BYTES)
