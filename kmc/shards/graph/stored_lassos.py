"""The search for lassos in a graph in files. It answers as `LassoSearch` does where what is left of a query fits.

The same stems, since distances are found in the same order; the same cycles, since a part of the graph whose states
are renumbered in their order gives the same choice. Where even the fair components do not fit, a fair walk through one
of them is found by rounds, and the lasso among its states: it has a shortest stem, and its cycle may be longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kmc.engine.behaviour_graph.sets import Bytes
from kmc.engine.lassos import search as lasso_search
from kmc.engine.lassos.choice import (
    CycleGraph,
    Distances,
    FoundLasso,
    LassoAnswers,
    asked_of_cycle,
    may_have_cycle,
    nearest,
    with_cycle,
)
from kmc.engine.lassos.native_graph import FairComponents, fair_components
from kmc.engine.lassos.phase_levels import Numbers
from kmc.liveness.behaviour_graph import Array
from kmc.liveness.lasso_order import LassoRank
from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, Phase, StateSet, StepSet
from kmc.shards.graph.fair_walk import fair_walk
from kmc.shards.graph.graph_rounds import GraphRounds, StoredDistances
from kmc.shards.graph.stored_components import Region, StoredComponents


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query of one graph: where cycles are searched, how the last phase is reached, and which states the cycle may
    visit.
    """

    where: StoredComponents
    distances: StoredDistances
    allowed: Bytes

    def has_any(self, states: Bytes) -> bool:
        """Whether there is a fair cycle among some states."""
        states = states & self.allowed
        return bool(self.where.staying(states).any()) or len(self.where.among(states, enough=1).ends) > 0


