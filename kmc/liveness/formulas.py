"""Temporal formulas as trees: made by `kmc.liveness.vocabulary`, and read by everything else.

As in TLA+, one set of connectives serves three levels: predicates of a state, predicates of a step (TLA+'s actions),
and temporal formulas. `always` and `eventually` of a predicate of a step mean [][A]_vars and <><<A>>_vars, the only
forms that TLA+ allows.

A formula as an author writes it has leaves of class `FunctionLeaf`. `kmc.frontend.bound_formulas` replaces each by a
leaf of the right kind: a predicate of a state or of a step, or the steps of an action. Only bound formulas have a
meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, assert_never, final

from kmc.errors import Span


@final
@dataclass(frozen=True, slots=True)
class FunctionLeaf:
    """A function of the author: a predicate, or an action with `arguments` for its first parameters.

    `named` gives further parameters by name; the parameters that are left range over all their values. `is_action`
    says that only an action will do.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()
    is_action: bool = False
    span: Span | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class NextStep:
    """Next: the steps of all actions of the next-state relation, as written."""


@final
@dataclass(frozen=True, slots=True)
class FairActions:
    """The fairness that actions are declared with, `fair=WEAK` or `fair=STRONG`, of each of their instances."""


@final
@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE, such as a condition on constants."""

    value: bool


@final
@dataclass(frozen=True, slots=True)
class StatePredicate:
    """A Bool function of a state."""

    function: Callable[[Any], bool]
    span: Span | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class StepPredicate:
    """A Bool function of a state and its successor.

    For people: `subscript` is the v of the [A]_v or <<A>>_v that the function means, `group` the name of the action.
    """

    function: Callable[[Any, Any], bool]
    span: Span | None = field(default=None, compare=False)
    subscript: str = "vars"
    group: str = ""


@final
@dataclass(frozen=True, slots=True)
class ActionSteps:
    """The steps of some instances of an action, or of Next, by their numbers (`kmc.actions.action.instances_of`).

    `text` is what TLA+ would say, `BecomeLeader(n1)`; `group` the name of the action.
    """

    labels: frozenset[int]
    text: str
    group: str
    span: Span | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Enabled:
    """ENABLED: some step of `steps` is possible in the state, even one that changes nothing."""

    steps: Formula
    span: Span | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Not:
    """~part."""

    part: Formula


@final
@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of `parts`; TRUE without any."""

    parts: tuple[Formula, ...]


@final
@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of `parts`; FALSE without any."""

    parts: tuple[Formula, ...]


@final
@dataclass(frozen=True, slots=True)
class Implies:
    """premise => conclusion."""

    premise: Formula
    conclusion: Formula


@final
@dataclass(frozen=True, slots=True)
class Iff:
    """left <=> right."""

    left: Formula
    right: Formula


@final
@dataclass(frozen=True, slots=True)
class Always:
    """[]part."""

    part: Formula
    span: Span | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Eventually:
    """<>part."""

    part: Formula
    span: Span | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class LeadsTo:
    """premise ~> goal: at every time, if the premise holds, then the goal holds then or later."""

    premise: Formula
    goal: Formula
    span: Span | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Fair:
    """WF_vars(steps) or SF_vars(steps): of the steps that change a variable.

    `enabled` is ENABLED <<steps>>_vars as a predicate of states, where the steps need not be steps of Next. Without it,
    a state enables the steps if one of them leads from it.
    """

    strong: bool
    steps: Formula
    span: Span | None = field(default=None, compare=False)
    enabled: Formula | None = None


@final
@dataclass(frozen=True, slots=True)
class ForAll:
    """\\A variable \\in ...: one case per value; TRUE without any."""

    variable: str
    cases: tuple[tuple[Any, Formula], ...]


@final
@dataclass(frozen=True, slots=True)
class ThereExists:
    """\\E variable \\in ...: one case per value; FALSE without any."""

    variable: str
    cases: tuple[tuple[Any, Formula], ...]


Leaf: TypeAlias = FunctionLeaf | NextStep | FairActions | Truth | StatePredicate | StepPredicate | ActionSteps
Formula: TypeAlias = (
    Leaf | Enabled | Not | And | Or | Implies | Iff | Always | Eventually | LeadsTo | Fair | ForAll | ThereExists
)

NODES = (
    FunctionLeaf, NextStep, FairActions, Truth, StatePredicate, StepPredicate, ActionSteps, Enabled, Not, And, Or,
    Implies, Iff, Always, Eventually, LeadsTo, Fair, ForAll, ThereExists,
)  # fmt: skip
"""The classes of `Formula`."""


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """The formulas directly inside a formula."""
    match formula:
        case Enabled(steps) | Fair(steps=steps):
            return (steps,)
        case Not(part) | Always(part) | Eventually(part):
            return (part,)
        case And(parts) | Or(parts):
            return parts
        case Implies(first, second) | Iff(first, second) | LeadsTo(first, second):
            return (first, second)
        case ForAll(cases=cases) | ThereExists(cases=cases):
            return tuple(part for _, part in cases)
        case _:
            return ()


def with_parts(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """The same formula with each formula directly inside it changed; formulas without `parts_of` stay."""
    match formula:
        case Enabled(steps) | Fair(steps=steps):
            return replace(formula, steps=change(steps))
        case Not(part) | Always(part) | Eventually(part):
            return replace(formula, part=change(part))
        case And(parts) | Or(parts):
            return replace(formula, parts=tuple(map(change, parts)))
        case Implies(premise, conclusion):
            return Implies(change(premise), change(conclusion))
        case Iff(left, right):
            return Iff(change(left), change(right))
        case LeadsTo(premise, goal):
            return replace(formula, premise=change(premise), goal=change(goal))
        case ForAll(cases=cases) | ThereExists(cases=cases):
            return replace(formula, cases=tuple((value, change(part)) for value, part in cases))
        case FunctionLeaf() | NextStep() | FairActions() | Truth() | StatePredicate() | StepPredicate() | ActionSteps():
            return formula
        case _:
            assert_never(formula)


def place_of(formula: Formula) -> Span | None:
    """The span of a formula: its own, or that of the first formula in it that has one."""
    own: Span | None = getattr(formula, "span", None)
    if own is not None:
        return own
    return next((span for part in parts_of(formula) if (span := place_of(part)) is not None), None)


def constant_truth(formula: Formula) -> bool | None:
    """The truth that constants alone give a bound formula, such as one about an empty set; None if they do not."""
    truths = [constant_truth(part) for part in parts_of(formula)]
    match formula:
        case Truth(value):
            return value
        case Always() | Eventually():
            return truths[0]
        case Not():
            return None if truths[0] is None else not truths[0]
        case And() | ForAll():
            return False if False in truths else None if None in truths else True
        case Or() | ThereExists():
            return True if True in truths else None if None in truths else False
        case Implies() | LeadsTo():
            if truths[0] is False or truths[1] is True:
                return True
            return False if truths == [True, False] else None
        case Iff():
            return None if None in truths else truths[0] == truths[1]
        case _:
            return None


@dataclass(frozen=True, slots=True)
class TemporalProperty:
    """A named formula; `formula` is called once per model."""

    name: str
    formula: Callable[[], Formula]
    span: Span
    doc: str


@dataclass(frozen=True, slots=True)
class Specification:
    """A named specification: Init /\\ [][Next]_vars, and the conditions of fairness that `fairness` returns."""

    name: str
    fairness: Callable[[], Formula]
    span: Span
    doc: str
