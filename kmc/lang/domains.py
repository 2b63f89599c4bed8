"""Domains: the number of values of every type, the members of a small one in a fixed order, and descriptions.

The place of a value among the members of its type is its number. Compiled code computes the same numbers
(`kmc.compiler.values.keys`): as bits of sets, and as places of the values of a map.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import Any, assert_never

from kmc.errors import SpecError
from kmc.lang.maps import MapValue
from kmc.lang.seqs import seq_literal
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnboundedInt,
    UnionType,
    parts_of,
)

_LISTED_MAX = 8

MEMBERS_MAX = 1 << 16
"""The number of values up to which the members of a composite type are listed."""

UNCOUNTED = 1 << 62
"""The count of a type with as many values or more, and of networks."""


def value_count(declared: Type) -> int:
    """Return the number of values of a type, or `UNCOUNTED` if there are too many to count."""
    match declared:
        case BoolType():
            return 2
        case UnboundedInt():
            return UNCOUNTED
        case IntType(low, high):
            return high - low + 1
        case EnumType(cls) | IdentType(cls):
            return len(cls.members)
        case PairType(IdentType(cls)):
            return len(cls.members) * (len(cls.members) - 1) // 2
        case RecordType(cls):
            return _capped(sum(map(_shape_count, cls.shapes)))
        case UnionType(alternatives, optional):
            parts = parts_of(alternatives)
            counts = [_shape_count(part) if isinstance(part, RecordMeta) else value_count(part) for part in parts]
            return _capped(sum(counts) + optional)
        case SetType(element):
            return _power(2, value_count(element))
        case SeqType(element, capacity):
            return _sequence_count(value_count(element), capacity)
        case MapType(key, value, total):
            return _power(value_count(value) + (not total), value_count(key))
        case MessageSetType() | MessageBagType():
            return UNCOUNTED
        case _:
            assert_never(declared)


def _shape_count(shape: RecordMeta) -> int:
    return _capped(prod(map(value_count, shape.fields.values())))


def _capped(count: int) -> int:
    return min(count, UNCOUNTED)


def _power(base: int, exponent: int) -> int:
    return _capped(base**exponent) if base < 2 or exponent < UNCOUNTED.bit_length() else UNCOUNTED


def _sequence_count(elements: int, capacity: int) -> int:
    if elements < 2:
        return 1 + elements * capacity
    return sum(elements**length for length in range(capacity + 1)) if capacity < 62 else UNCOUNTED


def members(declared: Type) -> Sequence[Any]:
    """All values of a small type, in a fixed order; SpecError (KMC155) for a type with too many."""
    match declared:
        case BoolType():
            return (False, True)
        case IntType(low, high) if not isinstance(declared, UnboundedInt):
            return range(low, high + 1)
        case EnumType(cls) | IdentType(cls):
            return cls.members
    if isinstance(declared, UnboundedInt):
        advice = "write Int(least, greatest)"
        raise SpecError("KMC155", "the values of int cannot be listed: it has no bounds", help=advice)
    count = value_count(declared)
    if count > MEMBERS_MAX:
        many = f"{count:,} of them" if count < UNCOUNTED else "more than can be counted"
        raise SpecError(
            "KMC155",
            f"the members of {describe(declared)} cannot be listed: there are {many}",
            help=f"narrow the domain to {MEMBERS_MAX:,} values, or range over a part of them",
        )
    return _kept_members(declared, count)


def number_of(value: Any, declared: Type) -> int:
    """Return the place of a value among the members of its type."""
    if isinstance(declared, IntType):
        return int(value) - declared.low
    if isinstance(declared, EnumType | IdentType):
        index: int = value.index
        return index
    return _numbers(declared, value_count(declared))[value]


@lru_cache(maxsize=1024)
def _numbers(declared: Type, _: int) -> dict[Any, int]:
    """The number of each value; by the count too, since files that are loaded later may add shapes."""
    return {value: number for number, value in enumerate(members(declared))}


@lru_cache(maxsize=1024)
def _kept_members(declared: Type, _: int) -> tuple[Any, ...]:
    """The values of a composite type; by the count too, as `_numbers`."""
    return tuple(_listed(declared))


def _listed(declared: Type) -> Iterator[Any]:
    """The values of a composite type: the last field of a record, and the last element of a sequence, changes first."""
    match declared:
        case PairType(IdentType(cls)):
            yield from (frozenset(pair) for pair in combinations(cls.members, 2))
        case UnionType(alternatives, optional):
            yield from (None,) if optional else ()
            for part in parts_of(alternatives):
                yield from _instances(part) if isinstance(part, RecordMeta) else members(part)
        case RecordType(cls):
            for shape in cls.shapes:
                yield from _instances(shape)
        case SetType(element):
            items = members(element)
            for mask in range(1 << len(items)):
                yield frozenset(item for place, item in enumerate(items) if mask >> place & 1)
        case SeqType(element, capacity):
            for length in range(capacity + 1):
                yield from map(seq_literal, product(members(element), repeat=length))
        case MapType(key, value, total):
            keys, options = members(key), [(item,) for item in members(value)]
            for chosen in product([*([] if total else [()]), *options], repeat=len(keys)):
                yield MapValue({k: item for k, option in zip(keys, chosen, strict=True) for item in option})
        case _:
            yield from members(declared)


def _instances(shape: Any) -> Iterator[Any]:
    for values in product(*map(members, shape.fields.values())):
        yield shape(**dict(zip(shape.fields, values, strict=True)))


def describe(declared: Type) -> str:
    """A domain as an error describes it."""
    match declared:
        case BoolType():
            return "Bool"
        case UnboundedInt():
            return "int"
        case IntType(low, high):
            return f"{low}..{high}"
        case EnumType(cls) | IdentType(cls):
            return f"{cls.__name__} {_listing(cls.members)}"
        case PairType(IdentType(cls)):
            return f"Pair[{cls.__name__}]"
        case RecordType(cls):
            return cls.__name__
        case UnionType(alternatives, optional):
            return " | ".join([describe(alternative) for alternative in alternatives] + ["None"] * optional)
        case SetType(element):
            return f"Set[{describe(element)}]"
        case SeqType(element, capacity):
            return f"Seq[{describe(element)}, {capacity}]"
        case MapType(key, value, total):
            return f"{'Map' if total else 'PartialMap'}[{describe(key)}, {describe(value)}]"
        case MessageSetType(messages, capacity):
            return f"MessageSet[{' | '.join(map(describe, messages))}, {capacity}]"
        case MessageBagType(messages, capacity, count_max):
            return f"MessageBag[{' | '.join(map(describe, messages))}, {capacity}, {count_max}]"
        case _:
            assert_never(declared)


def _listing(symbols: Sequence[Any]) -> str:
    titles = [symbol.title for symbol in symbols[:_LISTED_MAX]]
    return "{" + ", ".join(titles + ["..."] * (len(symbols) > _LISTED_MAX)) + "}"
