"""The static types of the spec language: what an annotation in a spec means.

Every type is finite, so a compiler can lay it out in bits, and an error can show its domain. A type is data only; its
operations are in modules of their own: `admission` (is a value in the domain), `domains`
(enumerate and describe it), `order`, `permutation`, `tla`. Dispatch is by `match` over the closed union `Type`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from kmc.lang.enums import Enum
    from kmc.lang.idents import Ident
    from kmc.lang.records import Record


class Joinable:
    """Lets `Int(0, 3) | None` join types to a union, as classes do."""

    __slots__ = ()

    def __or__(self, other: Any) -> UnionType:
        from kmc.lang.annotations import union

        return union(self, other)

    def __ror__(self, other: Any) -> UnionType:
        from kmc.lang.annotations import union

        return union(other, self)


@dataclass(frozen=True, slots=True)
class BoolType(Joinable):
    """TRUE or FALSE."""


@dataclass(frozen=True, slots=True)
class IntType(Joinable):
    """The integers from `low` to `high`, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class EnumType(Joinable):
    """The members of an `Enum` class."""

    cls: type[Enum]


@dataclass(frozen=True, slots=True)
class IdentType(Joinable):
    """The members of an identifier class: what a model gives, or what is spawned while it runs."""

    cls: type[Ident]


@dataclass(frozen=True, slots=True)
class PairType(Joinable):
    """Unordered pairs of two different members of an identifier class."""

    element: IdentType


@dataclass(frozen=True, slots=True)
class RecordType(Joinable):
    """A record class and all shapes of it: the class itself unless it is abstract, and its subclasses."""

    cls: type[Record]


@dataclass(frozen=True, slots=True)
class UnionType(Joinable):
    """One of several alternatives, and None (shown as Nil) if `optional`."""

    alternatives: tuple[Type, ...]
    optional: bool


@dataclass(frozen=True, slots=True)
class SetType(Joinable):
    """Finite sets of elements."""

    element: Type


@dataclass(frozen=True, slots=True)
class SeqType(Joinable):
    """Sequences of at most `capacity` elements; offsets count from 1."""

    element: Type
    capacity: int


@dataclass(frozen=True, slots=True)
class MapType(Joinable):
    """Functions from keys to values; on every key if `total`, else on a subset of the keys."""

    key: Type
    value: Type
    total: bool


@dataclass(frozen=True, slots=True)
class MessageSetType(Joinable):
    """Sets of at most `capacity` messages, each a shape of one of `messages`."""

    messages: tuple[RecordType, ...]
    capacity: int


@dataclass(frozen=True, slots=True)
class MessageBagType(Joinable):
    """Functions from at most `capacity` messages to delivery counts in 0..`count_max`; a count of 0 is kept."""

    messages: tuple[RecordType, ...]
    capacity: int
    count_max: int


NetworkType: TypeAlias = MessageSetType | MessageBagType

Type: TypeAlias = (
    BoolType
    | IntType
    | EnumType
    | IdentType
    | PairType
    | RecordType
    | UnionType
    | SetType
    | SeqType
    | MapType
    | MessageSetType
    | MessageBagType
)
