"""Domains: the members of a type, if they can be listed, and the description of every type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, assert_never

from kmc.errors import SpecError
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)

_LISTED_MAX = 8


def members(declared: Type) -> Sequence[Any]:
    """All values of a small type, in a fixed order; SpecError for a type that is not listed (records, sequences...)."""
    match declared:
        case BoolType():
            return (False, True)
        case IntType(low, high):
            return range(low, high + 1)
        case EnumType(cls) | IdentType(cls):
            return cls.members
        case PairType(IdentType(cls)):
            return tuple(frozenset(pair) for pair in combinations(cls.members, 2))
        case UnionType(alternatives, optional):
            listed = tuple(value for alternative in alternatives for value in members(alternative))
            return (None, *listed) if optional else listed
        case _:
            raise SpecError(
                "KMC155",
                f"the members of {describe(declared)} cannot be listed",
                help="range over identifiers, pairs, enums, Bool or Int",
            )


def describe(declared: Type) -> str:
    """A domain as an error describes it."""
    match declared:
        case BoolType():
            return "Bool"
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
