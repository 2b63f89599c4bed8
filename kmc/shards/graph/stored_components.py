"""Fair components of a graph in files: trimmed by rounds, then found in memory, or split by rounds until they fit.

Invariant: every fair cycle among the queried states lies in one region that remains to be searched, or in a component
that was found. Trimming removes only states that are on no cycle, or on no cycle that meets every recurrence; a split
puts no two states of one component into different regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kmc.engine.behaviour_graph.sets import Bytes
from kmc.engine.lassos.condition_masks import ConditionMasks, weak_steps
from kmc.engine.lassos.native_graph import FairComponents, fair_components
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.lasso_queries import NO_STEPS, AllSteps, AndSteps, Recurrence, Response, StepSet
from kmc.shards.graph.condition_words import BadTriggers, Gathered, masks_of
from kmc.shards.graph.graph_rounds import GraphRounds
from kmc.shards.graph.graph_rows import Numbers, RowSets, packed, unpacked
from kmc.shards.graph.graph_tasks import GatherTask, StayTask, TriggerTask, gather_all

_STEP_BYTES = 36
_STATE_BYTES = 64
"""The memory of a step and a state of a region while its components are searched, beside their rows of bits."""

_BLOCK_STATES = 1 << 16
_WORTH_A_ROUND = 64
"""Trimming goes on while a round removes one state of so many."""


@dataclass(frozen=True, slots=True)
class Region:
    """Some states in memory, renumbered in their order; `steps` are those that a cycle may use, None for all."""

    states: Numbers
    graph: BehaviourGraph
    masks: ConditionMasks
    steps: Bytes | None


class StoredComponents:
    """The fair components of one query. A region may use `memory_bytes` in memory."""

    def __init__(
        self, rounds: GraphRounds, steps: StepSet, conditions: tuple[Recurrence | Response, ...], memory_bytes: int
    ) -> None:
        self.rounds, self.steps, self.conditions = rounds, steps, conditions
        self._memory_bytes = memory_bytes

    def fits(self, states: Bytes) -> bool:
        """Whether some states with their steps fit into memory."""
        rows = self.rounds.stored.format
        count = int(np.count_nonzero(states))
        left = self._memory_bytes - count * (_STATE_BYTES + rows.state_bits.row_bytes)
        return left >= 0 and self.rounds.steps_of(states) * (_STEP_BYTES + rows.step_bits.row_bytes) <= left

    def region(self, states: Bytes) -> Region:
        """Some states in memory."""
        rows = self.rounds.load(states)
        sets = RowSets(rows, self.rounds.known())
        steps = None if self.steps == AllSteps() else sets.steps(self.steps)
        return Region(rows.states, rows.graph(), masks_of(sets, self.conditions), steps)

    def staying(self, states: Bytes) -> Bytes:
        """The states, among these, in which a behaviour may stay for ever."""
        return self.rounds.of_parts(states, lambda part, bits: StayTask(part, bits, self.conditions))

    def among(self, states: Bytes, *, enough: int | None = None) -> FairComponents:
        """The fair components among some states, by numbers of the graph; with `enough`, so many will do."""
        components: list[Numbers] = []
        left = [packed(states)]
        while left and (enough is None or len(components) < enough):
            region = unpacked(left.pop(), self.rounds.states)
            if not self.fits(region):
                region = self._without_hopeless(self._trimmed(region))
            if np.count_nonzero(region) < 2:
                continue
            if self.fits(region):
                components += self._in_memory(region)
            else:
                left += [packed(bits) for bits in self._split(region, components)]
        members = np.concatenate([np.zeros(0, np.uint32), *components])
        return FairComponents(members, np.cumsum([len(each) for each in components], dtype=np.int64))

    def _in_memory(self, states: Bytes) -> list[Numbers]:
        region = self.region(states)
        everywhere = np.ones(len(region.states), np.bool_)
        components = fair_components(region.graph, region.masks, everywhere, region.steps)
        return [
            region.states[members] for members in np.split(components.members, components.ends[:-1]) if len(members)
        ]

    def _trimmed(self, region: Bytes) -> Bytes:
        """Without states that have no step to another one of the region, or from one, as long as that pays."""
        while True:
            count = int(np.count_nonzero(region))
            region = self.rounds.sources(region, self.steps)
            region = self.rounds.targets(region, region, self.steps)
            if (count - int(np.count_nonzero(region))) * _WORTH_A_ROUND <= count:
                return region

    def _without_hopeless(self, region: Bytes) -> Bytes:
        """Without states from which some recurrence is not reached inside; none if the region misses one."""
        if not region.any() or self._misses_a_recurrence(self._gathered(region)):
            return np.zeros_like(region)
        for condition in self.conditions:
            if isinstance(condition, Recurrence) and weak_steps(condition) is None:
                region = self.rounds.reaching(self.meeting(condition, region), region, self.steps)
        return region

    def meeting(self, condition: Recurrence, region: Bytes) -> Bytes:
        """The states of a region that are in the set of a condition, or that have a step of it inside."""
        states = self.rounds.set_of(condition.states) & region
        if condition.steps != NO_STEPS:
            states |= self.rounds.sources(region, AndSteps((self.steps, condition.steps)))
        return states

    def _split(self, region: Bytes, components: list[Numbers]) -> list[Bytes]:
        """The regions that remain without the component of one state; the component is kept if it is fair."""
        pivot = np.zeros_like(region)
        pivot[_middle(region)] = True
        after = self.rounds.reached(pivot, region, self.steps)
        before = self.rounds.reaching(pivot, region, self.steps)
        component = after & before
        left = [after & ~component, before & ~component, region & ~(after | before)]
        if np.count_nonzero(component) > 1:
            left += self._checked(component, components)
        return [piece for piece in left if np.count_nonzero(piece) > 1]

    def _checked(self, component: Bytes, components: list[Numbers]) -> Sequence[Bytes]:
        """The parts of a component that are still to be searched."""
        has = self._gathered(component)
        if self._misses_a_recurrence(has):
            return ()
        bad = self._bad_triggers(has)
        if not bad.rows().any():
            components.append(np.flatnonzero(component).astype(np.uint32))
            return ()
        triggering = self.rounds.of_parts(component, lambda part, bits: TriggerTask(part, bits, self.conditions, bad))
        return (component & ~triggering,)

    def _gathered(self, states: Bytes) -> Gathered:
        return gather_all(
            self.rounds.each_part(states, lambda part, bits: GatherTask(part, bits, self.steps, self.conditions))
        )

    def _misses_a_recurrence(self, has: Gathered) -> bool:
        return bool(has.lacks_recurrence(self._masks()).any())

    def _bad_triggers(self, has: Gathered) -> BadTriggers:
        return has.bad_triggers(self._masks())

    def _masks(self) -> ConditionMasks:
        """The bits of the conditions, which are those of any states."""
        return self.region(np.zeros(self.rounds.states, np.bool_)).masks


def _middle(region: Bytes) -> int:
    """The state of a region that has as many of it before it as behind it, about.

    Most steps lead to higher numbers. So the first state would reach nearly all others, and a split would take out one
    component only.
    """
    blocks = np.add.reduceat(region, np.arange(0, len(region), _BLOCK_STATES), dtype=np.int64)
    before = np.cumsum(blocks)
    block = int(np.searchsorted(before, (before[-1] + 1) // 2))
    first = block * _BLOCK_STATES
    here = np.flatnonzero(region[first : first + _BLOCK_STATES])
    return first + int(here[len(here) // 2])
