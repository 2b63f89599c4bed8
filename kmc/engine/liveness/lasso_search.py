"""The search for lassos: for each check, the shortest lasso that is found, or the certainty that there is none.

Whether there is a lasso is exact. So is its length where the obligations of its cycle are few and the graph has at most
`NEAREST_STATES`; elsewhere its stem is a shortest one to its cycle. The same graph and check give the same lasso,
whatever was searched before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kmc.engine.liveness.condition_masks import ConditionMasks, SetColumns
from kmc.engine.liveness.graph_sets import Bytes, GraphSets
from kmc.engine.liveness.lasso_choice import CycleGraph, FoundLasso, LassoAnswers, asked_of_cycle, nearest, with_cycle
from kmc.engine.liveness.native_graph import FairComponents, PhaseDistances, fair_components, stuttering_states, trimmed
from kmc.liveness.behaviour_graph import OUTSIDE, Array, BehaviourGraph
from kmc.liveness.lasso_queries import (
    NO_STEPS,
    FairnessCondition,
    LassoQuery,
    Phase,
    Recurrence,
    Response,
    StateSet,
    StepSet,
)

NEAREST_STATES = 1 << 18
"""A search begins with so many states of the last phase, the nearest, and mostly ends there if the property fails."""

_LEAST_WITH_STEPS = 2
_WHOLE_FROM = 1
"""The whole graph is searched once searches of its parts have seen one of so many of its states."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A query of one graph: how its last phase is reached, and what it asks of the cycle beside fairness."""

    graph: BehaviourGraph
    distances: PhaseDistances
    own: tuple[Recurrence | Response, ...]
    masks: ConditionMasks
    allowed: Bytes

    @property
    def steps(self) -> Bytes | None:
        """The steps that the cycle may take; None for all."""
        return self.distances.steps[-1]

    def among(self, states: Bytes) -> Bytes:
        """Those of some states that the cycle may visit."""
        return states & self.allowed

    def components(self, states: Bytes) -> FairComponents:
        """The fair components among some states."""
        on_cycles = trimmed(self.graph, states, self.steps)
        return fair_components(self.graph, self.masks, on_cycles, self.steps)

    def has_component(self, states: Bytes, states_max: int | None = None) -> bool:
        """Whether there is a fair component among some states, or among `states_max` of them."""
        found = fair_components(self.graph, self.masks, states, self.steps, states_max=states_max)
        return len(found.ends) > 0


