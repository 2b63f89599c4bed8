"""A refutation in the names that views use: `s = s1` for TLC's `s = 1`, and predicates without what everybody knows.

The engines name identifiers as TLC does, where a spawned server is a number, and a predicate by its source. Here the
same property is read again, and only texts change: the instance, why it is false, and the conditions of fairness.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kmc.actions.action import Action, Arguments, instances_of
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import instance_names, problem_of
from kmc.lang.records import State
from kmc.lang.tla import encode
from kmc.lang.tree import lambda_of
from kmc.liveness.formula_text import lambda_text, text_of
from kmc.liveness.formulas import (
    ActionSteps,
    Formula,
    StatePredicate,
    StepPredicate,
    TemporalProperty,
    with_parts,
)
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.liveness.problem import TemporalProblem
from kmc.liveness.refutation_text import why_false
from kmc.reference.temporal.lasso_replay import generated_steps
from kmc.result import Refutation, Violation
from kmc.story.explain.awaited import what_would_help
from kmc.story.explain.follow import FAILURES
from kmc.story.explain.functions import scope_of
from kmc.story.explain.scopes import Binding, Label, Wording
from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import table_for_people


def for_people(model: Model, violation: Violation) -> Violation:
    """The violation with names for people in its refutation; as it is where the property cannot be read again."""
    prop, refutation = model.spec.properties.get(violation.name or ""), violation.refutation
    if refutation is None or not isinstance(prop, TemporalProperty):
        return violation
    try:
        own = replace(model, temporal=(prop,))
        problem = problem_of(own)
        index = [check.instance for check in problem.checks].index(refutation.instance)
        names = _Names(model, violation.trace.steps[-1].state)
        shown = replace(
            refutation,
            instance=list(instance_names(own, prop, names.value))[index],
            why=_why(model, violation, names.renamed(problem.formulas[index])) if refutation.why else "",
        )
    except (*FAILURES, KmcError):
        return violation
    return replace(violation, refutation=_with_fairness(shown, problem, names))


def _why(model: Model, violation: Violation, formula: Formula) -> str:
    return why_false(_behaviour(model, violation), formula)


def _behaviour(model: Model, violation: Violation) -> EndlessBehaviour:
    states = [step.state for step in violation.trace.steps]
    cycle = violation.refutation.cycle if violation.refutation is not None else None
    if cycle is None:
        return EndlessBehaviour(states, len(states) - 1, generated_steps(model))
    # Its states are images under the abstractions of the model, if that has any.
    return EndlessBehaviour(states, cycle.back_to - 1, generated_steps(model.searched))


def missing_action(model: Model, violation: Violation) -> str:
    """The action that would have kept a lasso from refuting its property, in sentences; empty if that is not known."""
    prop, refutation = model.spec.properties.get(violation.name or ""), violation.refutation
    if refutation is None or refutation.cycle is None or not isinstance(prop, TemporalProperty):
        return ""
    try:
        problem = problem_of(replace(model, temporal=(prop,)))
        index = [check.instance for check in problem.checks].index(refutation.instance)
        return what_would_help(model, violation, problem.formulas[index], _behaviour(model, violation))
    except (*FAILURES, KmcError):
        return ""


def _with_fairness(refutation: Refutation, problem: TemporalProblem, names: _Names) -> Refutation:
    cycle = refutation.cycle
    if cycle is None or len(cycle.fairness) != len(problem.assumed):
        return refutation
    met = tuple(
        replace(one, name=text_of(names.renamed(assumed)))
        for one, assumed in zip(cycle.fairness, problem.assumed, strict=True)
    )
    return replace(refutation, cycle=replace(cycle, fairness=met))


class _Predicate:
    """A predicate of a state, or of a step, whose name is its text for people."""

    def __init__(self, text: str, function: Any) -> None:
        self.__name__ = text
        self._function = function

    def __call__(self, *states: State) -> Any:
        return self._function(*states)


class _Names:
    """The names for people in formulas of a model; `state` is any state of it."""

    def __init__(self, model: Model, state: State) -> None:
        spec = model.spec
        self._instances: list[tuple[Action, Arguments]] = instances_of((*spec.actions, *spec.other_actions))
        self._naming = table_for_people(spec).naming
        self._wording = Wording(spec)
        self._state = state

    def value(self, value: Any) -> str:
        """A member of a domain."""
        return in_words(encode(value, self._naming))

    def renamed(self, formula: Formula) -> Formula:
        """The formula, with the same meaning, whose text has the names for people."""
        match formula:
            case StatePredicate(function):
                return replace(formula, function=_Predicate(self._predicate(function), function))
            case StepPredicate(function):
                written = lambda_text(function, self.value) or str(function.__name__)
                return replace(formula, function=_Predicate(written, function))
            case ActionSteps():
                return replace(formula, text=self._steps(formula))
            case _:
                return with_parts(formula, self.renamed)

    def _predicate(self, function: Any) -> str:
        written = lambda_of(function)
        if written is None or len(written.args.args) != 1:
            return str(function.__name__)
        bound = {written.args.args[0].arg: Binding(self._state, Label())}
        return self._wording.text(written.body, scope_of(function, bound, self._wording))

    def _steps(self, steps: ActionSteps) -> str:
        """`Send(s1, s2)`, or `\\E q: Send(s1, q)` for the steps with every q."""
        prefix, _, call = steps.text.rpartition(": ")
        if "(" not in call or not steps.labels:
            return steps.text
        free = [name.strip() for name in prefix.removeprefix("\\E ").split(",")]
        return f"{prefix}: " * bool(prefix) + f"{steps.group}({', '.join(self._arguments(min(steps.labels), free))})"

    def _arguments(self, label: int, free: list[str]) -> Iterator[str]:
        action, arguments = self._instances[label]
        for parameter, value in zip(action.parameters, arguments, strict=True):
            yield parameter.name if parameter.name in free else self.value(value)
