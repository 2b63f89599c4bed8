"""The meaning of temporal formulas on one behaviour, by the definitions of TLA+.

Invariant: nothing here knows sets, queries or graphs. A counterexample is shown only after the formula is false of it
and the fairness true of it by these definitions, so they must not share a mistake with the search.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kmc.lang.guards import truth
from kmc.liveness.formulas import (
    ActionSteps,
    Always,
    And,
    Enabled,
    Eventually,
    Fair,
    ForAll,
    Formula,
    Iff,
    Implies,
    LeadsTo,
    Not,
    Or,
    StatePredicate,
    StepPredicate,
    ThereExists,
    Truth,
    parts_of,
)

GeneratedSteps: TypeAlias = Callable[[Any], Mapping[Any, Collection[int]]]
"""The successors of a state, before constraints, each with the numbers of all action instances that lead to it."""


@dataclass(frozen=True, slots=True)
class EndlessBehaviour:
    """The states `states`, and those from position `loop` on again and again; the last alone repeats by stuttering."""

    states: Sequence[Any]
    loop: int
    generated: GeneratedSteps
    _known: dict[tuple[int, int], tuple[Formula, bool]] = field(default_factory=dict, repr=False)
    _successors: dict[int, Mapping[Any, Collection[int]]] = field(default_factory=dict, repr=False)

    def satisfies(self, formula: Formula, position: int = 0) -> bool:
        """Whether a bound temporal formula is true of the behaviour from a position on."""
        key = id(formula), position
        if key not in self._known:
            # With the formula, since the id of one that is dropped may be given to another.
            self._known[key] = formula, self._satisfies(formula, position)
        return self._known[key][1]

    def _satisfies(self, formula: Formula, position: int) -> bool:
        match formula:
            case Not(part):
                return not self.satisfies(part, position)
            case And() | ForAll():
                return all(self.satisfies(part, position) for part in parts_of(formula))
            case Or() | ThereExists():
                return any(self.satisfies(part, position) for part in parts_of(formula))
            case Implies(premise, conclusion):
                return not self.satisfies(premise, position) or self.satisfies(conclusion, position)
            case Iff(left, right):
                return self.satisfies(left, position) == self.satisfies(right, position)
            case Always(part):
                if _speaks_of_a_step(part):
                    return all(self.takes(part, at) for at in self._from(position) if self.changes(at))
                return all(self.satisfies(part, at) for at in self._from(position))
            case Eventually(part):
                if _speaks_of_a_step(part):
                    return any(self.takes(part, at) for at in self._from(position) if self.changes(at))
                return any(self.satisfies(part, at) for at in self._from(position))
            case LeadsTo(premise, goal):
                return all(
                    any(self.satisfies(goal, later) for later in self._from(at))
                    for at in self._from(position)
                    if self.satisfies(premise, at)
                )
            case Fair(strong, steps):
                cycle = range(self.loop, len(self.states))
                enabled = [self._enables(formula, at) for at in cycle]
                taken = any(self.takes(steps, at) for at in cycle if self.changes(at))
                return taken or not (any(enabled) if strong else all(enabled))
            case _:
                return self._is_true(formula, position, None)

    def _from(self, position: int) -> Iterable[int]:
        """The positions that are then or later; in the cycle, all of it."""
        return range(min(position, self.loop), len(self.states))

    def _next(self, position: int) -> Any:
        last = position + 1 == len(self.states)
        return self.states[self.loop if last else position + 1]

    def changes(self, position: int) -> bool:
        """Whether the step from a position changes anything."""
        return bool(self.states[position] != self._next(position))

    def takes(self, steps: Formula, position: int) -> bool:
        """Whether the step from a position is one of `steps`."""
        return self._is_true(steps, position, self._next(position))

    def _generated(self, position: int) -> Mapping[Any, Collection[int]]:
        if position not in self._successors:
            self._successors[position] = self.generated(self.states[position])
        return self._successors[position]

    def _enables(self, fair: Fair, position: int) -> bool:
        """ENABLED <<steps>>_vars, of the steps of a condition of fairness."""
        if fair.enabled is not None:
            return self._is_true(fair.enabled, position, None)
        state, steps = self.states[position], fair.steps
        return any(self._is_true(steps, position, other) for other in self._generated(position) if other != state)

    def _is_true(self, formula: Formula, position: int, successor: Any) -> bool:
        """Whether a predicate of the state at a position, or of a step from it, is true."""
        match formula:
            case Truth(value):
                return value
            case StatePredicate(function):
                return truth(function(self.states[position]))
            case StepPredicate(function):
                return truth(function(self.states[position], successor))
            case ActionSteps(labels):
                return not labels.isdisjoint(self._generated(position).get(successor, ()))
            case Enabled(steps):
                return any(self._is_true(steps, position, other) for other in self._generated(position))
            case Not(part):
                return not self._is_true(part, position, successor)
            case And() | ForAll():
                return all(self._is_true(part, position, successor) for part in parts_of(formula))
            case Or() | ThereExists():
                return any(self._is_true(part, position, successor) for part in parts_of(formula))
            case Implies(premise, conclusion):
                return not self._is_true(premise, position, successor) or self._is_true(conclusion, position, successor)
            case Iff(left, right):
                return self._is_true(left, position, successor) == self._is_true(right, position, successor)
            case _:
                raise AssertionError(f"not a predicate: {formula}")


def _speaks_of_a_step(formula: Formula) -> bool:
    """Whether a predicate is one of steps; `enabled` of a predicate of steps is about a state."""
    match formula:
        case StepPredicate() | ActionSteps():
            return True
        case Always() | Eventually() | LeadsTo() | Fair() | Enabled():
            return False
        case _:
            return any(map(_speaks_of_a_step, parts_of(formula)))