class LassoSearch(LassoAnswers):
    """Searches one graph for fair lassos; what does not depend on the check is done once."""

    def __init__(self, graph: BehaviourGraph, fairness: Sequence[FairnessCondition]) -> None:
        # Loops read them by address. Nothing is copied where they are as the graph's docstring says.
        offsets, targets = np.ascontiguousarray(graph.offsets, np.int64), np.ascontiguousarray(graph.targets, np.uint32)
        labels = np.ascontiguousarray(graph.labels, np.uint16)
        graph = self.graph = replace(graph, offsets=offsets, targets=targets, labels=labels)
        self._fairness = tuple(each.condition for each in fairness)
        self._sets = GraphSets(graph)
        self._columns = SetColumns(self._sets, self._fairness)
        self._fair_masks = ConditionMasks(self._columns, self._fairness)
        self._staying: Bytes | None = None
        self._whole: FairComponents | None = None
        self._last: tuple[Bytes, FairComponents] | None = None
        self._searched = 0

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
        found = (dropped[self._sets.dropped_steps(steps, dropped)] for steps in asked)
        firsts = (places[:1] for places in found)
        return [int(np.searchsorted(graph.offsets, first[0], "right")) - 1 if len(first) else None for first in firsts]

    def close(self) -> None:
        """See `LassoAnswers`: there is nothing to give back."""

    def distances(self, phases: tuple[Phase, ...]) -> PhaseDistances:
        """See `LassoAnswers`."""
        return PhaseDistances(self._sets, phases)

    def has_lasso(self, query: LassoQuery) -> bool:
        """See `LassoAnswers`."""
        return self._is_answered(self._question(query))

    def _is_answered(self, question: _Question) -> bool:
        """Whether there is a lasso. Cycles are searched first: mostly there is none, whatever is reached."""
        last = question.distances.states[-1]
        states = question.allowed if last is None else question.among(last)
        anywhere = question.distances.are_unrestricted
        if anywhere and question.has_component(states, NEAREST_STATES):
            return True
        on_cycles = self._staying_in(question, states)
        if not (anywhere and on_cycles.any()):
            on_cycles[self._components(question, states).members] = True
        if not on_cycles.any():
            return False
        return anywhere or bool((on_cycles & question.distances.all_reached_last()).any())

    def _answer(self, query: LassoQuery, below: int | None) -> FoundLasso | None:
        """See `LassoAnswers`."""
        question = self._question(query)
        if below is None and self.graph.states > NEAREST_STATES and not self._is_answered(question):
            return None
        reached, are_all = question.distances.reached_last(NEAREST_STATES)
        near = question.among(reached)
        staying = stuttering_states(self.graph, question.masks, near)
        found = self._shortest(question, staying, partial(question.components, near), below)
        # A lasso that is known already, or one farther away, is not worth a search of a large graph.
        if are_all or found is not None or below is not None:
            return found
        states = question.among(question.distances.reached_last(None)[0])
        staying = self._staying_in(question, states)
        return self._shortest(question, staying, partial(self._components, question, states), below)

    def _question(self, query: LassoQuery) -> _Question:
        never, own = asked_of_cycle(query)
        masks = ConditionMasks(self._columns, (*self._fairness, *own)) if own else self._fair_masks
        allowed = np.zeros(self.graph.states, np.bool_)
        allowed[: self.graph.expanded] = True
        for states in never:
            allowed &= ~self._sets.states(states)
        return _Question(self.graph, self.distances(query.phases), own, masks, allowed)

    def _shortest(
        self, question: _Question, staying: Bytes, components: Callable[[], FairComponents], below: int | None
    ) -> FoundLasso | None:
        """The shortest lasso that is found: in a state to stay in, or with a cycle in a fair component."""
        found = nearest(question.distances, staying, below)
        if found is not None:
            below = found.length
        if below is not None and below <= _LEAST_WITH_STEPS:
            return found
        cycles = CycleGraph(question.graph, question.masks, question.steps)
        return with_cycle(cycles, question.distances, components(), below) or found

    def _staying_in(self, question: _Question, states: Bytes) -> Bytes:
        """Those of some states in which a behaviour may stay for ever and answer a query."""
        staying = self._states_to_stay_in() & states
        if question.own and staying.any():
            staying = stuttering_states(self.graph, question.masks, staying)
        return staying

    def _states_to_stay_in(self) -> Bytes:
        """Where a fair behaviour may stay for ever."""
        if self._staying is None:
            everywhere = np.ones(self.graph.states, np.bool_)
            self._staying = stuttering_states(self.graph, self._fair_masks, everywhere)
        return self._staying

    def _components(self, question: _Question, states: Bytes) -> FairComponents:
        """The fair components of a query among some states.

        Each lies in a fair component of the whole graph. Where that is not cut, and all that the query asks is that
        states recur, there is nothing to search.
        """
        simple = question.masks is self._fair_masks and question.steps is None
        if simple and self._last is not None and np.array_equal(self._last[0], states):
            return self._last[1]
        # A few states are not worth a search of the whole graph, until there have been several such searches.
        self._searched += int(np.count_nonzero(states))
        if self._whole is None and self._searched < self.graph.expanded // _WHOLE_FROM:
            found = question.components(states)
            if simple:
                # The queries of one check mostly differ in the way to the last phase only.
                self._last = states, found
            return found
        whole = self._whole_components()
        kept = whole.counts(states)
        unchanged = kept == whole.sizes
        recurring = [each.states for each in question.own if isinstance(each, Recurrence) and each.steps == NO_STEPS]
        if len(recurring) < len(question.own) or question.steps is not None:
            unchanged[:] = False
        found = unchanged.copy()
        for wanted in recurring:
            if found.any():
                found &= whole.counts(self._sets.states(wanted)) != 0
        found_whole = whole.selected(found)
        cut = (kept > 1) & ~unchanged
        if not cut.any():
            return found_whole
        candidates = np.zeros(self.graph.states, np.bool_)
        candidates[whole.selected(cut).members] = True
        return found_whole.joined(question.components(states & candidates))

    def _whole_components(self) -> FairComponents:
        """The fair components of the whole graph."""
        if self._whole is None:
            on_cycles = trimmed(self.graph, np.ones(self.graph.states, np.bool_), None)
            self._whole = fair_components(self.graph, self._fair_masks, on_cycles, None)
        return self._whole

    def _label(self, state: int, target: int) -> int:
        """See `LassoAnswers`."""
        first, end = map(int, self.graph.offsets[state : state + 2])
        place = first + int(np.searchsorted(self.graph.targets[first:end], target))
        assert self.graph.targets[place] == target, "a lasso is made of steps"
        return int(self.graph.labels[place])
