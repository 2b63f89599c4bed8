"""The violation that a recorded trace shows, found again in its states, so that its story is that of a fresh one."""

from __future__ import annotations

from dataclasses import replace

from kmc.errors import InternalError
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.invariants.kinds import Role, of_role
from kmc.liveness.formulas import TemporalProperty
from kmc.reference.recurrence import RecordedFailure, property_called
from kmc.reference.states.findings import error_rank
from kmc.reference.states.replay import errors_at
from kmc.reference.temporal.lasso_replay import temporal_violation
from kmc.result import Refutation, Verdict, Violation
from kmc.story.retaken import Retaken


def recorded_violation(model: Model, failure: RecordedFailure, replayed: Retaken) -> Violation | None:
    """The violation that the steps of a trace still show at its end; None if nothing fails, or if a step does not
    hold.
    """
    if not replayed.shows:
        return None
    if failure.name is None:
        errors = () if failure.verdict is Verdict.DEADLOCK else errors_at(model, replayed.states[-1])
        return Violation(failure.verdict, None, replayed.trace, min(errors, key=error_rank, default=None))
    prop = property_called(model, failure.name)
    if isinstance(prop, TemporalProperty):
        return _of_temporal(model, prop, replayed)
    (kind,) = (kind for kind in of_role(Role.CHECKED) if isinstance(prop, kind.declared))
    return Violation(Verdict.VIOLATION, prop.name, replayed.trace, is_step=kind.states == 2)


def _of_temporal(model: Model, prop: TemporalProperty, replayed: Retaken) -> Violation | None:
    """The violation by the first query of the property that the behaviour answers, with the recorded steps."""
    problem = problem_of(replace(model, temporal=(prop,)))
    cut = len(replayed.states) if replayed.loop is None else replayed.loop
    for check in problem.checks:
        for query in check.queries:
            if replayed.loop is None and not query.is_of_prefixes:
                # A later state may keep the promise.
                continue
            try:
                violation = temporal_violation(
                    model, problem, check, query, replayed.states[:cut], replayed.states[cut:]
                )
            except InternalError:
                # This query is about another way to refute the property.
                continue
            return _with_steps(violation, replayed)
    return None


def _with_steps(violation: Violation, replayed: Retaken) -> Violation:
    refutation = violation.refutation
    cycle = refutation.cycle if refutation is not None else None
    if refutation is None or cycle is None:
        return replace(violation, trace=replayed.trace)
    closed: Refutation = replace(refutation, cycle=replace(cycle, closing=replayed.closing))
    return replace(violation, trace=replayed.trace, refutation=closed)
