"""Native searches on a behaviour graph: fair components, states in which a behaviour may stay, distances by phases.

Memory beyond the graph: some 24 bytes a state while components are searched, 8 bytes a state and phase for distances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.sets import Bytes, GraphSets
from kmc.engine.lassos import component_loops, path_loops, stuttering_loops, trimming_loops
from kmc.engine.lassos.component_loops import DONE, ComponentSearch
from kmc.engine.lassos.condition_masks import ConditionMasks
from kmc.engine.lassos.path_loops import PHASES_OF_SWEEP, PhaseSearch, PhaseSweep
from kmc.engine.lassos.patience import run_loop, stop_word
from kmc.engine.lassos.phase_levels import Numbers, PhaseLevels
from kmc.engine.lassos.stuttering_loops import Scan
from kmc.engine.lassos.trimming_loops import Trimming
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.memory import Memory, address_of
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.lasso_queries import AllStates, AllSteps, AndStates, Phase


@cache
def graph_loop(function: Callable[..., int]) -> NativeLoop:
    """A native loop of this package."""
    return NativeLoop(function)


@dataclass(frozen=True, slots=True)
class FairComponents:
    """The largest sets of states that a fair cycle may visit: `members`, one after another, up to `ends`."""

    members: Numbers
    ends: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of states of each component."""
        return np.diff(self.ends, prepend=0)

    def numbered(self, states: int) -> Numbers:
        """The component of each state, from 1 on; 0 for none."""
        out = np.zeros(states, np.uint32)
        out[self.members] = np.repeat(np.arange(1, len(self.ends) + 1, dtype=np.uint32), self.sizes)
        return out

    def counts(self, states: Bytes) -> NDArray[np.int64]:
        """The number of some states in each component."""
        if not len(self.ends):
            return self.ends
        counts: NDArray[np.int64] = np.add.reduceat(states[self.members], self.ends - self.sizes, dtype=np.int64)
        return counts

    def selected(self, which: Bytes) -> FairComponents:
        """Some of the components."""
        return FairComponents(self.members[np.repeat(which, self.sizes)], np.cumsum(self.sizes[which]))

    def union(self, others: FairComponents) -> FairComponents:
        """These components and others."""
        ends = np.concatenate((self.ends, others.ends + len(self.members)))
        return FairComponents(np.concatenate((self.members, others.members)), ends)


