"""The shortest way to a condition, by compiled code where many states lie between.

The condition becomes the only property of a model, and the way to it is the counterexample of a check that begins in
the current state. The interpreter expands the nearest states first, since compiling takes seconds. It also takes over
if a condition cannot be compiled, or if the spec or the condition has an error.

Invariant: the length of the way is the interpreter's, and each of its steps is one that the interpreter makes.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from kmc.actions.relation import NextStateRelation
from kmc.engine.check_model import check_native
from kmc.errors import KmcError
from kmc.explorer.explored_model import ExploredModel
from kmc.explorer.judging import is_outside
from kmc.explorer.python_specs.moves import moves_of
from kmc.explorer.search_terms import SeekEnd, SeekLimits, SeekProgress, SeekResult, TakenStep, WaitedFor
from kmc.explorer.seeking import INTERPRETED_STATES_MAX, Seeker
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.result import Bound, Counters, Limits, Result, TraceStep, Verdict

NEAR_STATES = 500
"""The number of states that the interpreter expands before anything is compiled: those of two or three seconds."""


def shortest_way(
    explored: ExploredModel, start: State, wanted: WaitedFor, limits: SeekLimits, progress: SeekProgress
) -> SeekResult:
    """As `Seeker.breadth_first`, which it calls first; as fast as a check where the condition can be compiled."""
    seeker = Seeker(explored)
    near = seeker.breadth_first(start, wanted, replace(limits, states=min(limits.states, NEAR_STATES)), progress)
    if near.end is not SeekEnd.LIMIT or near.states < NEAR_STATES or limits.states <= NEAR_STATES:
        return near
    way = _compiled(explored, start, wanted, limits, progress)
    if way is not None:
        return way
    interpreted = replace(limits, states=min(limits.states, INTERPRETED_STATES_MAX))
    return seeker.breadth_first(start, wanted, interpreted, progress)


def _compiled(
    explored: ExploredModel, start: State, wanted: WaitedFor, limits: SeekLimits, progress: SeekProgress
) -> SeekResult | None:
    """The result of a check; None if only the interpreter can answer."""
    # A check would end in a state that meets the condition, and would not leave one that breaks a constraint.
    if wanted.check is None or wanted.is_met(None, start) or is_outside(explored.judged(None, start)):
        return None
    model = explored.model

    def look(counters: Counters) -> None:
        progress.activity, progress.states, progress.depth = "", counters.distinct, counters.depth - 1
        if progress.is_cancelled:
            raise KeyboardInterrupt  # as a person's Ctrl-C: the search ends where it is

    progress.activity = "compiling the condition"
    try:
        with TemporaryDirectory(prefix="kmc-condition-") as folder:
            # The path that is shown is one of the spec itself.
            asked = wanted.check(replace(model, abstractions=()), Path(folder))
            bounds = Limits(states=limits.states, seconds=limits.seconds)
            result = check_native(asked, bounds, start=start, progress=look)
    except KmcError:
        return None
    finally:
        progress.activity = ""
    return _result(model, result)


def _result(model: Model, result: Result) -> SeekResult | None:
    states, depth = result.counters.distinct, result.counters.depth - 1
    match result.verdict:
        case Verdict.VIOLATION if result.violation is not None:
            steps = _steps_with_messages(model, result.violation.trace.steps)
            return SeekResult(SeekEnd.FOUND, steps, states, len(steps))
        case Verdict.INTERRUPTED:
            return SeekResult(SeekEnd.CANCELLED, (), states, depth)
        case Verdict.BOUND_REACHED if result.bound is not Bound.START:
            return SeekResult(SeekEnd.LIMIT, (), states, depth)
        case Verdict.BOUND_REACHED | Verdict.OK:
            return SeekResult(SeekEnd.ALL_SEEN, (), states, depth)
        case _:
            return None


def _steps_with_messages(model: Model, trace: tuple[TraceStep, ...]) -> tuple[TakenStep, ...]:
    """The steps of a trace, each with the message that it receives."""
    spec = model.spec
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
    return tuple(
        next(
            (move.step, move.instance.message)
            for move in moves_of(relation, before.state).enabled
            if (move.step.label, move.step.state) == (step.label, step.state)
        )
        for before, step in pairwise(trace)
    )
