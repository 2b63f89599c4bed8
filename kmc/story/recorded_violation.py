"""The violation that a recorded trace shows, found again in its states, so that it can be told as a fresh one is."""

from __future__ import annotations

from dataclasses import replace

from kmc.errors import InternalError
from kmc.invariants.kinds import Role, of_role
from kmc.liveness.formulas import TemporalProperty
from kmc.reference.findings import error_rank
from kmc.reference.lasso_replay import temporal_violation
from kmc.reference.recurrence import RecordedFailure, property_called
from kmc.reference.replay import errors_at
from kmc.result import Refutation, Verdict, Violation
from kmc.spec.model import Model
from kmc.spec.temporal_problem import problem_of
from kmc.story.retaken import Retaken


def recorded_violation(model: Model, failure: RecordedFailure, found: Retaken) -> Violation | None:
    """What the steps of a trace show that still fails at its end; None where nothing fails, or a step does not hold."""
    if not found.shows:
        return None
    if failure.name is None:
        errors = () if failure.verdict is Verdict.DEADLOCK else errors_at(model, found.states[-1])
        return Violation(failure.verdict, None, found.trace, min(errors, key=error_rank, default=None))
    prop = property_called(model, failure.name)
    if isinstance(prop, TemporalProperty):
        return _of_temporal(model, prop, found)
    (kind,) = (kind for kind in of_role(Role.CHECKED) if isinstance(prop, kind.declared))
    return Violation(Verdict.VIOLATION, prop.name, found.trace, is_step=kind.states == 2)


def _of_temporal(model: Model, prop: TemporalProperty, found: Retaken) -> Violation | None:
    """The first query of the property that the behaviour answers, told with the recorded steps."""
    problem = problem_of(replace(model, temporal=(prop,)))
    cut = len(found.states) if found.loop is None else found.loop
    for check in problem.checks:
        for query in check.queries:
            if found.loop is None and not query.is_of_prefixes:
                continue  # a later state may keep the promise
            try:
                violation = temporal_violation(model, problem, check, query, found.states[:cut], found.states[cut:])
            except InternalError:
                continue  # this query is about another way to refute the property
            return _with_steps(violation, found)
    return None


def _with_steps(violation: Violation, found: Retaken) -> Violation:
    refutation = violation.refutation
    cycle = refutation.cycle if refutation is not None else None
    if refutation is None or cycle is None:
        return replace(violation, trace=found.trace)
    told: Refutation = replace(refutation, cycle=replace(cycle, closing=found.closing))
    return replace(violation, trace=found.trace, refutation=told)
