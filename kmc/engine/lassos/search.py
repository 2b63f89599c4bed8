"""The search for lassos: for each check, the shortest lasso that is found, or the certainty that there is none.

Whether there is a lasso is exact. Its length is the least if its cycle has few obligations and the graph has at most
`NEAREST_STATES`; otherwise its stem is a shortest one to its cycle. The same graph and check give the same lasso,
whatever was searched before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kmc.engine.behaviour_graph.sets import Bytes, GraphSets
from kmc.engine.lassos.choice import CycleGraph, FoundLasso, LassoAnswers, may_have_cycle, nearest, with_cycle
from kmc.engine.lassos.fair_cycles import AskedCycle, CycleDescription, FairCycles
from kmc.engine.lassos.native_graph import FairComponents, PhaseDistances
from kmc.engine.lassos.phase_levels import Numbers
from kmc.liveness.behaviour_graph import OUTSIDE, Array, BehaviourGraph
from kmc.liveness.lasso_order import LassoRank
from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, Phase, StateSet, StepSet, TemporalCheck

NEAREST_STATES = 1 << 18
"""A search begins with so many states of the last phase, the nearest, and mostly ends there if the property fails."""

_WHOLE_FROM = 4
"""The whole graph is trimmed once queries have covered one in this number of its states."""

_TIMES_LEFT = 6
"""Its fair cycles are searched once queries have covered this many times the states that remain after trimming."""

_FEW_OF = 8
"""States on fair cycles become a graph of their own if they are at most one of so many."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A query of the whole graph: the conditions on the cycle, and the paths to the last phase."""

    asked: AskedCycle
    distances: PhaseDistances


