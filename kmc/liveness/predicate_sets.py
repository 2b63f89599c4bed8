"""From predicates of states and steps to sets, with each function of the author numbered once.

Two functions are one atom if they have the same code, wherever it is written, and the same values of the names around
them: the lambdas that two properties make for the same server are evaluated once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from types import FunctionType
from typing import Any

from kmc.liveness.formulas import (
    ActionSteps,
    And,
    Enabled,
    Fair,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    StatePredicate,
    StepPredicate,
    ThereExists,
    Truth,
    parts_of,
)
from kmc.liveness.lasso_queries import (
    NO_STATES,
    NO_STEPS,
    AllStates,
    AllSteps,
    AtomHolds,
    Changing,
    HasStep,
    Labelled,
    StateSet,
    StepAtomHolds,
    StepSet,
)
from kmc.liveness.set_algebra import (
    and_states,
    and_steps,
    from_states,
    not_states,
    not_steps,
    or_states,
    or_steps,
)


class NumberedPredicates:
    """The author's predicates by number, in the order in which they were met."""

    def __init__(self) -> None:
        self._of_states: dict[Hashable, tuple[int, Callable[[Any], bool]]] = {}
        self._of_steps: dict[Hashable, tuple[int, Callable[[Any, Any], bool]]] = {}

    @property
    def of_states(self) -> tuple[Callable[[Any], bool], ...]:
        """The predicates of states."""
        return tuple(function for _, function in self._of_states.values())

    @property
    def of_steps(self) -> tuple[Callable[[Any, Any], bool], ...]:
        """The predicates of steps."""
        return tuple(function for _, function in self._of_steps.values())

    def states(self, formula: Formula) -> StateSet:
        """The states in which a bound predicate of states is true."""
        match formula:
            case Truth(value):
                return AllStates() if value else NO_STATES
            case StatePredicate(function):
                known = self._of_states
                return AtomHolds(known.setdefault(_identity(function), (len(known), function))[0])
            case Enabled(steps):
                step_set = self.steps(steps)
                return NO_STATES if step_set == NO_STEPS else HasStep(step_set)
            case Not(part):
                return not_states(self.states(part))
            case And() | ForAll():
                return and_states(map(self.states, parts_of(formula)))
            case Or() | ThereExists():
                return or_states(map(self.states, parts_of(formula)))
            case Implies(premise, conclusion):
                return or_states([not_states(self.states(premise)), self.states(conclusion)])
            case Iff(left, right):
                one, other = self.states(left), self.states(right)
                return or_states([and_states([one, other]), and_states([not_states(one), not_states(other)])])
            case _:
                raise AssertionError(f"not a predicate of states: {formula}")

    def steps(self, formula: Formula) -> StepSet:
        """The steps for which a bound predicate of states or of steps is true."""
        match formula:
            case Truth(value):
                return AllSteps() if value else NO_STEPS
            case StatePredicate() | Enabled():
                return from_states(self.states(formula))
            case StepPredicate(function):
                known = self._of_steps
                return StepAtomHolds(known.setdefault(_identity(function), (len(known), function))[0])
            case ActionSteps(labels):
                return Labelled(labels) if labels else NO_STEPS
            case Not(part):
                return not_steps(self.steps(part))
            case And() | ForAll():
                return and_steps(map(self.steps, parts_of(formula)))
            case Or() | ThereExists():
                return or_steps(map(self.steps, parts_of(formula)))
            case Implies(premise, conclusion):
                return or_steps([not_steps(self.steps(premise)), self.steps(conclusion)])
            case Iff(left, right):
                one, other = self.steps(left), self.steps(right)
                return or_steps([and_steps([one, other]), and_steps([not_steps(one), not_steps(other)])])
            case _:
                raise AssertionError(f"not a predicate of steps: {formula}")

    def changing(self, formula: Formula) -> StepSet:
        """<<A>>_vars: those of its steps that change a variable."""
        return and_steps([self.steps(formula), Changing()])

    def enabled(self, fair: Fair) -> StateSet:
        """ENABLED <<A>>_vars, where A are the steps of a condition of fairness."""
        return HasStep(self.changing(fair.steps)) if fair.enabled is None else self.states(fair.enabled)


def _identity(function: Callable[..., Any]) -> Hashable:
    """Equal for functions that are the same in every state."""
    if not isinstance(function, FunctionType) or function.__defaults__ or function.__kwdefaults__:
        return function
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    code = function.__code__
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    key = (code.co_code, _typed(code.co_consts), names, id(function.__globals__), _typed(values))
    try:
        hash(key)
    except TypeError:
        return function
    return key


def _typed(values: Iterable[Any]) -> tuple[Hashable, ...]:
    """Values with their types, since True == 1."""
    return tuple((type(value), value) for value in values)
