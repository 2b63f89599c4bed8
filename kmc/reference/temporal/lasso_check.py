"""Does a lasso answer a query, and is it fair? Read off the lasso itself, state by state, by the definitions.

This check reads only the states of the lasso and the steps of each, so it is independent of every search. Every
counterexample that is shown has passed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, Recurrence, Response, StepSet
from kmc.reference.temporal.behaviours import Behaviours
from kmc.reference.temporal.lassos import Path
from kmc.result import FairnessMet, HowMet


def phase_entries(behaviours: Behaviours, path: Path, query: LassoQuery) -> tuple[int, ...] | None:
    """The positions in the behaviour at which each phase begins; None if the lasso does not answer `query`.

    A prefix answers by its last state, which begins the last phase.
    """
    entries = _entries(behaviours, path, query)
    if entries is None or not path.cycle:
        return entries
    conditions: list[Recurrence | Response] = [*query.recurrences, *query.responses]
    return entries if all(is_met(behaviours, path.cycle, condition) for condition in conditions) else None


def is_met(behaviours: Behaviours, cycle: Sequence[int], condition: Recurrence | Response) -> bool:
    """Whether a cycle meets a condition."""
    match condition:
        case Recurrence(states, steps):
            return (
                any(behaviours.has(states, state) for state in cycle)
                or step_taken(behaviours, cycle, steps) is not None
            )
        case Response(trigger, answer):
            triggered = any(behaviours.has(trigger, state) for state in cycle)
            return not triggered or is_met(behaviours, cycle, answer)
        case _:
            assert_never(condition)


def how_met(behaviours: Behaviours, path: Path, fair: FairnessCondition) -> FairnessMet | None:
    """Return how the cycle of `path` meets a condition of fairness, or None if it does not."""
    cycle = path.cycle
    positions = range(len(path.stem) + 1, len(path) + 1)
    taken = step_taken(behaviours, cycle, fair.steps)
    if taken is not None:
        # The step from the last state of the cycle leads back to its first.
        return FairnessMet(fair.name, fair.group, fair.strong, HowMet.TAKEN, positions[(taken + 1) % len(cycle)])
    disabled = [
        position for position, state in zip(positions, cycle, strict=True) if not _enables(behaviours, state, fair)
    ]
    if len(disabled) == len(cycle):
        return FairnessMet(fair.name, fair.group, fair.strong, HowMet.NEVER_ENABLED, None)
    if disabled and not fair.strong:
        return FairnessMet(fair.name, fair.group, fair.strong, HowMet.DISABLED, disabled[0])
    return None


def step_taken(behaviours: Behaviours, cycle: Sequence[int], steps: StepSet) -> int | None:
    """The position of the first state of a cycle that a step of `steps` leaves, the last one's leads to the first."""
    for position, source in enumerate(cycle):
        target = cycle[(position + 1) % len(cycle)]
        # To stutter is to take no step, even where an action generates the same state again.
        if source != target and behaviours.has_step(steps, source, target):
            return position
    return None


def _enables(behaviours: Behaviours, state: int, fair: FairnessCondition) -> bool:
    return behaviours.has(fair.enabling, state)


def _entries(behaviours: Behaviours, path: Path, query: LassoQuery) -> tuple[int, ...] | None:
    """The positions at which each phase begins if the states and steps fit the phases, by the first way that fits.

    A phase may begin when the cycle has gone around. If none begins in a whole round, none begins later.
    """
    last = len(query.phases) - 1
    rounds = len(query.phases) if len(path.cycle) > 1 else 1
    states = (*path.stem, *path.cycle * rounds)
    at_latest = len(states) - 1
    ways: dict[int, tuple[int, ...]] = {0: (0,)} if _enters(behaviours, states[0], query, 0) else {}
    for position in range(1, at_latest + 1):
        ways = _next_ways(behaviours, query, ways, states, position)
    if last not in ways:
        return None
    if path.cycle and not _stays(behaviours, path.cycle, query):
        return None
    return ways[last]


def _next_ways(
    behaviours: Behaviours, query: LassoQuery, ways: dict[int, tuple[int, ...]], states: Sequence[int], position: int
) -> dict[int, tuple[int, ...]]:
    """The earliest beginnings of a behaviour's phases, by the phase that it is in at `position`."""
    source, target = states[position - 1], states[position]
    ways_of_phase: dict[int, tuple[int, ...]] = {}
    for phase, began in ways.items():
        wanted = query.phases[phase]
        if behaviours.has(wanted.states, target) and behaviours.has_step(wanted.steps, source, target):
            ways_of_phase[phase] = min(ways_of_phase.get(phase, began), began)
        following = phase + 1
        if following == len(query.phases) or not _enters(behaviours, target, query, following):
            continue
        if behaviours.has_step(query.phases[following].entered_by, source, target):
            entered = (*began, position)
            ways_of_phase[following] = min(ways_of_phase.get(following, entered), entered)
    return ways_of_phase


def _enters(behaviours: Behaviours, state: int, query: LassoQuery, phase: int) -> bool:
    wanted = query.phases[phase]
    return behaviours.has(wanted.enters_at, state) and behaviours.has(wanted.states, state)


def _stays(behaviours: Behaviours, cycle: Sequence[int], query: LassoQuery) -> bool:
    last = query.phases[-1]
    if not all(behaviours.has(last.states, state) for state in cycle):
        return False
    steps = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    return all(source == target or behaviours.has_step(last.steps, source, target) for source, target in steps)
