"""Searches of a graph in files by rounds: tasks read every part that may have an answer, and their answers are joined.

The host holds sets of states, a byte for each state, and no steps. Steps are read by tasks, part by part; only those of
states that fit into memory come to the host, by `load`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.sets import Bytes
from kmc.engine.lassos.phase_levels import PhaseLevels
from kmc.liveness.lasso_queries import AllStates, AllSteps, AndStates, Phase, Recurrence, Response, StateSet, StepSet
from kmc.shards.files.store import ShardStore
from kmc.shards.graph.graph_files import PartArrays, StoredGraph, read_part
from kmc.shards.graph.graph_rows import (
    BitFile,
    Bits,
    Numbers,
    PartOfGraph,
    Rows,
    read_bits,
    sets_of_targets,
    shared_bits,
    some_states,
    unpacked,
    write_bits,
)
from kmc.shards.graph.graph_tasks import (
    CountTask,
    DroppedTask,
    Nodes,
    PhaseSets,
    ReachTask,
    SetTask,
    SourcesTask,
    TargetsTask,
    first_of_each,
    position_of,
)

Run = Callable[[Sequence[Any]], Sequence[Any]]
"""Runs tasks, see `Executor.each`."""

_SWEEP_BATCHES = 32
"""The number of times that a sweep shares its results so far."""


class GraphRounds:
    """Rounds over one graph. `slots` tasks run at the same time."""

    def __init__(self, run: Run, store: ShardStore, stored: StoredGraph, slots: int = 1) -> None:
        self._run, self.store, self.stored, self._slots = run, store, stored, slots
        self._firsts = np.array([file.first for file in stored.files], np.uint32)
        self._filled = np.flatnonzero([file.end > file.first for file in stored.files])
        self._kept: dict[StateSet, BitFile] = {}
        self._known: dict[StateSet, BitFile] = {}

    @property
    def states(self) -> int:
        """The number of states of the graph."""
        return self.stored.states

    def close(self) -> None:
        """Remove the files of sets that were kept."""
        self.store.remove([bits.file.name for bits in self._kept.values()])
        self._kept, self._known = {}, {}

    def ask_about(self, asked: Iterable[StateSet | StepSet | Recurrence | Response]) -> None:
        """Evaluate the sets of target states on which these sets depend; to be called before tasks use them."""
        for states in sets_of_targets(asked):
            self._known[states] = self.bits(states)

    def known(self) -> dict[StateSet, Bits]:
        """The sets of target states that `ask_about` has evaluated."""
        return {states: read_bits(self.store, bits) for states, bits in self._known.items()}

    def bits(self, wanted: StateSet) -> BitFile:
        """The states of a set, in a file that is kept."""
        if wanted not in self._kept:
            self._kept[wanted] = write_bits(self.store, self._evaluated(wanted))
        return self._kept[wanted]

    def set_of(self, wanted: StateSet) -> Bytes:
        """The states of a set."""
        return read_bits(self.store, self.bits(wanted)).between(0, self.states)

    def _evaluated(self, wanted: StateSet) -> Bytes:
        parts = [self.part(index) for index in range(len(self._firsts))]
        return self._by_part(range(len(parts)), [SetTask(part, wanted) for part in parts])

    def part(self, index: int) -> PartOfGraph:
        """A part as tasks get it."""
        return PartOfGraph(self.stored.files[index], self.stored.format, tuple(self._known.items()))

    def parts_of(self, states: Bytes) -> list[int]:
        """The numbers of the parts that have some of these states."""
        if not len(self._filled):
            return []
        # Only of parts with states: for an empty range, `reduceat` answers for the state behind it.
        has_some = np.logical_or.reduceat(states, self._firsts[self._filled])
        indexes: list[int] = self._filled[has_some].tolist()
        return indexes

    def _by_part(self, indices: Sequence[int], tasks: Sequence[Any]) -> Bytes:
        """The states that tasks for some parts answer, all together."""
        out = np.zeros(self.states, np.bool_)
        for index, answer in self._answers(indices, tasks):
            file = self.stored.files[index]
            out[file.first : file.end] = unpacked(answer, file.end - file.first)
        return out

    def _answers(self, indices: Sequence[int], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """The number of each part, and the answer of its task; only a few answers are held at a time."""
        size = self._batch
        for begin in range(0, len(tasks), size):
            yield from zip(indices[begin : begin + size], self._run(tasks[begin : begin + size]), strict=True)

    @property
    def _batch(self) -> int:
        return max(4 * self._slots, -(-len(self._firsts) // _SWEEP_BATCHES))

    def of_parts(self, states: Bytes, task_of: Callable[[PartOfGraph, BitFile], Any]) -> Bytes:
        """The states that a task for each part with some of these states answers."""
        indices = self.parts_of(states)
        with shared_bits(self.store, states) as (within,):
            return self._by_part(indices, [task_of(self.part(index), within) for index in indices])

    def each_part(self, states: Bytes, task_of: Callable[[PartOfGraph, BitFile], Any]) -> list[Any]:
        """The results of tasks for the parts that contain some of these states, one after another."""
        indices = self.parts_of(states)
        with shared_bits(self.store, states) as (within,):
            return [answer for _, answer in self._answers(indices, [task_of(self.part(n), within) for n in indices])]

    def steps_of(self, states: Bytes) -> int:
        """The number of steps of some states."""
        return sum(self.each_part(states, CountTask))

    def sources(self, within: Bytes, steps: StepSet, goal: Bytes | None = None) -> Bytes:
        """The states of `within` with a step to one of `goal`, or to any of `within`."""
        goal = within if goal is None else within & goal
        with shared_bits(self.store, goal) as (goal_bits,):
            return self.of_parts(within, lambda part, bits: SourcesTask(part, bits, goal_bits, steps, closed=False))

    def targets(self, sources: Bytes, within: Bytes, steps: StepSet) -> Bytes:
        """The states of `within` that steps of some states lead to."""
        out = np.zeros(self.states, np.bool_)
        indices = self.parts_of(sources)
        with shared_bits(self.store, sources, within) as (source_bits, bits):
            tasks = [TargetsTask(self.part(index), source_bits, bits, steps) for index in indices]
            for _, numbers_of_part in self._answers(indices, tasks):
                out[numbers_of_part] = True
        return out

    def reaching(self, goal: Bytes, within: Bytes, steps: StepSet) -> Bytes:
        """The states of `within` from which steps through it lead to the goal, and the goal.

        A sweep goes from the last part to the first, since most steps lead to higher numbers, and each batch of tasks
        knows the results of the one before.
        """
        known = goal & within
        while True:
            before = int(np.count_nonzero(known))
            indices = self.parts_of(within & ~known)[::-1]
            with shared_bits(self.store, within) as (bits,):
                for begin in range(0, len(indices), self._batch):
                    batch = indices[begin : begin + self._batch]
                    with shared_bits(self.store, known) as (goal_bits,):
                        tasks = [SourcesTask(self.part(n), bits, goal_bits, steps, closed=True) for n in batch]
                        known |= self._by_part(batch, tasks)
            if int(np.count_nonzero(known)) == before:
                return known

    def reached(self, start: Bytes, within: Bytes, steps: StepSet) -> Bytes:
        """The states of `within` that steps through it lead to from some of it, and these."""
        known = start & within
        frontier = known
        while frontier.any():
            frontier = self.targets(frontier, within & ~known, steps) & ~known
            known = known | frontier
        return known

    def load(self, states: Bytes) -> Rows:
        """Some states with all their steps, in memory."""
        loaded: list[PartArrays] = []
        for index in self.parts_of(states):
            file = self.stored.files[index]
            part = read_part(self.store, self.stored.format, file)
            loaded.append(some_states(part, np.flatnonzero(states[file.first : file.end])))
        return Rows(np.flatnonzero(states).astype(np.uint32), _as_one_part(loaded, self.stored))

    def by_part(self, states: Numbers) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """The parts that some states are in, and the places of these."""
        owners = np.searchsorted(self._firsts, states, side="right") - 1
        order = np.argsort(owners, kind="stable")
        cuts = np.flatnonzero(np.diff(owners[order])) + 1
        for begin, end in pairwise([0, *cuts.tolist(), len(order)]):
            yield int(owners[order[begin]]), order[begin:end]

    def first_dropped(self, asked: Sequence[StepSet], next_labels: frozenset[int], end: int) -> list[int | None]:
        """For each set of steps the first state below `end` with a step of Next that a constraint drops."""
        self.ask_about(asked)
        indices = range(int(np.searchsorted(self._firsts, end)))
        tasks = [DroppedTask(self.part(index), tuple(asked), next_labels, end) for index in indices]
        earliest: list[int | None] = [None] * len(asked)
        for _, firsts in self._answers(indices, tasks):
            earliest = [first if known is None else known for known, first in zip(earliest, firsts, strict=True)]
        return earliest

    def reach(self, tasks: Sequence[ReachTask]) -> Iterator[tuple[Nodes, Nodes]]:
        """The answers of some tasks."""
        for _, answer in self._answers(range(len(tasks)), tasks):
            yield answer


def _as_one_part(parts: Sequence[PartArrays], stored: StoredGraph) -> PartArrays:
    """Parts as one."""
    rows = stored.format
    empty = (
        np.zeros(0, np.uint32),
        np.zeros(0, np.uint16),
        np.zeros((0, rows.state_bits.columns), rows.state_bits.dtype),
        np.zeros((0, rows.step_bits.columns), rows.step_bits.dtype),
    )
    begins = np.cumsum([0, *(part.offsets[-1] for part in parts)])
    offsets = [part.offsets[1:] + begin for part, begin in zip(parts, begins, strict=False)]
    names = ("targets", "labels", "state_bits", "step_bits")
    arrays = [
        np.concatenate([none, *(getattr(part, name) for part in parts)])
        for name, none in zip(names, empty, strict=True)
    ]
    return PartArrays(np.concatenate([np.zeros(1, np.int64), *offsets]), *arrays)


class StoredDistances(PhaseLevels):
    """The levels of a graph in files: one round each."""

    def __init__(self, rounds: GraphRounds, phases: Sequence[Phase]) -> None:
        super().__init__(rounds.states, len(phases))
        self._rounds = rounds
        self._phases = tuple(_sets_of_phase(rounds, phase) for phase in phases)

    @property
    def are_unrestricted(self) -> bool:
        """See `PhaseLevels`."""
        first = self._phases[0]
        return self.phases == 1 and first.states is None and first.steps == AllSteps() and first.firsts is None

    def _roots(self) -> Numbers:
        """See `PhaseLevels`."""
        roots = np.arange(self._rounds.stored.level_starts[1], dtype=np.uint32)
        firsts = self._phases[0].firsts
        return roots if firsts is None else roots[read_bits(self._rounds.store, firsts).at(roots)]

    def _start(self) -> int:
        """See `PhaseLevels`."""
        self._begin, self._end = 0, super()._start()
        return self._end

    def _advance(self) -> int:
        """See `PhaseLevels`."""
        level = self.queue[self._begin : self._end]
        pairs = [(np.zeros(0, np.uint64), np.zeros(0, np.uint64))]
        for nodes, keys in self._rounds.reach(list(self._tasks(level))):
            new = self.parents[nodes] == 0
            pairs.append((nodes[new], keys[new]))
        nodes, keys = first_of_each(*(np.concatenate(arrays) for arrays in zip(*pairs, strict=True)))
        order = np.argsort(keys)
        nodes = nodes[order]
        self.parents[nodes] = level[position_of(keys[order])] + level.dtype.type(1)
        self._begin, self._end = self._end, self._end + len(nodes)
        self.queue[self._begin : self._end] = nodes
        return self._end

    def _tasks(self, level: Numbers) -> Iterator[ReachTask]:
        count = level.dtype.type(self._count)
        states, phases = (level % count).astype(np.uint32), level // count
        for phase in np.unique(phases).tolist():
            in_phase = np.flatnonzero((phases == phase) & (states < self._rounds.stored.expanded))
            if not len(in_phase):
                continue
            for index, chosen in self._rounds.by_part(states[in_phase]):
                here = in_phase[chosen]
                part = self._rounds.part(index)
                positions = here.astype(np.uint32)
                yield ReachTask(part, states[here], positions, phase, self._phases, self._count)


def _sets_of_phase(rounds: GraphRounds, phase: Phase) -> PhaseSets:
    first = AndStates(tuple({phase.enters_at, phase.states} - {AllStates()}))
    return PhaseSets(
        None if phase.states == AllStates() else rounds.bits(phase.states),
        None if first == AndStates(()) else rounds.bits(first),
        phase.steps,
        phase.entered_by,
    )
