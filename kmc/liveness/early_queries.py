"""The queries that a search can answer before it is whole: finite prefixes that refute, and lassos that stutter.

Invariant: whether a behaviour of n states ends so is known when the first n levels have been expanded, since all its
states are in them. Every lasso with fewer states is in them too, so the one reported then is a least one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from kmc.liveness.lasso_queries import (
    AllStates,
    AllSteps,
    AndStates,
    AndSteps,
    AtomHolds,
    Changing,
    From,
    HasStep,
    Into,
    Labelled,
    LassoQuery,
    NotStates,
    NotSteps,
    OrStates,
    OrSteps,
    Phase,
    Recurrence,
    Response,
    StateSet,
    StepAtomHolds,
    StepSet,
)
from kmc.liveness.problem import TemporalProblem

WAYS_STATES_MAX = 1 << 16
"""The number of expanded states up to which ways through phases are followed: beyond it, following them would cost as
much as a search.
"""


@dataclass(frozen=True, slots=True)
class EarlyQuery:
    """Behaviours that go through `phases` and end in a state of all the sets `ends`.

    With `stutters` they stay there for ever, and fairness must allow that; else whatever follows answers the query.
    """

    phases: tuple[Phase, ...]
    ends: tuple[StateSet, ...]
    stutters: bool

    @property
    def reaches_all(self) -> bool:
        """Whether every behaviour goes through the phases, so that no way need be followed."""
        return self.phases == (Phase(),)

    def is_asked(self, expanded: int) -> bool:
        """Whether the query is evaluated at a level with which so many states have been expanded."""
        return self.reaches_all or expanded <= WAYS_STATES_MAX


def early_queries(problem: TemporalProblem) -> tuple[EarlyQuery, ...]:
    """The queries of a problem that may be answered early, each once.

    Sets that look at the state that a step leads to are left out: it may not be expanded yet.
    """
    if any(_looks_ahead(fair.steps) for fair in problem.fairness):
        return ()
    queries = (query for check in problem.checks for query in check.queries)
    return tuple(dict.fromkeys(early for early in map(_early, queries) if not _needs_targets(early)))


def staying(condition: Recurrence | Response) -> StateSet:
    """The states in which a behaviour may stay for ever and meet a condition."""
    if isinstance(condition, Recurrence):
        return condition.states
    return OrStates((NotStates(condition.trigger), condition.answer.states))


def has_steps(states: StateSet) -> bool:
    """Whether membership of a state in the set depends on its steps."""
    match states:
        case HasStep():
            return True
        case NotStates(part):
            return has_steps(part)
        case AndStates(parts) | OrStates(parts):
            return any(map(has_steps, parts))
        case AtomHolds() | AllStates():
            return False
        case _:
            assert_never(states)


def _early(query: LassoQuery) -> EarlyQuery:
    last = query.phases[-1]
    if query.is_of_prefixes:
        return EarlyQuery(query.phases, (last.enters_at,), stutters=False)
    conditions: tuple[Recurrence | Response, ...] = (*query.recurrences, *query.responses)
    return EarlyQuery(query.phases, (last.states, *map(staying, conditions)), stutters=True)


def _needs_targets(query: EarlyQuery) -> bool:
    return any(map(_is_ahead, query.ends)) or any(
        _is_ahead(phase.enters_at)
        or _is_ahead(phase.states)
        or _looks_ahead(phase.steps)
        or _looks_ahead(phase.entered_by)
        for phase in query.phases
    )


def _is_ahead(states: StateSet) -> bool:
    match states:
        case HasStep(steps):
            return _looks_ahead(steps)
        case NotStates(part):
            return _is_ahead(part)
        case AndStates(parts) | OrStates(parts):
            return any(map(_is_ahead, parts))
        case AtomHolds() | AllStates():
            return False
        case _:
            assert_never(states)


def _looks_ahead(steps: StepSet) -> bool:
    match steps:
        case Into():
            return True
        case From(states):
            return _is_ahead(states)
        case NotSteps(part):
            return _looks_ahead(part)
        case AndSteps(parts) | OrSteps(parts):
            return any(map(_looks_ahead, parts))
        case Labelled() | StepAtomHolds() | Changing() | AllSteps():
            return False
        case _:
            assert_never(steps)
