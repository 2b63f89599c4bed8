"""The values that refute a temporal property: those that make its predicates false in the last state of a lasso."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.lang.records import State
from kmc.lang.tree import lambda_of
from kmc.liveness.formulas import Formula, FunctionLeaf, StatePredicate, TemporalProperty, parts_of
from kmc.liveness.refutation_lines import refutation_sentence, refuted_property
from kmc.result import Violation
from kmc.story.explain.facts import Fact, clauses_of, compared_values, reproduced, with_local_names
from kmc.story.explain.follow import Follower
from kmc.story.explain.functions import scope_of, source_of
from kmc.story.explain.obstacles import attempt
from kmc.story.explain.refutation import for_people
from kmc.story.explain.scopes import Binding, Label, Wording
from kmc.story.parts.story import Why

_VALUES_MAX = 12


def why_refuted(model: Model, prop: TemporalProperty, violation: Violation, why: Why) -> Why:
    """Explain why a behaviour refutes a temporal property; the values are those of its last state."""
    assert violation.refutation is not None, "the violation of a temporal property"
    facts = attempt(lambda: list(_facts(model, prop, violation))) or []
    shown = for_people(model, violation)
    instance = shown.refutation.instance if shown.refutation is not None else ""
    clauses = clauses_of(facts)
    values = f" In state {len(violation.trace)}, {'; '.join(clauses)}." if clauses else ""
    return replace(
        why,
        instance=tuple((name, value) for name, is_one, value in _pairs(instance) if is_one),
        compared=compared_values(facts)[:_VALUES_MAX],
        sentence=f"{refuted_property(shown)} fails: {refutation_sentence(shown)}{values}",
    )


def _pairs(instance: str) -> Iterator[tuple[str, str, str]]:
    """The variables of `s = s1, v = v1` with their values."""
    yield from (equation.partition(" = ") for equation in instance.split(", ") if equation)


def _facts(model: Model, prop: TemporalProperty, violation: Violation) -> Iterator[Fact]:
    problem = problem_of(replace(model, temporal=(prop,)))
    instance = violation.refutation.instance if violation.refutation is not None else ""
    state = violation.trace.steps[-1].state
    for check, formula in zip(problem.checks, problem.formulas, strict=False):
        if check.instance == instance:
            for function in dict.fromkeys(_predicates(formula)):
                yield from with_local_names(reproduced(_false_facts(model, function, state)), Wording(model.spec))


def _predicates(formula: Formula) -> Iterator[Callable[..., Any]]:
    """The named predicates of states in a formula."""
    match formula:
        case StatePredicate(function) | FunctionLeaf(function, arguments=(), named=(), is_action=False):
            yield function
    for subformula in parts_of(formula):
        yield from _predicates(subformula)


def _false_facts(model: Model, function: Any, state: State) -> list[Fact]:
    """Explain why a predicate is false of a state; empty if it is true, or not a function of the state alone."""
    written = lambda_of(function)
    definition = written or source_of(function, model.spec.files)
    if definition is None or len(definition.args.args) != 1 or function(state) is not False:
        return []
    wording = Wording(model.spec)
    context = scope_of(function, {definition.args.args[0].arg: Binding(state, Label())}, wording)
    follower = Follower(wording, model.spec.files)
    if isinstance(definition, ast.Lambda):
        return follower.follow(definition.body, context, False)
    return follower.body(definition, context, False)
