"""The types of values while they are compiled, and the types that several values have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kmc.compiler.values.value import (
    Bool,
    MapUpdate,
    Nothing,
    Num,
    Packed,
    Rec,
    Received,
    SeqLiteral,
    Stored,
    Sym,
    Value,
)
from kmc.lang.types import (
    BoolType,
    IntType,
    MapType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from kmc.runtime.state_layout import expanded


@dataclass(frozen=True, slots=True)
class FreeSeq(SeqType):
    """The type of a list written in the spec: it has no declared capacity, so elements may be appended."""


@dataclass(frozen=True, slots=True)
class FreeMap(MapType):
    """The type of a map written in the spec: it has no declared value type, so it may take other values."""


def type_of(value: Value) -> Type | None:
    """The type of a value that has words; None for a value without words (None, literals, Python objects)."""
    match value:
        case Bool():
            return BoolType()
        case Num(_, low, high):
            return IntType(low, high)
        case Sym(cls):
            declared: Type = cls.kmc_type
            return declared
        case Packed(declared) | Stored(declared) | Rec(declared) | MapUpdate(declared):
            return declared
        case Received(stored):
            return stored.type
        case SeqLiteral(items) if items:
            element = type_of_all(items)
            return None if element is None else FreeSeq(element, len(items))
        case _:
            return None


def type_of_all(values: Iterable[Value]) -> Type | None:
    """The least type that holds all of these values; None for kinds that have none."""
    previous: Value | None = None
    joined: Type | None = None
    for value in values:
        if previous is None:
            joined = type_of(value)
        else:
            stand_in = previous if joined is None else Packed(joined, ())
            joined = common_type(stand_in, value)
            if joined is None:
                return None
        previous = value
    return joined


def common_type(left: Value, right: Value) -> Type | None:
    """A type that both values have, for the place where two branches meet; None if there is none."""
    first, second = type_of(left), type_of(right)
    if isinstance(left, Nothing) or isinstance(right, Nothing):
        other = second if isinstance(left, Nothing) else first
        if other is None:
            return None
        return replace(other, optional=True) if isinstance(other, UnionType) else UnionType((other,), True)
    if first is None or second is None:
        return second if first is None else first
    return joined_type(first, second)


def joined_type(first: Type, second: Type) -> Type | None:
    """The least type that holds the values of both; None for kinds that no union joins."""
    match first, second:
        case _ if first == second:
            return first
        case IntType(), IntType():
            return IntType(min(first.low, second.low), max(first.high, second.high))
        case SeqType(), SeqType():
            element_type = joined_type(first.element, second.element)
            return None if element_type is None else FreeSeq(element_type, max(first.capacity, second.capacity))
        case MapType(), MapType():
            keys, values = joined_type(first.key, second.key), joined_type(first.value, second.value)
            if keys is None or values is None:
                return None
            return FreeMap(keys, values, first.total and second.total and first.key == second.key)
        case ((SetType(one) | PairType(one)), (SetType(other) | PairType(other))):
            members = joined_type(one, other)
            return None if members is None else SetType(members)
        case (RecordType() | UnionType(), _) | (_, RecordType() | UnionType()):
            return _joined_union(first, second)
    return None


def _joined_union(first: Type, second: Type) -> Type | None:
    kinds: list[Type] = []
    for kind in (*_kinds(first), *_kinds(second)):
        range_type = next((other for other in kinds if isinstance(other, IntType) and isinstance(kind, IntType)), None)
        if range_type is not None:
            assert isinstance(range_type, IntType)
            assert isinstance(kind, IntType)
            kinds[kinds.index(range_type)] = IntType(min(range_type.low, kind.low), max(range_type.high, kind.high))
        elif kind not in kinds:
            kinds.append(kind)
    if any(isinstance(kind, SetType | PairType | SeqType | MapType) for kind in kinds):
        return None
    optional = any(isinstance(kind, UnionType) and kind.optional for kind in (first, second))
    return UnionType(tuple(kinds), optional)


def _kinds(declared: Type) -> list[Type]:
    return list(expanded(declared)) if isinstance(declared, UnionType | RecordType) else [declared]
