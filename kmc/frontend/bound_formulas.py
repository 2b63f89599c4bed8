"""From a formula as written to one about the spec, in which each function is a predicate or an action.

Invariant: a bound formula is one that TLA+ allows. A predicate of a step is alone under `always` or `eventually` or in
a condition of fairness, never beside a temporal formula, and the operand of `enabled` is a step of some action.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any, assert_never

from kmc.actions.action import Action, Arguments, Fairness, instances_of
from kmc.errors import Span, SpecError, did_you_mean
from kmc.lang.domains import describe
from kmc.lang.showing import shown
from kmc.lang.tla import NIL
from kmc.liveness.formulas import (
    ActionSteps,
    Always,
    And,
    Enabled,
    Eventually,
    Fair,
    FairActions,
    ForAll,
    Formula,
    FunctionLeaf,
    Iff,
    Implies,
    LeadsTo,
    NextStep,
    Not,
    Or,
    StatePredicate,
    StepPredicate,
    ThereExists,
    Truth,
    parts_of,
    place_of,
    with_parts,
)


class FormulaLevel(IntEnum):
    """The level of a formula, as in TLA+: a higher level may contain a lower one."""

    CONSTANT = 0
    STATE = 1
    STEP = 2
    TEMPORAL = 3


class Actions:
    """The actions that formulas may name, with the numbers of their instances; those of Next come first."""

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = {action.title: action for action in actions}
        self._instances: dict[str, list[tuple[int, Arguments]]] = {action.title: [] for action in actions}
        for index, (action, arguments) in enumerate(instances_of(actions)):
            self._instances[action.title].append((index, arguments))
        self._of_next = [action for action in actions if action.in_next]

    def bound(self, formula: Formula, name: str, span: Span) -> Formula:
        """The formula that `name`, at `span`, returns, with all functions resolved; SpecError (KMC70x) if it has no
        meaning.
        """
        bound = self._bound(formula)
        if level_of(bound) is FormulaLevel.STEP:
            message = f"{name} is a predicate of a step"
            raise SpecError("KMC704", message, place_of(bound) or span, "write always(...) around it")
        return bound

    def next_steps(self) -> ActionSteps:
        """The steps of Next."""
        labels = (index for action in self._of_next for index, _ in self._instances[action.title])
        return ActionSteps(frozenset(labels), "Next", "Next")

    def declared_fairness(self) -> And:
        """WF or SF of each instance of the actions that are declared fair."""
        return And(
            tuple(
                Fair(action.fairness is Fairness.STRONG, self._instance(action, index, arguments), action.span)
                for action in self._actions.values()
                if action.fairness is not Fairness.NONE
                for index, arguments in self._instances[action.title]
            )
        )

    def _instance(self, action: Action, index: int, arguments: Arguments) -> ActionSteps:
        return ActionSteps(frozenset([index]), action.label(arguments), action.title)

    def _bound(self, formula: Formula) -> Formula:
        match formula:
            case FunctionLeaf():
                return self._leaf(formula)
            case NextStep():
                return self.next_steps()
            case FairActions():
                return self.declared_fairness()
            case _:
                return with_parts(formula, self._bound)

    def _leaf(self, written: FunctionLeaf) -> Formula:
        action = next((known for known in self._actions.values() if known.function is written.function), None)
        if action is not None:
            return self._steps(action, written)
        function = written.function
        if written.is_action:
            name = getattr(function, "__name__", "")
            advice = did_you_mean(name, [known.name for known in self._actions.values()])
            raise SpecError("KMC702", f"{shown(function)} is not an action", written.span, advice)
        if inspect.isgeneratorfunction(function):
            advice = "write @spec.action above it, with next=False if it is not part of Next"
            raise SpecError("KMC702", f"{shown(function)} yields, and is not an action", written.span, advice)
        count = len(inspect.signature(function).parameters)
        if count == 1:
            return StatePredicate(function, written.span)
        if count == 2:
            return StepPredicate(function, written.span)
        message = f"{shown(function)} takes neither a state nor a state and its successor"
        usage = "write lambda st: ..., or lambda st, new: ... for a step"
        raise SpecError("KMC708", message, written.span, usage)

    def _steps(self, action: Action, written: FunctionLeaf) -> ActionSteps:
        given = _given(action, written)
        chosen = [
            index
            for index, arguments in self._instances[action.title]
            if all(_same(arguments[position], value) for position, value in given.items())
        ]
        if not chosen:
            for position, value in given.items():
                parameter = action.parameters[position]
                if not any(_same(arguments[position], value) for _, arguments in self._instances[action.title]):
                    message = f"{action.title} is never taken with {parameter.name} = {shown(value)}"
                    advice = f"{parameter.name} is one of {describe(parameter.type)}"
                    raise SpecError("KMC703", message, written.span, advice)
        return ActionSteps(frozenset(chosen), _text(action, given), action.title, written.span)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _given(action: Action, written: FunctionLeaf) -> dict[int, Any]:
    """The given arguments of an action by the places of their parameters."""
    names = [parameter.name for parameter in action.parameters]
    usage = f"it is declared {action.name}({', '.join(names)}), apart from the state"
    if len(written.arguments) > len(names):
        message = f"{action.title} takes {len(names)} arguments, and {len(written.arguments)} are given"
        raise SpecError("KMC703", message, written.span, usage)
    given = dict(enumerate(written.arguments))
    for name, value in written.named:
        if name not in names or names.index(name) in given:
            twice = f"{action.title} is given '{name}' twice"
            message = twice if name in names else f"{action.title} has no parameter '{name}'"
            raise SpecError("KMC703", message, written.span, usage if name in names else did_you_mean(name, names))
        given[names.index(name)] = value
    return given


def _text(action: Action, given: dict[int, Any]) -> str:
    """`Send(n1, n2)`, or `\\E q: Send(n1, q)` where q is not given."""
    if not action.parameters:
        return action.title
    free = [parameter.name for position, parameter in enumerate(action.parameters) if position not in given]
    shown_arguments = [
        parameter.name if position not in given else NIL if given[position] is None else str(given[position])
        for position, parameter in enumerate(action.parameters)
    ]
    prefix = f"\\E {', '.join(free)}: " if free else ""
    return f"{prefix}{action.title}({', '.join(shown_arguments)})"


def level_of(formula: Formula) -> FormulaLevel:
    """The level of a bound formula; SpecError (KMC704, KMC705) where TLA+ has no such formula."""
    match formula:
        case Truth():
            return FormulaLevel.CONSTANT
        case StatePredicate():
            return FormulaLevel.STATE
        case StepPredicate() | ActionSteps():
            return FormulaLevel.STEP
        case Enabled(steps) | Fair(steps=steps):
            _check_steps(steps, formula)
            return FormulaLevel.STATE if isinstance(formula, Enabled) else FormulaLevel.TEMPORAL
        case Always(part) | Eventually(part):
            level_of(part)
            return FormulaLevel.TEMPORAL
        case LeadsTo(premise, goal):
            for part in (premise, goal):
                if level_of(part) is FormulaLevel.STEP:
                    advice = "name the states from which or to which it leads, or write eventually(...) of the step"
                    raise SpecError("KMC704", "leads_to is about states, and this is a step", place_of(part), advice)
            return FormulaLevel.TEMPORAL
        case Not() | And() | Or() | Implies() | Iff() | ForAll() | ThereExists():
            return _highest(parts_of(formula))
        case FunctionLeaf() | NextStep() | FairActions():
            raise AssertionError("a formula is bound before its level is asked for")
        case _:
            assert_never(formula)


def _highest(parts: Iterable[Formula]) -> FormulaLevel:
    levels = [(level_of(part), part) for part in parts]
    level = max((level for level, _ in levels), default=FormulaLevel.CONSTANT)
    if level is FormulaLevel.TEMPORAL:
        for own, part in levels:
            if own is FormulaLevel.STEP:
                advice = "write always(...) or eventually(...) around the step"
                raise SpecError("KMC704", "a step stands beside a temporal formula", place_of(part), advice)
    return level


def _check_steps(steps: Formula, around: Formula) -> None:
    what = "ENABLED" if isinstance(around, Enabled) else "fairness"
    if level_of(steps) is FormulaLevel.TEMPORAL:
        raise SpecError("KMC704", f"{what} is about steps, and this is a temporal formula", place_of(around),
                        "name an action, or a predicate of a step")  # fmt: skip
    if not _is_of_actions(steps) and getattr(around, "enabled", None) is None:
        advice = "write and_(NEXT, ...) around it, or name the actions whose steps are meant"
        raise SpecError("KMC705", f"{what} of steps that no action bounds", place_of(around), advice)


def _is_of_actions(steps: Formula) -> bool:
    """Whether each of these steps is one of an action, which finds them."""
    match steps:
        case ActionSteps():
            return True
        case Truth(value):
            return not value
        case And(parts):
            return any(map(_is_of_actions, parts))
        case Or(parts):
            return all(map(_is_of_actions, parts))
        case ForAll(cases=cases):
            return any(_is_of_actions(part) for _, part in cases)
        case ThereExists(cases=cases):
            return all(_is_of_actions(part) for _, part in cases)
        case _:
            return False
