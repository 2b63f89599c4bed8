"""What a refuted temporal property looks at: the values that make its predicates false in the last state of a lasso."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from kmc.liveness.formulas import Formula, FunctionLeaf, StatePredicate, TemporalProperty, parts_of
from kmc.reference.refutation_lines import refutation_sentence, refuted_property
from kmc.result import Violation
from kmc.spec.model import Model
from kmc.spec.temporal_problem import problem_of
from kmc.story.facts import Fact, compared_values, reproduced
from kmc.story.follow import Follower
from kmc.story.functions import scope_of, source_of
from kmc.story.obstacles import attempt
from kmc.story.scopes import Binding, Label, Wording
from kmc.story.story import Why

_VALUES_MAX = 12


def why_refuted(model: Model, prop: TemporalProperty, violation: Violation, told: Why) -> Why:
    """Why a behaviour refutes a temporal property; the values are those of its last state."""
    assert violation.refutation is not None, "the violation of a temporal property"
    name, _, value = violation.refutation.instance.partition(" = ")
    facts = attempt(lambda: list(_facts(model, prop, violation))) or []
    return replace(
        told,
        instance=((name, value),) if value and "," not in name else (),
        compared=compared_values(facts)[:_VALUES_MAX],
        sentence=f"{refuted_property(violation)} fails: {refutation_sentence(violation)}",
    )


def _facts(model: Model, prop: TemporalProperty, violation: Violation) -> Iterator[Fact]:
    problem = problem_of(replace(model, temporal=(prop,)))
    instance = violation.refutation.instance if violation.refutation is not None else ""
    state = violation.trace.steps[-1].state
    for check, formula in zip(problem.checks, problem.formulas, strict=False):
        if check.instance == instance:
            for function in dict.fromkeys(_predicates(formula)):
                yield from reproduced(_false_facts(model, function, state))


def _predicates(formula: Formula) -> Iterator[Callable[..., Any]]:
    """The named predicates of states in a formula."""
    match formula:
        case StatePredicate(function) | FunctionLeaf(function, arguments=(), named=(), is_action=False):
            yield function
    for part in parts_of(formula):
        yield from _predicates(part)


def _false_facts(model: Model, function: Any, state: Any) -> list[Fact]:
    """Why a predicate is false of a state; nothing where it is true, or is not a function of the state alone."""
    definition = source_of(function, model.spec.files)
    if definition is None or len(definition.args.args) != 1 or function(state) is not False:
        return []
    wording = Wording(model.spec)
    context = scope_of(function, {definition.args.args[0].arg: Binding(state, Label())}, wording)
    return Follower(wording, model.spec.files).body(definition, context, False)
