"""From a violation that was found with abstractions to one of the spec itself.

A search with abstractions stores images of states, so its trace is a run through images. Here the steps of that run are
taken again by the spec as it is: the first state is an initial one, and each step is by the same action with the same
arguments, to a state whose image is the next one of the run. Where an abstraction is a bisimulation there always is
such a behaviour. If there is none, or if its end does not show the violation, the abstraction is wrong, and no result
that was found with it counts.

A lasso is shown as it was found, because states may differ for ever in what the abstractions drop, so that no cycle
closes. Its stem and one round of its cycle are taken by the spec nevertheless.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from kmc.actions.abstraction import image_of
from kmc.actions.relation import NextStateRelation, Step
from kmc.errors import EvaluationError, InternalError
from kmc.frontend.model import Model
from kmc.lang.order import SortKey, sort_key
from kmc.lang.records import State
from kmc.reference.states.initial import initial_states
from kmc.reference.states.replay import check_violation
from kmc.reference.states.traces import trace_step
from kmc.result import Trace, TraceStep, Verdict, Violation

_RUNS_MAX = 1000
"""The number of runs that are followed at once. Any of them goes on to the end where the abstractions are right."""

_ENDS_MAX = 50


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of the spec so far: its last step, and the run before it."""

    step: TraceStep
    before: _Run | None
    key: tuple[SortKey, ...]

    def trace(self) -> Trace:
        steps: list[TraceStep] = []
        run: _Run | None = self
        while run is not None:
            steps.append(run.step)
            run = run.before
        return Trace(tuple(reversed(steps)))


def unabstracted(model: Model, violation: Violation, start: State | None) -> tuple[Violation, Model]:
    """The violation with a trace of `model` itself, and that model; for a lasso, as it is and of `model.searched`.

    `violation` was found in `model.searched`, from `start` if one is given. An error in an abstraction is one of
    `model.searched` too. Raises EvaluationError KMC274 if the spec has no such behaviour, or if its end does not show
    the violation: then the abstractions merge too much.
    """
    if not model.abstractions:
        return violation, model
    cycle = violation.refutation.cycle if violation.refutation is not None else None
    closing = cycle.closing if cycle is not None else None
    wanted = [*violation.trace.steps, *([closing] if closing is not None else [])]
    runs = _runs(model, wanted, start)
    if cycle is not None:
        return violation, model.searched
    candidates = [replace(violation, trace=run.trace()) for run in sorted(runs, key=lambda run: run.key)[:_ENDS_MAX]]
    if violation.refutation is not None:
        return candidates[0], model
    shown = next((one for one in candidates if _is_shown(model, one, start)), None)
    if shown is not None:
        return shown, model
    if violation.verdict is Verdict.ERROR:
        # An abstraction fails, which the spec does not evaluate.
        return violation, model.searched
    raise _unsound(model, f"{_what(violation)} at the end of the trace is none of the spec", len(wanted))


def _what(violation: Violation) -> str:
    if violation.verdict is Verdict.VIOLATION:
        return f"the violation of {violation.name}"
    return {Verdict.DEADLOCK: "the deadlock", Verdict.ASSERTION: "the failed assertion"}.get(
        violation.verdict, "the error"
    )


def _is_shown(model: Model, violation: Violation, start: State | None) -> bool:
    try:
        check_violation(model, violation, start)
    except InternalError:
        return False
    return True


def _runs(model: Model, wanted: list[TraceStep], start: State | None) -> list[_Run]:
    """The runs of the spec through states whose images are those of `wanted`, by the same steps."""
    spec = model.spec
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)

    def image(state: State) -> Any:
        return image_of(model.abstractions, state, spec.files)

    beginnings = initial_states(model) if start is None else [start]
    first = dict.fromkeys(state for state in beginnings if image(state) == wanted[0].state)
    runs = [_Run(TraceStep(state), None, (sort_key(state),)) for state in first]
    if not runs:
        raise _unsound(model, "no initial state of the spec has the first state of the trace as its image", 1)
    for position, step in enumerate(wanted[1:], start=2):
        runs = _continued(runs, relation, step, image)
        if not runs:
            raise _unsound(model, f"{step.label} leads to state {position} of the trace from the images only", position)
    return runs


def _continued(runs: list[_Run], relation: NextStateRelation, wanted: TraceStep, image: Any) -> list[_Run]:
    """The least run to each state that is reached by a step like `wanted`."""
    arguments = tuple(value for _, value in wanted.arguments)
    least_runs: dict[Any, _Run] = {}
    for run in runs:
        for step in _steps(relation, run.step.state, wanted.action, arguments):
            successor = step[2]
            if image(successor) != wanted.state:
                continue
            longer = _Run(trace_step(step), run, (*run.key, sort_key(successor)))
            if successor not in least_runs or longer.key < least_runs[successor].key:
                least_runs[successor] = longer
    return sorted(least_runs.values(), key=lambda run: run.key)[:_RUNS_MAX]


def _steps(relation: NextStateRelation, state: Any, title: str | None, arguments: tuple[Any, ...]) -> Iterator[Step]:
    for instance in relation.instances(state):
        if instance.action.title == title and instance.arguments == arguments:
            for successor in relation.successors(instance, state):
                yield instance.action, instance.arguments, successor


def _unsound(model: Model, why: str, position: int) -> EvaluationError:
    names = ", ".join(abstraction.name for abstraction in model.abstractions)
    return EvaluationError(
        "KMC274",
        f"{names} merges states that differ: {why}",
        model.abstractions[0].span,
        help="--verify-abstractions shows a state and its image that differ, and --no-abstractions checks without them",
        notes=(f"the trace that was found has {position} states up to there",),
    )
