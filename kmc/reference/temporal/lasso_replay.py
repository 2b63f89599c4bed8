"""The replay of a counterexample to a temporal property: stem, cycle, fairness, and the property, by definition.

The replay evaluates everything again on the states of the lasso alone, by the spec's own functions. A search that errs
is an InternalError here, and never a verdict.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NoReturn

from kmc.actions.action import instances_of
from kmc.actions.relation import NextStateRelation, Step
from kmc.errors import InternalError
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.liveness.lasso_queries import AllSteps, LassoQuery, TemporalCheck
from kmc.liveness.lasso_semantics import EndlessBehaviour, GeneratedSteps
from kmc.liveness.problem import TemporalProblem
from kmc.liveness.refutation_text import why_false
from kmc.reference.states.replay import replay, replay_step
from kmc.reference.states.traces import trace_step
from kmc.reference.temporal.behaviours import Behaviours, behaviours_of
from kmc.reference.temporal.lasso_check import how_met, phase_entries
from kmc.reference.temporal.lassos import Path
from kmc.result import Cycle, FairnessMet, Refutation, Trace, TraceStep, Verdict, Violation


def temporal_violation(
    model: Model,
    problem: TemporalProblem,
    check: TemporalCheck,
    query: LassoQuery,
    stem: list[State],
    cycle: list[State],
) -> Violation:
    """The violation that these states show. Between two states, the least step in display order is shown.

    Raises InternalError KMC909 where there is no such step, or where the states do not refute the property.
    """
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    states = [*stem, *cycle]
    steps = [TraceStep(states[0])]
    steps += [_least_step(relation, *pair) for pair in pairwise(states)]
    behaviours, path = _on_its_own(model, problem, states, len(stem), has_cycle=bool(cycle))
    if phase_entries(behaviours, path, query) is None:
        _refuse(check, "does not answer the query")
    behaviour = EndlessBehaviour(states, len(stem) if cycle else len(stem) - 1, generated_steps(model))
    formula = problem.formulas[problem.checks.index(check)] if problem.formulas else None
    why = why_false(behaviour, formula) if formula is not None and not behaviour.satisfies(formula) else ""
    closing = _least_step(relation, states[-1], cycle[0]) if len(cycle) > 1 else None
    met = _fairness(check, problem, behaviours, path) if cycle else ()
    shown = Cycle(len(stem) + 1, closing, met) if cycle else None
    return Violation(
        Verdict.VIOLATION if query.is_of_prefixes else Verdict.LIVENESS,
        check.name,
        Trace(tuple(steps)),
        is_step=is_of_step(query),
        refutation=Refutation(check.instance, why, shown),
    )


def is_bad_prefix(model: Model, problem: TemporalProblem, states: list[State]) -> bool:
    """Whether every behaviour that begins with these states refutes a property of `problem`, however it goes on."""
    behaviours, path = _on_its_own(model, problem, states, len(states), has_cycle=False)
    queries = (query for check in problem.checks for query in check.queries if query.is_of_prefixes)
    return any(phase_entries(behaviours, path, query) is not None for query in queries)


def check_refutation(model: Model, problem: TemporalProblem, violation: Violation, start: State | None = None) -> None:
    """Raise InternalError unless the trace of `violation` replays, ends as it says, is fair, and refutes the property.

    KMC902 to KMC908 are those of `kmc.reference.states.replay`, KMC909 all others.
    """
    assert violation.refutation is not None, "the violation of a temporal property"
    replay(model, violation.trace, start)
    states = [step.state for step in violation.trace.steps]
    cycle = violation.refutation.cycle
    if cycle is not None and cycle.closing is not None:
        if cycle.closing.state != states[cycle.back_to - 1]:
            raise InternalError("KMC909", "the step that closes the cycle does not lead to the state that it names")
        replay_step(model, states[-1], cycle.closing, len(states) + 1)
    stem = len(states) if cycle is None else cycle.back_to - 1
    behaviours, path = _on_its_own(model, problem, states, stem, has_cycle=cycle is not None)
    check = _check_of(problem, violation)
    if not any(
        phase_entries(behaviours, path, query) is not None and (cycle is not None or query.is_of_prefixes)
        for query in check.queries
    ):
        _refuse(check, "does not answer any of its queries")
    if cycle is not None and _fairness(check, problem, behaviours, path) != cycle.fairness:
        _refuse(check, "is fair for other reasons")
    # A finite prefix refutes whatever follows, so also what stutters from there on.
    _check_by_definition(model, problem, check, states, stem if cycle is not None else stem - 1, fair=cycle is not None)


def _check_by_definition(
    model: Model, problem: TemporalProblem, check: TemporalCheck, states: list[State], loop: int, *, fair: bool
) -> None:
    """Raise InternalError unless the formulas themselves say that this behaviour is fair and refutes the property."""
    if not problem.formulas:
        return  # a problem that was not made of formulas
    behaviour = EndlessBehaviour(states, loop, generated_steps(model))
    if behaviour.satisfies(problem.formulas[problem.checks.index(check)]):
        _refuse(check, "satisfies the property by its definition")
    for formula, condition in zip(problem.assumed, problem.fairness, strict=True):
        if fair and not behaviour.satisfies(formula):
            _refuse(check, f"is not fair by the definition of {condition.name}")


def generated_steps(model: Model) -> GeneratedSteps:
    """The steps of a state, before constraints, and with those of actions that are not part of Next."""
    spec = model.spec
    actions = (*spec.actions, *spec.other_actions)
    labels = {(action.title, arguments): label for label, (action, arguments) in enumerate(instances_of(actions))}
    relation = NextStateRelation(actions, spec.state_class, spec.files)

    def generated(state: State) -> dict[Any, set[int]]:
        labels_of: dict[Any, set[int]] = {}
        for action, arguments, successor in relation.steps(state):
            labels_of.setdefault(successor, set()).add(labels[action.title, arguments])
        return labels_of

    return generated


def _on_its_own(
    model: Model, problem: TemporalProblem, states: list[State], stem: int, *, has_cycle: bool
) -> tuple[Behaviours, Path]:
    """The states of a lasso with all their steps, and the lasso by their numbers."""
    distinct = list(dict.fromkeys(states))
    number_of = {state: index for index, state in enumerate(distinct)}
    indices = [number_of[state] for state in states]
    behaviours = behaviours_of(model, problem, distinct, len(distinct))
    return behaviours, Path(tuple(indices[:stem]), tuple(indices[stem:])) if has_cycle else Path(tuple(indices), ())


def _fairness(
    check: TemporalCheck, problem: TemporalProblem, behaviours: Behaviours, path: Path
) -> tuple[FairnessMet, ...]:
    met: list[FairnessMet] = []
    for fair in problem.fairness:
        how = how_met(behaviours, path, fair)
        if how is None:
            _refuse(check, f"is not fair by {fair.name}")
        met.append(how)
    return tuple(met)


def _least_step(relation: NextStateRelation, source: Any, target: Any) -> TraceStep:
    steps: list[Step] = [step for step in relation.steps(source) if step[2] == target]
    if not steps:
        raise InternalError("KMC909", "no step leads to the next state of the counterexample")
    return trace_step(min(steps, key=relation.display_key))


def is_of_step(query: LassoQuery) -> bool:
    """Whether one step refutes the property, as TLC's action properties: exit status 13."""
    return query.is_of_prefixes and len(query.phases) == 2 and query.phases[1].entered_by != AllSteps()


def _check_of(problem: TemporalProblem, violation: Violation) -> TemporalCheck:
    assert violation.refutation is not None
    wanted = violation.name, violation.refutation.instance
    of_property = next((check for check in problem.checks if (check.name, check.instance) == wanted), None)
    if of_property is None:
        raise InternalError("KMC909", f"the model has no temporal property {violation.name}")
    return of_property


def _refuse(check: TemporalCheck, message: str) -> NoReturn:
    raise InternalError("KMC909", f"the counterexample to {check.name} {message}", help="run with --engine python")
