"""Tests of fields, as conditions of a spec make them: `me.state == LEADER` leaves one value of `me.state`.

Facts say which values a field of a record can have at a place of the text. The record is named by its expression, in
which local names are replaced by what they stand for, so `me.state` and `st.servers[i].state` are one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kmc.lang.types import BoolType, EnumType, RecordMeta, Type, UnionType

Values: TypeAlias = frozenset[Any]
Facts: TypeAlias = Mapping[tuple[str, str], Values]
"""The values that are left of a field, by the text of its record and its name."""

SOME = "some value"
"""Any value but None, of a field whose values are not listed."""


@dataclass(frozen=True, slots=True)
class Tested:
    """The facts that a condition adds where it holds and where it fails; `truth` if it always does one of them."""

    holding: Facts
    failing: Facts
    truth: bool | None = None


NO_FACTS: Facts = {}
UNTESTED = Tested(NO_FACTS, NO_FACTS)


def domain_of(declared: Type) -> Values | None:
    """The values of a field that tests can tell apart; None for a type with too many."""
    if isinstance(declared, EnumType):
        return frozenset(declared.cls.members)
    if isinstance(declared, BoolType):
        return frozenset({False, True})
    if isinstance(declared, UnionType) and declared.optional:
        inner = declared.alternatives
        if len(inner) == 1 and isinstance(inner[0], EnumType):
            return frozenset({None, *inner[0].cls.members})
        return frozenset({None, SOME})
    return None


def domains(classes: Iterable[RecordMeta]) -> dict[str, Values]:
    """The domains of fields by name; a name that records declare with different domains has none."""
    known: dict[str, set[Values | None]] = {}
    for cls in classes:
        for name, declared in cls.fields.items():
            known.setdefault(name, set()).add(domain_of(declared))
    return {name: only for name, found in known.items() if len(found) == 1 and (only := next(iter(found))) is not None}


def both(first: Facts, second: Facts) -> Facts:
    """The facts where both hold."""
    if not first or not second:
        return first or second
    joined = dict(first)
    for key, values in second.items():
        joined[key] = joined[key] & values if key in joined else values
    return joined


def either(first: Facts, second: Facts) -> Facts:
    """The facts where one of the two holds."""
    return {key: values | second[key] for key, values in first.items() if key in second}


def compared(operator: ast.cmpop, key: tuple[str, str], domain: Values, values: Iterable[Any]) -> Tested:
    """The facts of a comparison of a field with constants: `==` with one of them, `in` with several."""
    inside = frozenset(value if value in domain else SOME for value in values) & domain
    # A field that differs from one value of those that are not listed may have another one of them.
    equal, different = {key: inside}, {key: domain - (inside - {SOME})}
    match operator:
        case ast.Eq() | ast.Is() | ast.In():
            return Tested(equal, different)
        case ast.NotEq() | ast.IsNot() | ast.NotIn():
            return Tested(different, equal)
        case _:
            return UNTESTED
