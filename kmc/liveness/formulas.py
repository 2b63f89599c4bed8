"""Temporal formulas over state predicates: `always_eventually` and `leads_to`, for one value or `for_all`.

A model that names a temporal property is told that it was not checked, and its run is not called complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from kmc.errors import Span
from kmc.lang.order import ordered

StatePredicate: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class AlwaysEventually:
    """[]<>goal: the goal holds infinitely often."""

    goal: StatePredicate


@dataclass(frozen=True, slots=True)
class LeadsTo:
    """premise ~> goal: whenever the premise holds, the goal holds then or later."""

    premise: StatePredicate
    goal: StatePredicate


Formula: TypeAlias = AlwaysEventually | LeadsTo


@dataclass(frozen=True, slots=True)
class TemporalProperty:
    """A named conjunction of formulas; `formulas` is called once per model."""

    name: str
    formulas: Callable[[], Formula | tuple[Formula, ...]]
    span: Span
    doc: str


def always_eventually(goal: StatePredicate) -> AlwaysEventually:
    """[]<>goal."""
    return AlwaysEventually(goal)


def leads_to(premise: StatePredicate, goal: StatePredicate) -> LeadsTo:
    """premise ~> goal."""
    return LeadsTo(premise, goal)


def for_all(values: Iterable[Any], formula: Callable[[Any], Formula | tuple[Formula, ...]]) -> tuple[Formula, ...]:
    """\\A x \\in values : formula(x), one formula per value, in display order."""
    found = [formula(value) for value in ordered(values)]
    return tuple(part for formulas in found for part in (formulas if isinstance(formulas, tuple) else (formulas,)))