class StoredLassoSearch(LassoAnswers):
    """Searches a graph in files for fair lassos. The parts of the graph that come to the host need at most
    `memory_bytes`.
    """

    def __init__(self, rounds: GraphRounds, fairness: Sequence[FairnessCondition], memory_bytes: int) -> None:
        self._rounds = rounds
        self._fairness = tuple(each.condition for each in fairness)
        self._memory_bytes = memory_bytes

    @property
    def level_starts(self) -> Array:
        """See `LassoAnswers`."""
        return np.array(self._rounds.stored.level_starts, np.int64)

    @property
    def expanded(self) -> int:
        """See `LassoAnswers`."""
        return self._rounds.stored.expanded

    def states_of(self, wanted: StateSet) -> Bytes:
        """See `LassoAnswers`."""
        self._rounds.ask_about((wanted,))
        return self._rounds.set_of(wanted).copy()

    def first_dropped(self, asked: Sequence[StepSet], next_labels: frozenset[int], end: int) -> list[int | None]:
        """See `LassoAnswers`."""
        return self._rounds.first_dropped(asked, next_labels, end)

    def close(self) -> None:
        """See `LassoAnswers`."""
        self._rounds.close()

    def distances(self, phases: tuple[Phase, ...]) -> StoredDistances:
        """See `LassoAnswers`."""
        for phase in phases:
            self._rounds.ask_about((phase.enters_at, phase.states, phase.steps, phase.entered_by))
        return StoredDistances(self._rounds, phases)

    def has_lasso(self, query: LassoQuery) -> bool:
        """See `LassoAnswers`."""
        asked = self._query_masks(query)
        reached, are_all = asked.distances.reached_last(lasso_search.NEAREST_STATES)
        if asked.has_any(reached):
            return True
        return not are_all and asked.has_any(asked.distances.reached_last(None)[0])

    def _answer(self, query: LassoQuery, below: LassoRank | None) -> FoundLasso | None:
        """See `LassoAnswers`."""
        asked = self._query_masks(query)
        reached, are_all = asked.distances.reached_last(lasso_search.NEAREST_STATES)
        lasso = self._shortest(asked, reached, below)
        if are_all or lasso is not None or below is not None:
            return lasso
        return self._shortest(asked, asked.distances.reached_last(None)[0], below)

    def _query_masks(self, query: LassoQuery) -> _Asked:
        """A query of this graph."""
        never, own = asked_of_cycle(query)
        conditions = (*self._fairness, *own)
        self._rounds.ask_about((*never, *conditions))
        distances = self.distances(query.phases)
        allowed = np.arange(self._rounds.states) < self._rounds.stored.expanded
        for states in never:
            allowed &= ~self._rounds.set_of(states)
        where = StoredComponents(self._rounds, query.phases[-1].steps, conditions, self._memory_bytes)
        return _Asked(where, distances, allowed)

    def _shortest(self, asked: _Asked, states: Bytes, below: LassoRank | None) -> FoundLasso | None:
        """The shortest lasso that is found among some states."""
        where, distances, states = asked.where, asked.distances, states & asked.allowed
        lasso = nearest(distances, where.staying(states), below)
        if lasso is not None:
            below = lasso.rank
        if not may_have_cycle(below):
            return lasso
        return self._with_cycle(where, distances, where.among(states), below) or lasso

    def _with_cycle(
        self, where: StoredComponents, distances: StoredDistances, components: FairComponents, below: LassoRank | None
    ) -> FoundLasso | None:
        if not len(components.members):
            return None
        states = np.zeros(self._rounds.states, np.bool_)
        states[components.members] = True
        if where.fits(states):
            region = where.region(states)
            members = np.searchsorted(region.states, components.members).astype(np.uint32)
            return _lasso_in(region, distances, FairComponents(members, components.ends), below)
        region = where.region(self._walk(where, distances, components, states))
        everywhere = np.ones(len(region.states), np.bool_)
        fair = fair_components(region.graph, region.masks, everywhere, region.steps)
        return _lasso_in(region, distances, fair, below)

    def _walk(
        self, where: StoredComponents, distances: StoredDistances, components: FairComponents, states: Bytes
    ) -> Bytes:
        """The states of a fair walk from the nearest state of a fair component, and as many around it as fit."""
        start = next(int(here.min()) for _, level in distances.by_distance() if len(here := level[states[level]]))
        components_of = components.numbered(self._rounds.states)
        component = components_of == components_of[start]
        out = np.zeros(self._rounds.states, np.bool_)
        out[fair_walk(where, start, component)] = True
        reached = np.zeros_like(out)
        reached[start] = True
        # Among the states around it there may be a shorter cycle.
        while where.fits(reached | out):
            out |= reached
            following = self._rounds.targets(reached, component & ~reached, where.steps)
            if not following.any():
                break
            reached = reached | following
        return out

    def _label(self, state: int, target: int) -> int:
        """See `LassoAnswers`."""
        only = np.zeros(self._rounds.states, np.bool_)
        only[state] = True
        part = self._rounds.load(only).part
        return int(part.labels[part.targets == target].min())


@dataclass(frozen=True, slots=True)
class _DistancesInRegion:
    """The distances of the states of a region, by their numbers there; ways are by numbers of the graph."""

    distances: Distances
    numbers: Numbers

    def by_distance(self) -> Iterator[tuple[int, Numbers]]:
        """See `Distances`."""
        for distance, states in self.distances.by_distance():
            positions = np.searchsorted(self.numbers, states)
            positions[positions == len(self.numbers)] = 0
            here = positions[self.numbers[positions] == states]
            if len(here):
                yield distance, here.astype(np.uint32)

    def path_to(self, state: int, /) -> list[int]:
        """See `Distances`."""
        return self.distances.path_to(int(self.numbers[state]))


def _lasso_in(
    region: Region, distances: Distances, components: FairComponents, below: LassoRank | None
) -> FoundLasso | None:
    """The lasso that is found with a cycle in some components of a region."""
    cycles = CycleGraph(region.graph, region.masks, region.steps)
    lasso = with_cycle(cycles, _DistancesInRegion(distances, region.states), components, below)
    if lasso is None:
        return None
    return FoundLasso(lasso.stem, tuple(region.states[list(lasso.cycle)].tolist()))
