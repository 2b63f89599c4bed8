"""The choice of a lasso: by `kmc.liveness.lasso_order` the least of a nearest state to stay in and the cycles tried.

The choice depends on distances, fair components and the order of numbers only, so a part of a graph whose states are
renumbered in their order gives the lasso that the whole graph does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kmc.engine.behaviour_graph.sets import Bytes
from kmc.engine.lassos.condition_masks import ConditionMasks
from kmc.engine.lassos.cycle_progress import CycleProgress
from kmc.engine.lassos.native_graph import FairComponents
from kmc.engine.lassos.phase_levels import Numbers, PhaseLevels
from kmc.engine.lassos.short_cycles import ShortCycles
from kmc.liveness.behaviour_graph import Array, BehaviourGraph
from kmc.liveness.lasso_order import LassoRank, least_answer, longest_cycle, may_stutter
from kmc.liveness.lasso_queries import LassoQuery, Phase, Recurrence, Response, StateSet, StepSet, TemporalCheck
from kmc.liveness.problem import Lasso

_GREEDY_STARTS = 8
_LEAST_WITH_STEPS = 2


class Distances(Protocol):
    """The distances and shortest paths to the states of the last phase, see `PhaseLevels`."""

    def by_distance(self) -> Iterator[tuple[int, Numbers]]:
        """Each distance at which there are states, with these."""

    def path_to(self, state: int, /) -> list[int]:
        """A shortest way to a state."""


@dataclass(frozen=True, slots=True)
class FoundLasso:
    """A stem and a cycle, by numbers of states."""

    stem: tuple[int, ...]
    cycle: tuple[int, ...]

    @property
    def rank(self) -> LassoRank:
        """Its place in the order, but for its states."""
        return LassoRank.of(self.stem, self.cycle)

    @property
    def order(self) -> tuple[LassoRank, tuple[int, ...]]:
        """Its place in the order of an engine whose states have numbers."""
        return self.rank, (*self.cycle, *self.stem)


class LassoAnswers(ABC):
    """A search for lassos in a graph: checks are made of queries, and each is answered alone."""

    @property
    @abstractmethod
    def level_starts(self) -> Array:
        """See `BehaviourGraph`."""

    @property
    @abstractmethod
    def expanded(self) -> int:
        """See `BehaviourGraph`."""

    def find(self, check: TemporalCheck, below: LassoRank | None = None) -> Lasso | None:
        """Return a lasso that answers one of the queries of a check; of several, the least that is found.

        With `below`, only one of lesser rank: a better one than the best known is wanted, so a large graph is not
        searched whole.
        """
        asked = list(enumerate(check.queries))
        best = least_answer(
            asked, lambda one, bound: self._answer(one[1], bound), lambda candidate: candidate.order, None, below
        )
        if best is None:
            return None
        (index, _), lasso = best
        states = [*lasso.stem, *lasso.cycle]
        targets = states[1:] if len(lasso.cycle) == 1 else [*states[1:], lasso.cycle[0]]
        labels = tuple(self._label(state, target) for state, target in zip(states, targets, strict=False))
        return Lasso(lasso.stem, lasso.cycle, labels, index)

    @abstractmethod
    def has_lasso(self, query: LassoQuery) -> bool:
        """Whether a lasso answers a query. If one does, this costs much less than to find a short one."""

    @abstractmethod
    def distances(self, phases: tuple[Phase, ...]) -> PhaseLevels:
        """Return the levels of the states that behaviours reach through some phases."""

    @abstractmethod
    def states_of(self, wanted: StateSet) -> Bytes:
        """Return a mask of the states in a set; the caller may change it."""

    @abstractmethod
    def first_dropped(self, asked: Sequence[StepSet], next_labels: frozenset[int], end: int) -> list[int | None]:
        """The first state below `end` with a step of each set that a constraint drops; None where none is.

        `next_labels` are those of the actions of Next: other steps are not part of the graph anyway.
        """

    @abstractmethod
    def close(self) -> None:
        """Give back the resources that the search holds beside the graph."""

    @abstractmethod
    def _answer(self, query: LassoQuery, below: LassoRank | None) -> FoundLasso | None:
        """Return a lasso that answers a query, of a rank less than `below`."""

    @abstractmethod
    def _label(self, state: int, target: int) -> int:
        """The least label of a step."""


def asked_of_cycle(query: LassoQuery) -> tuple[list[StateSet], tuple[Recurrence | Response, ...]]:
    """The states that a query keeps out of the cycle, and its other conditions."""
    never = [each.trigger for each in query.responses if each.answer == Recurrence()]
    return never, (*query.recurrences, *(each for each in query.responses if each.answer != Recurrence()))


@dataclass(frozen=True, slots=True)
class CycleGraph:
    """The search space for cycles: a graph, the conditions on a cycle, and the steps that it may use; None for all."""

    graph: BehaviourGraph
    masks: ConditionMasks
    steps: Bytes | None


def nearest(distances: Distances, staying: Bytes, below: LassoRank | None) -> FoundLasso | None:
    """The nearest of some states to stay in."""
    if not staying.any():
        return None
    for distance, states in distances.by_distance():
        if not may_stutter(distance, below):
            return None
        here = states[staying[states]]
        if len(here):
            path = distances.path_to(int(here.min()))
            return FoundLasso(tuple(path[:-1]), (path[-1],))
    return None


def may_have_cycle(below: LassoRank | None) -> bool:
    """Return whether some lasso with a cycle of several states lies below a bound."""
    return below is None or longest_cycle(0, below) >= _LEAST_WITH_STEPS


def with_cycle(
    where: CycleGraph, distances: Distances, components: FairComponents, below: LassoRank | None
) -> FoundLasso | None:
    """The least lasso that is found with a cycle of several states."""
    if not len(components.members):
        return None
    components_of = components.numbered(where.graph.states)
    progress = CycleProgress(where.graph, where.masks, components_of, where.steps)
    cycles = ShortCycles(progress, components_of, where.steps)
    best: FoundLasso | None = None
    tried = 0
    for distance, states in distances.by_distance():
        for state in map(int, np.sort(states[components_of[states] != 0])):
            longest = [] if below is None else [longest_cycle(distance, below)]
            if longest and longest[0] < _LEAST_WITH_STEPS:
                return best
            tries = [] if tried >= _GREEDY_STARTS else [cycles.greedy(state)]
            tried += 1
            shorter = min([*(len(cycle) - 1 for cycle in tries), *longest])
            exact = None if cycles.is_exhausted else cycles.least(state, shorter)
            fair_cycle = exact or next(iter(tries), None)
            if fair_cycle is not None and (not longest or len(fair_cycle) <= longest[0]):
                best = FoundLasso(tuple(distances.path_to(state)[:-1]), fair_cycle)
                below = best.rank
            if tried >= _GREEDY_STARTS and cycles.is_exhausted:
                return best
    return best