def fair_components(
    graph: BehaviourGraph,
    masks: ConditionMasks,
    states: Bytes,
    steps: Bytes | None,
    *,
    states_max: int | None = None,
) -> FairComponents:
    """The fair components of the part of a graph that has these states and steps.

    With `states_max`, only of the so many states that a depth-first search enters first.
    """
    count = graph.expanded
    indexes = np.where(states[:count], np.uint32(0), np.uint32(DONE))
    rooms = [np.empty(size, np.uint32) for size in (count, count, 2 * count, count // 2 + 1, count)]
    ends = np.empty(count // 2 + 1, np.int64)
    search = ComponentSearch.of(Memory(ComponentSearch.WORDS))
    search.offsets, search.targets, search.labels = map(address_of, (graph.offsets, graph.targets, graph.labels))
    search.allowed, search.states, search.indexes = address_of(steps), count, address_of(indexes)
    search.stack, search.cursors, search.pending, search.sizes, search.fair = map(address_of, rooms)
    search.ends = address_of(ends)
    search.entering = count if states_max is None else states_max
    search.stopping, search.conditions = stop_word(), masks.native
    run_loop(graph_loop(component_loops.find_components), count, search)
    return FairComponents(rooms[-1][: search.fair_count].copy(), ends[: search.components].copy())


def trimmed(graph: BehaviourGraph, states: Bytes, steps: Bytes | None) -> Bytes:
    """The states, among some, that may be on a cycle of several of them with these steps. Targets of a state ascend."""
    out = states.copy()
    out[graph.expanded :] = False
    marks = out[: graph.expanded]
    trimming = Trimming.of(Memory(Trimming.WORDS))
    trimming.offsets, trimming.targets, trimming.allowed = map(address_of, (graph.offsets, graph.targets, steps))
    left, bits = np.empty(len(marks), np.uint32), np.zeros((2, len(marks) // 64 + 1), np.int64)
    trimming.left, trimming.staying, trimming.entered = map(address_of, (left, bits[0], bits[1]))
    trimming.states, trimming.marks, trimming.stopping = len(marks), address_of(marks), stop_word()
    run_loop(graph_loop(trimming_loops.trim), len(marks), trimming)
    return out


def stuttering_states(graph: BehaviourGraph, masks: ConditionMasks, candidates: Bytes) -> Bytes:
    """The states, among some, in which a behaviour may stay for ever and meet all conditions."""
    states = candidates.copy()
    states[graph.expanded :] = False
    scan = Scan.of(Memory(Scan.WORDS))
    scan.offsets, scan.targets, scan.labels = map(address_of, (graph.offsets, graph.targets, graph.labels))
    scan.states, scan.candidates, scan.conditions = graph.expanded, address_of(states), masks.native
    scan.stopping = stop_word()
    run_loop(graph_loop(stuttering_loops.find_stuttering), graph.expanded, scan)
    return states


def _unless_all(sets: GraphSets, wanted: AllStates | Any) -> Bytes | None:
    return None if wanted == AllStates() else sets.states(wanted)


class PhaseDistances(PhaseLevels):
    """The levels of a graph in memory."""

    def __init__(self, sets: GraphSets, phases: tuple[Phase, ...]) -> None:
        super().__init__(sets.graph.states, len(phases))
        self.graph = sets.graph
        self.states = [_unless_all(sets, phase.states) for phase in phases]
        self.steps = [None if phase.steps == AllSteps() else sets.steps(phase.steps) for phase in phases]
        firsts = [AndStates(tuple({phase.enters_at, phase.states} - {AllStates()})) for phase in phases]
        self._firsts = [None if first == AndStates(()) else sets.states(first) for first in firsts]
        entering = [phase.entered_by for phase in phases[1:]]
        self._entering = [None, *(None if steps == AllSteps() else sets.steps(steps) for steps in entering)]

    @property
    def are_unrestricted(self) -> bool:
        """Whether every behaviour goes through the phases, so that the last one reaches every state."""
        return self.phases == 1 and self.states[0] is None and self.steps[0] is None and self._firsts[0] is None

    def reaches(self, wanted: Bytes) -> bool:
        """Whether the last phase reaches a wanted state, at any distance."""
        if self.phases > PHASES_OF_SWEEP:
            return bool((self.reached_last(None)[0] & wanted).any())
        marks = np.zeros(self._count, np.uint8)
        if self.phases > 1 and self._is_second_phase_entered_anywhere:
            marks[self._entering_second()] = 1 << 1
        else:
            marks[self._roots()] = 1
        if (marks[wanted] >> np.uint8(self.phases - 1)).any():
            return True
        waiting = np.empty(self._count * self.phases, np.uint32)
        sweep = PhaseSweep.of(Memory(PhaseSweep.WORDS))
        sweep.offsets, sweep.targets = map(address_of, (self.graph.offsets, self.graph.targets))
        sweep.states, sweep.phases = self._count, self.phases
        tables = self._tables_of_phases()
        addresses = map(address_of, tables)
        sweep.allowed_states, sweep.first_states, sweep.allowed_steps, sweep.entering_steps = addresses
        sweep.marks, sweep.wanted, sweep.waiting = map(address_of, (marks, wanted, waiting))
        sweep.waiting_count, sweep.stopping = 0, stop_word()
        return run_loop(graph_loop(path_loops.reach_wanted), self._count, sweep) != 0

    def _tables_of_phases(self) -> list[NDArray[np.int64]]:
        """Addresses for native loops, of each phase: states, first states, steps, and steps that lead into it."""
        tables = [self.states, self._firsts, self.steps, self._entering]
        return [np.array([address_of(array) for array in table], np.int64) for table in tables]

    @property
    def _is_second_phase_entered_anywhere(self) -> bool:
        """Whether every state is reached in the first phase, and every step may lead into the second."""
        free = all(table[0] is None for table in (self.states, self.steps, self._firsts))
        return free and self._entering[1] is None

    def _entering_second(self) -> NDArray[np.intp]:
        """The states in which the second phase may begin, if any step may lead into it."""
        first = self._firsts[1]
        entered = np.ones(self._count, np.bool_) if first is None else first.copy()
        # A state that is not initial is the target of the step by which it was found.
        initial = self.graph.initial
        steps = np.flatnonzero(self.graph.targets < initial)
        targets = self.graph.targets[steps]
        sources = np.searchsorted(self.graph.offsets, steps, side="right") - 1
        again = np.zeros(initial, np.bool_)
        again[targets[targets != sources]] = True
        entered[:initial] &= again
        return np.flatnonzero(entered)

    def _roots(self) -> Numbers:
        """See `PhaseLevels`."""
        roots = np.arange(self.graph.initial, dtype=np.uint32)
        return roots if (first := self._firsts[0]) is None else roots[first[: len(roots)]]

    def _start(self) -> int:
        """See `PhaseLevels`."""
        end = super()._start()
        self._tables = self._tables_of_phases()
        search = self._search = PhaseSearch.of(Memory(PhaseSearch.WORDS))
        search.offsets, search.targets = map(address_of, (self.graph.offsets, self.graph.targets))
        search.states, search.phases = self._count, self.phases
        addresses = map(address_of, self._tables)
        search.allowed_states, search.first_states, search.allowed_steps, search.entering_steps = addresses
        search.parents, search.queue = address_of(self.parents), address_of(self.queue)
        search.begin, search.end, search.stopping = 0, end, stop_word()
        return end

    def _advance(self) -> int:
        """See `PhaseLevels`."""
        run_loop(graph_loop(path_loops.advance), self._count, self._search)
        return self._search.end
