"""The verdicts on one state, and on the step to it, property by property.

Invariant: a verdict is the interpreter's (`holds`). A property whose evaluation fails has no truth value and shows its
error; the others are judged all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kmc.errors import KmcError, Span
from kmc.frontend.model import Model
from kmc.invariants.kinds import KINDS, PropertyKind, Role
from kmc.invariants.properties import Predicate, holds, is_stuttering


class JudgedOutcome(Enum):
    """The verdict of a property on a state or a step."""

    HOLDS = "holds"
    FAILS = "fails"
    REACHED = "reached"
    NOT_REACHED = "not reached here"
    INSIDE = "inside"
    OUTSIDE = "outside: not explored further"
    ERROR = "error"
    NOT_A_STEP = "says nothing of a step that changes nothing"
    OF_BEHAVIOURS = "speaks of whole behaviours, not of a state"


_OUTCOMES = {
    Role.CHECKED: (JudgedOutcome.FAILS, JudgedOutcome.HOLDS),
    Role.WITNESSED: (JudgedOutcome.NOT_REACHED, JudgedOutcome.REACHED),
    Role.BOUNDING: (JudgedOutcome.OUTSIDE, JudgedOutcome.INSIDE),
}


@dataclass(frozen=True, slots=True)
class JudgedProperty:
    """One property with its outcome; `kind` is its noun, `error` is why it has no truth value."""

    name: str
    kind: str
    outcome: JudgedOutcome
    doc: str
    place: Span
    error: KmcError | None = None


def judged(model: Model, before: Any | None, state: Any) -> Iterator[JudgedProperty]:
    """Each property of the model in `state`, and those of steps on the step from `before`, where there is one."""
    for kind in KINDS:
        for prop in model.of(kind):
            if kind.states == 1:
                yield _judged(model, kind, prop, (state,))
            elif before is not None:
                yield _judged(model, kind, prop, (before, state))
    for formula in model.temporal:
        yield JudgedProperty(formula.name, "temporal property", JudgedOutcome.OF_BEHAVIOURS, formula.doc, formula.span)


def _judged(model: Model, kind: PropertyKind, prop: Predicate, states: tuple[Any, ...]) -> JudgedProperty:
    error = None
    if kind.role is Role.CHECKED and len(states) == 2 and is_stuttering(*states):
        outcome = JudgedOutcome.NOT_A_STEP
    else:
        try:
            outcome = _OUTCOMES[kind.role][holds(prop, model.spec.files, *states)]
        except KmcError as failure:
            outcome, error = JudgedOutcome.ERROR, failure
    return JudgedProperty(prop.name, kind.noun, outcome, prop.doc, prop.span, error)


def failing(verdicts: Iterable[JudgedProperty]) -> tuple[str, ...]:
    """Return the invariants and action properties that fail, or have no truth value."""
    wrong = (JudgedOutcome.FAILS, JudgedOutcome.ERROR)
    return tuple(verdict.name for verdict in verdicts if verdict.outcome in wrong)


def is_outside(verdicts: Iterable[JudgedProperty]) -> bool:
    """Return whether a constraint, of the state or of the step to it, keeps a search from going on there."""
    return any(verdict.outcome is JudgedOutcome.OUTSIDE for verdict in verdicts)


def is_inside(model: Model, before: Any | None, state: Any) -> bool:
    """Return whether all constraints of a model are true; one that has no truth value is not."""
    files = model.spec.files
    try:
        return all(holds(one, files, state) for one in model.predicates(Role.BOUNDING, 1)) and (
            before is None or all(holds(one, files, before, state) for one in model.predicates(Role.BOUNDING, 2))
        )
    except KmcError:
        return False
