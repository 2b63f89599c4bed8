"""The types of values while they are compiled, and the types that several values have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kmc.compiler.values.value import (
    Bool,
    EmptySet,
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
    EnumType,
    IdentType,
    IntType,
    MapType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from kmc.runtime.state_layout import expanded, is_listed, is_plain_key


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


def type_of_all(values: Iterable[Value], *, joins_symbols: bool = False) -> Type | None:
    """The least type that holds all of these values; None for kinds that have none.

    `joins_symbols` joins symbols of several kinds, and numbers, to a union, as a place of both declares it.
    """
    previous: Value | None = None
    joined: Type | None = None
    for value in values:
        if previous is None:
            joined = type_of(value)
        else:
            stand_in = previous if joined is None else Packed(joined, ())
            common = common_type(stand_in, value)
            joined = scalar_union(joined, type_of(value)) if common is None and joins_symbols else common
            if joined is None:
                return None
        previous = value
    return joined


def scalar_union(first: Type | None, second: Type | None) -> Type | None:
    """The union of two kinds of symbols or numbers, as a place of both declares it; None for other types."""
    kinds = (first, second)
    if not all(isinstance(kind, EnumType | IdentType | IntType | BoolType) for kind in kinds):
        return None
    if all(isinstance(kind, IntType | BoolType) for kind in kinds):
        return None  # no union has both
    return joined_union(*kinds)  # type: ignore[arg-type]  # neither is None


def common_type(left: Value, right: Value) -> Type | None:
    """A type that both values have, for the place where two branches meet; None if there is none."""
    first, second = type_of(left), type_of(right)
    if isinstance(left, Nothing) or isinstance(right, Nothing):
        other = second if isinstance(left, Nothing) else first
        if other is None:
            return None
        return replace(other, optional=True) if isinstance(other, UnionType) else UnionType((other,), True)
    if first is None or second is None:
        known = second if first is None else first
        is_empty_set = isinstance(left if first is None else right, EmptySet)
        return SetType(known.element) if is_empty_set and isinstance(known, PairType) else known
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
            # A mask of other elements than scalars and pairs is not moved to other numbers, and no list is made of it.
            if members is None or not is_plain_key(members) or is_listed(SetType(members)):
                return None
            return SetType(members)
        case (RecordType() | UnionType(), _) | (_, RecordType() | UnionType()):
            return joined_union(first, second)
        case _ if is_collection_type(first) != is_collection_type(second):
            return joined_union(first, second)
    return None


def is_collection_type(declared: Type) -> bool:
    """Return whether values of a type are sets, sequences or maps."""
    return isinstance(declared, SetType | PairType | SeqType | MapType)


def joined_union(first: Type, second: Type) -> Type | None:
    """The union of the alternatives of two types; None for collections that no type joins."""
    kinds: list[Type] = []
    for kind in (*_kinds(first), *_kinds(second)):
        range_type = next((other for other in kinds if isinstance(other, IntType) and isinstance(kind, IntType)), None)
        if range_type is not None:
            assert isinstance(range_type, IntType)
            assert isinstance(kind, IntType)
            kinds[kinds.index(range_type)] = IntType(min(range_type.low, kind.low), max(range_type.high, kind.high))
        elif kind not in kinds:
            alike = next((other for other in kinds if _are_alike(kind, other)), None)
            joined = kind if alike is None else joined_type(alike, kind)
            if joined is None:
                return None
            place = len(kinds) if alike is None else kinds.index(alike)
            kinds[place : place + 1] = [joined]
    optional = any(isinstance(kind, UnionType) and kind.optional for kind in (first, second))
    return UnionType(tuple(kinds), optional)


def is_alternative(value: Value, alternative: Type) -> bool:
    """Return whether a value is of an alternative of a union, which has one of each kind of collection."""
    match value:
        case Bool():
            return isinstance(alternative, BoolType)
        case Num():
            return isinstance(alternative, IntType)
        case Sym(cls):
            return isinstance(alternative, EnumType | IdentType) and alternative.cls is cls
        case Rec(declared) | Packed(declared) | Stored(declared) | MapUpdate(declared):
            return declared == alternative or _are_alike(declared, alternative)
        case EmptySet():
            return isinstance(alternative, SetType)
        case SeqLiteral():
            return isinstance(alternative, SeqType)
        case _:
            return False


def _are_alike(one: Type, other: Type) -> bool:
    """Return whether two types are of collections of one kind, of which a union has one."""
    kinds: tuple[tuple[type[Type], ...], ...] = ((SetType, PairType), (SeqType,), (MapType,))
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in kinds)


def is_within(kind: Type, declared: Type) -> bool:
    """Return whether each value of `kind` is one of `declared`, so that packing it needs no check."""
    match kind, declared:
        case _ if kind == declared:
            return True
        case IntType(), IntType():
            return declared.low <= kind.low and kind.high <= declared.high
        case UnionType(alternatives, optional), UnionType():
            none_fits = declared.optional or not optional
            return none_fits and all(is_within(one, declared) for one in alternatives)
        case _, UnionType(alternatives):
            return any(is_within(kind, one) for one in alternatives)
        case ((SetType(one) | PairType(one)), SetType(other)):
            return is_within(one, other) and is_plain_key(one) and is_plain_key(other)
        case SeqType(one, length), SeqType(other, capacity):
            return length <= capacity and is_within(one, other)
        case _:
            return False


def _kinds(declared: Type) -> list[Type]:
    return list(expanded(declared)) if isinstance(declared, UnionType | RecordType) else [declared]


def advice_on_field(cls: RecordMeta, name: str) -> str:
    """The advice for a field that a record class lacks, and perhaps another shape of its type has."""
    shapes = (shape for base in cls.__mro__[1:] if isinstance(base, RecordMeta) for shape in base.shapes)
    having = next((shape for shape in shapes if name in shape.fields), None)
    return "check the spelling" if having is None else f"test if isinstance(x, {having.__name__}) first"
