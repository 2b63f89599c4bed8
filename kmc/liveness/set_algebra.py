"""Sets of states and of steps, put together and simplified: TRUE, FALSE, and a set beside its complement.

Invariant: a set that these functions make is TRUE or FALSE only if it is `AllStates()`, `NO_STATES`, `AllSteps()` or
`NO_STEPS`, as far as equality distinguishes its parts.
"""

from __future__ import annotations

from collections.abc import Iterable

from kmc.liveness.lasso_queries import (
    NO_STATES,
    NO_STEPS,
    AllStates,
    AllSteps,
    AndStates,
    AndSteps,
    From,
    NotStates,
    NotSteps,
    OrStates,
    OrSteps,
    StateSet,
    StepSet,
)


def not_states(states: StateSet) -> StateSet:
    """The complement."""
    match states:
        case NotStates(inside):
            return inside
        case AndStates(parts):
            return or_states(map(not_states, parts))
        case OrStates(parts):
            return and_states(map(not_states, parts))
        case _:
            return NotStates(states)


def and_states(sets: Iterable[StateSet]) -> StateSet:
    """The intersection."""
    parts: list[StateSet] = []
    for one in sets:
        parts += one.parts if isinstance(one, AndStates) else (one,)
    kept = [part for part in dict.fromkeys(parts) if part != AllStates()]
    if NO_STATES in kept or any(not_states(part) in kept for part in kept):
        return NO_STATES
    return kept[0] if len(kept) == 1 else AndStates(tuple(kept)) if kept else AllStates()


def or_states(sets: Iterable[StateSet]) -> StateSet:
    """The union."""
    parts: list[StateSet] = []
    for one in sets:
        parts += one.parts if isinstance(one, OrStates) else (one,)
    kept = [part for part in dict.fromkeys(parts) if part != NO_STATES]
    if AllStates() in kept or any(not_states(part) in kept for part in kept):
        return AllStates()
    return kept[0] if len(kept) == 1 else OrStates(tuple(kept)) if kept else NO_STATES


def not_steps(steps: StepSet) -> StepSet:
    """The complement."""
    match steps:
        case NotSteps(inside):
            return inside
        case AndSteps(parts):
            return or_steps(map(not_steps, parts))
        case OrSteps(parts):
            return and_steps(map(not_steps, parts))
        case _:
            return NotSteps(steps)


def and_steps(sets: Iterable[StepSet]) -> StepSet:
    """The intersection."""
    parts: list[StepSet] = []
    for one in sets:
        parts += one.parts if isinstance(one, AndSteps) else (one,)
    kept = [part for part in dict.fromkeys(parts) if part != AllSteps()]
    if NO_STEPS in kept or any(not_steps(part) in kept for part in kept):
        return NO_STEPS
    return kept[0] if len(kept) == 1 else AndSteps(tuple(kept)) if kept else AllSteps()


def or_steps(sets: Iterable[StepSet]) -> StepSet:
    """The union."""
    parts: list[StepSet] = []
    for one in sets:
        parts += one.parts if isinstance(one, OrSteps) else (one,)
    kept = [part for part in dict.fromkeys(parts) if part != NO_STEPS]
    if AllSteps() in kept or any(not_steps(part) in kept for part in kept):
        return AllSteps()
    return kept[0] if len(kept) == 1 else OrSteps(tuple(kept)) if kept else NO_STEPS


def from_states(states: StateSet) -> StepSet:
    """The steps from states of a set."""
    if states == AllStates():
        return AllSteps()
    return NO_STEPS if states == NO_STATES else From(states)
