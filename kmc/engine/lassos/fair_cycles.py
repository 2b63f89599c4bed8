"""The states where cycles of fair lassos are searched: the whole graph, or only states on some fair cycle.

Every cycle that a query describes is fair. So once the states on fair cycles are known, a query searches only these. If
they are few, as is common, they become a graph of their own, and a query costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from kmc.engine.behaviour_graph.sets import Bytes, GraphSets, StepBlock
from kmc.engine.lassos.choice import asked_of_cycle
from kmc.engine.lassos.condition_masks import ConditionMasks, SetColumns
from kmc.engine.lassos.native_graph import FairComponents, fair_components, stuttering_states, trimmed
from kmc.engine.lassos.phase_levels import Numbers
from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph
from kmc.liveness.lasso_queries import (
    NO_STEPS,
    AllStates,
    AllSteps,
    AndStates,
    HasStep,
    LassoQuery,
    NotStates,
    OrStates,
    Recurrence,
    Response,
    StateSet,
    StepSet,
)

Visited: TypeAlias = tuple[StateSet, tuple[StateSet, ...]]
"""The states of one set that are in none of others."""

_EXPECTED_MAX = 32


@dataclass(frozen=True, slots=True)
class CycleDescription:
    """The conditions that a query puts on its cycle beside fairness: no state of `never`, and all of `own`."""

    phase_states: StateSet
    phase_steps: StepSet
    never: tuple[StateSet, ...]
    own: tuple[Recurrence | Response, ...]

    @classmethod
    def of(cls, query: LassoQuery) -> CycleDescription:
        """That of a query."""
        never, own = asked_of_cycle(query)
        return cls(query.phases[-1].states, query.phases[-1].steps, tuple(never), own)

    @property
    def visited(self) -> Visited:
        """The states that the cycle may visit: those of one set, and none of others."""
        return self.phase_states, self.never


@dataclass(frozen=True, slots=True)
class AskedCycle:
    """The states and steps of a graph that a cycle may have, and the conditions on it; `steps` None: any step."""

    states: Bytes
    steps: Bytes | None
    own: tuple[Recurrence | Response, ...]
    masks: ConditionMasks


class FairCycles:
    """The fair cycles of a graph. With `expected`, those among the states that some of these cycles may visit.

    Then only expected cycles may be queried: if properties forbid states, less of the graph is searched.
    """

    def __init__(
        self,
        graph: BehaviourGraph,
        sets: GraphSets,
        fairness: Sequence[Recurrence | Response],
        expected: Iterable[CycleDescription] = (),
    ) -> None:
        self.graph, self.sets = graph, sets
        self._expected = _worth_expecting(expected)
        self._fairness = tuple(fairness)
        self._columns = SetColumns(sets, self._fairness)
        self._fair_masks = ConditionMasks(self._columns, self._fairness)
        self._staying: Bytes | None = None
        self._left: Bytes | None = None
        self._all: FairComponents | None = None

    def masks_of(self, cycle: CycleDescription) -> AskedCycle:
        """The query as masks: the states and steps that its cycle may use, and its conditions."""
        own = cycle.own
        masks = ConditionMasks(self._columns, (*self._fairness, *own)) if own else self._fair_masks
        steps = None if cycle.phase_steps == AllSteps() else self.sets.steps(cycle.phase_steps)
        return AskedCycle(self._visited(*cycle.visited), steps, own, masks)

    def is_expected(self, cycle: CycleDescription) -> bool:
        """Whether a cycle may be queried: it visits only states that an expected cycle may visit."""
        return not self._expected or cycle.visited in self._expected

    def _visited(self, inside: StateSet, never: tuple[StateSet, ...]) -> Bytes:
        """The expanded states of a set that are in none of others."""
        states = np.zeros(self.graph.states, np.bool_)
        states[: self.graph.expanded] = True
        if inside != AllStates():
            states &= self.sets.states(inside)
        for each in never:
            states &= ~self.sets.states(each)
        return states

    def _domain(self) -> Bytes:
        """The states that cycles which are expected may visit."""
        if not self._expected:
            return self._visited(AllStates(), ())
        states = np.zeros(self.graph.states, np.bool_)
        for visited in self._expected:
            states |= self._visited(*visited)
        return states

    def numbers_of(self, states: Bytes) -> Numbers:
        """The numbers that some states have in the whole graph."""
        return np.flatnonzero(states).astype(np.uint32)

    def staying(self, asked: AskedCycle, states: Bytes) -> Bytes:
        """The states, among some, in which a behaviour may stay for ever and answer a query."""
        staying = self._states_to_stay_in() & states
        return self.staying_among(asked, staying) if asked.own and staying.any() else staying

    def staying_among(self, asked: AskedCycle, states: Bytes) -> Bytes:
        """`staying` of a few states, without a look at the others."""
        return stuttering_states(self.graph, asked.masks, states)

    def components(self, asked: AskedCycle, states: Bytes) -> FairComponents:
        """The fair components of a query among some states.

        Each lies in a fair component of the whole graph. If that is known and not cut, and the query only requires that
        states recur, there is nothing to search.
        """
        if self._all is None:
            return self.searched(asked, states)
        kept = self._all.counts(states)
        unchanged = kept == self._all.sizes
        recurring = [each.states for each in asked.own if isinstance(each, Recurrence) and each.steps == NO_STEPS]
        if len(recurring) < len(asked.own) or asked.steps is not None:
            unchanged[:] = False
        whole = unchanged.copy()
        for wanted in recurring:
            if whole.any():
                whole &= self._all.counts(self.sets.states(wanted)) != 0
        found_whole = self._all.selected(whole)
        cut = (kept > 1) & ~unchanged
        if not cut.any():
            return found_whole
        candidates = np.zeros(self.graph.states, np.bool_)
        candidates[self._all.selected(cut).members] = True
        return found_whole.union(self.searched(asked, states & candidates))

    def searched(self, asked: AskedCycle, states: Bytes) -> FairComponents:
        """The fair components among some states, whatever is known of components."""
        if self._left is not None:
            states = states & self._left
        return fair_components(self.graph, asked.masks, trimmed(self.graph, states, asked.steps), asked.steps)

    def has_component(self, asked: AskedCycle, states_max: int) -> bool:
        """Whether there is a fair component among so many of the states that a cycle may visit."""
        components = fair_components(self.graph, asked.masks, asked.states, asked.steps, states_max=states_max)
        return len(components.ends) > 0

    def left(self) -> Bytes:
        """The states that remain after trimming all states that a query may use."""
        if self._left is None:
            self._left = trimmed(self.graph, self._domain(), None)
        return self._left

    def on_cycles(self) -> Bytes:
        """The states that some expected fair cycle visits. From now on it is known in which components."""
        if self._all is None:
            self._all = fair_components(self.graph, self._fair_masks, self.left(), None)
        on_cycles = self._states_to_stay_in().copy()
        on_cycles[self._all.members] = True
        return on_cycles

    def _states_to_stay_in(self) -> Bytes:
        """The states where a fair behaviour may stutter for ever."""
        if self._staying is None:
            self._staying = stuttering_states(self.graph, self._fair_masks, self._domain())
        return self._staying

    def among(self, states: Bytes) -> FairCyclesOfPart:
        """Those that visit only some of the states."""
        return FairCyclesOfPart(self.sets, np.flatnonzero(states).astype(np.uint32), self._fairness)


def _worth_expecting(cycles: Iterable[CycleDescription]) -> frozenset[Visited]:
    """Return the sets that the cycles may visit, if they are few and cheap to compute; else nothing, so that all cycles
    are expected.
    """
    visited = frozenset(cycle.visited for cycle in cycles)
    cheap = all(_needs_no_steps(states) for inside, never in visited for states in (inside, *never))
    return visited if cheap and len(visited) <= _EXPECTED_MAX else frozenset()


def _needs_no_steps(states: StateSet) -> bool:
    match states:
        case HasStep():
            return False
        case NotStates(part):
            return _needs_no_steps(part)
        case AndStates(parts) | OrStates(parts):
            return all(map(_needs_no_steps, parts))
        case _:
            return True


class FairCyclesOfPart(FairCycles):
    """The fair cycles of a graph among some of its states, `numbers`, which are numbered anew in this order."""

    def __init__(self, whole: GraphSets, states: Numbers, fairness: Sequence[Recurrence | Response]) -> None:
        part = _part_of(whole.graph, states)
        positions = np.searchsorted(states, part.targets)
        positions[positions == len(states)] = 0
        inside = states[positions] == part.targets if len(states) else np.zeros(len(part.targets), np.bool_)
        # Steps to other states enable, and lead nowhere.
        local = replace(part, targets=np.where(inside, positions, OUTSIDE).astype(np.uint32))
        super().__init__(local, _SetsOfPart(part, states, whole), fairness)
        self._numbers = states

    def numbers_of(self, states: Bytes) -> Numbers:
        """See `FairCycles`."""
        return self._numbers[states]

    def searched(self, asked: AskedCycle, states: Bytes) -> FairComponents:
        """See `FairCycles`: targets do not ascend, so nothing is trimmed."""
        return fair_components(self.graph, asked.masks, states, asked.steps)


class _SetsOfPart(GraphSets):
    """The sets of a part of a graph. Its targets are numbers of the whole graph."""

    def __init__(self, part: BehaviourGraph, states: Numbers, whole: GraphSets) -> None:
        super().__init__(part)
        self._numbers, self._whole = states, whole

    def _source_numbers(self, block: StepBlock) -> Numbers:
        """See `GraphSets`."""
        return np.repeat(self._numbers[block.first : block.end], block.degrees)

    def _are_in(self, states: StateSet, indices: Numbers, sets: dict[StateSet, Bytes]) -> Bytes:
        """See `GraphSets`."""
        return self._whole.states(states)[indices]


def _part_of(graph: BehaviourGraph, states: Numbers) -> BehaviourGraph:
    """Some expanded states with their steps, as a graph whose targets are numbers of the whole one."""
    begins = graph.offsets[states]
    degrees = graph.offsets[states.astype(np.int64) + 1] - begins
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(degrees, dtype=np.int64)))
    steps = np.repeat(begins - offsets[:-1], degrees) + np.arange(offsets[-1])
    return BehaviourGraph(
        level_starts=np.array([0, len(states)], np.int64),
        expanded=len(states),
        offsets=offsets,
        targets=graph.targets[steps],
        labels=graph.labels[steps],
        state_bits=graph.state_bits[states],
        step_bits=graph.step_bits[steps],
    )