class LassoSearch(LassoAnswers):
    """Searches one graph for fair lassos; work that does not depend on the check is done once.

    `checks` are those that are likely to follow: cycles are searched only among the states that these checks may visit.
    """

    def __init__(
        self, graph: BehaviourGraph, fairness: Sequence[FairnessCondition], checks: Sequence[TemporalCheck] = ()
    ) -> None:
        # Loops read them by address. Nothing is copied where they are as the graph's docstring says.
        offsets, targets = np.ascontiguousarray(graph.offsets, np.int64), np.ascontiguousarray(graph.targets, np.uint32)
        labels = np.ascontiguousarray(graph.labels, np.uint16)
        graph = self.graph = replace(graph, offsets=offsets, targets=targets, labels=labels)
        self._sets = GraphSets(graph)
        self._fairness = [each.condition for each in fairness]
        self._search_among(CycleDescription.of(query) for check in checks for query in check.queries)
        self._is_trial_worth = True
        self._searched = 0
        self._last: tuple[CycleDescription, Numbers] | None = None

    def _search_among(self, expected: Iterable[CycleDescription]) -> None:
        """Begin with the states that the expected cycles may visit; with the whole graph if no cycle is expected."""
        self._everywhere = FairCycles(self.graph, self._sets, self._fairness, expected)
        # The states for queries: once all fair cycles are known, those on fair cycles if these are few.
        self._cycles = self._everywhere
        self._is_narrowed = False

    def _description(self, query: LassoQuery) -> CycleDescription:
        """The conditions that a query puts on its cycle. If that cycle was not expected, cycles are searched anew."""
        cycle = CycleDescription.of(query)
        if not self._everywhere.is_expected(cycle):
            self._search_among(())
        return cycle

    @property
    def level_starts(self) -> Array:
        """See `LassoAnswers`."""
        return self.graph.level_starts

    @property
    def expanded(self) -> int:
        """See `LassoAnswers`."""
        return self.graph.expanded

    def states_of(self, wanted: StateSet) -> Bytes:
        """See `LassoAnswers`."""
        return self._sets.states(wanted).copy()

    def first_dropped(self, asked: Sequence[StepSet], next_labels: frozenset[int], end: int) -> list[int | None]:
        """See `LassoAnswers`."""
        graph, places_end = self.graph, int(self.graph.offsets[end])
        outside = graph.targets[:places_end] == OUTSIDE
        outside &= np.isin(graph.labels[:places_end], sorted(next_labels))
        dropped = np.flatnonzero(outside)
        dropped_of = (dropped[self._sets.dropped_steps(steps, dropped)] for steps in asked)
        firsts = (indices[:1] for indices in dropped_of)
        return [int(np.searchsorted(graph.offsets, first[0], "right")) - 1 if len(first) else None for first in firsts]

    def close(self) -> None:
        """See `LassoAnswers`: there is nothing to give back."""

    def distances(self, phases: tuple[Phase, ...]) -> PhaseDistances:
        """See `LassoAnswers`."""
        return PhaseDistances(self._sets, phases)

    def has_lasso(self, query: LassoQuery) -> bool:
        """See `LassoAnswers`. Cycles are searched first: mostly there is none, whatever is reached."""
        cycle = self._description(query)
        if query.phases == (Phase(),):
            return self._has_cycle(cycle)
        # The queries of one check mostly differ in the way to the last phase only.
        if self._last is None or self._last[0] != cycle:
            asked = self._masks_of(cycle)
            on_cycles = self._cycles.staying(asked, asked.states)
            on_cycles[self._cycles.components(asked, asked.states).members] = True
            self._last = cycle, self._cycles.numbers_of(on_cycles)
        states = self._last[1]
        if not len(states):
            return False
        wanted = np.zeros(self.graph.states, np.bool_)
        wanted[states] = True
        return self.distances(query.phases).reaches(wanted)

    def _has_cycle(self, cycle: CycleDescription) -> bool:
        """Whether there is a cycle, reached by whatever way."""
        if self._cycles is self._everywhere and self._is_trial_worth:
            if self._cycles.has_component(self._cycles.masks_of(cycle), NEAREST_STATES):
                return True
            # If one property holds, others mostly do.
            self._is_trial_worth = False
        asked = self._masks_of(cycle)
        if self._cycles.staying(asked, asked.states).any():
            return True
        return len(self._cycles.components(asked, asked.states).ends) > 0

    def _masks_of(self, cycle: CycleDescription) -> AskedCycle:
        """The query as masks, for `_cycles`. After queries over enough states, the states on fair cycles are computed
        first.
        """
        asked = self._cycles.masks_of(cycle)
        if self._is_narrowed:
            return asked
        self._searched += int(np.count_nonzero(asked.states))
        if self._searched < self.graph.expanded // _WHOLE_FROM:
            return asked
        if self._searched < _TIMES_LEFT * np.count_nonzero(self._everywhere.left()):
            return asked
        self._is_narrowed = True
        on_cycles = self._everywhere.on_cycles()
        if np.count_nonzero(on_cycles) > self.graph.expanded // _FEW_OF:
            return asked
        self._cycles = self._everywhere.among(on_cycles)
        return self._cycles.masks_of(cycle)

    def _answer(self, query: LassoQuery, below: LassoRank | None) -> FoundLasso | None:
        """See `LassoAnswers`."""
        if below is None and self.graph.states > NEAREST_STATES and not self.has_lasso(query):
            return None
        cycle, distances = self._description(query), self.distances(query.phases)
        cycles = self._everywhere
        asked = cycles.masks_of(cycle)
        question = _Question(asked, distances)
        reached, are_all = distances.reached_last(NEAREST_STATES)
        near = reached & asked.states
        staying = cycles.staying_among(asked, near)
        lasso = self._shortest(question, staying, partial(cycles.searched, asked, near), below)
        # A lasso that is known already, or one farther away, is not worth a search of a large graph.
        if are_all or lasso is not None or below is not None:
            return lasso
        states = distances.reached_last(None)[0] & asked.states
        staying = cycles.staying(asked, states)
        return self._shortest(question, staying, partial(cycles.components, asked, states), below)

    def _shortest(
        self, question: _Question, staying: Bytes, components: Callable[[], FairComponents], below: LassoRank | None
    ) -> FoundLasso | None:
        """The shortest lasso that is found: in a state to stay in, or with a cycle in a fair component."""
        lasso = nearest(question.distances, staying, below)
        if lasso is not None:
            below = lasso.rank
        if not may_have_cycle(below):
            return lasso
        cycles = CycleGraph(self.graph, question.asked.masks, question.asked.steps)
        return with_cycle(cycles, question.distances, components(), below) or lasso

    def _label(self, state: int, target: int) -> int:
        """See `LassoAnswers`."""
        first, end = map(int, self.graph.offsets[state : state + 2])
        step = first + int(np.searchsorted(self.graph.targets[first:end], target))
        assert self.graph.targets[step] == target, "a lasso is made of steps"
        return int(self.graph.labels[step])
