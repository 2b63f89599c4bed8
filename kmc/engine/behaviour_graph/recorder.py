"""The behaviour graph of a search in memory, made level by level from the records of its threads.

Invariant: numbers and the order of steps depend on the model alone. When a level has been made, its states have
numbers, and the steps that lead to it or to earlier levels are translated and their log is freed. So the log holds the
steps of one level at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.early_lassos import EarlyLassos
from kmc.engine.behaviour_graph.recorded_levels import RecordedLevels, StepPart
from kmc.engine.behaviour_graph.recording import NotingKernels
from kmc.engine.behaviour_graph.state_order import StateOrder, packed
from kmc.engine.behaviour_graph.step_arena import StepArena
from kmc.engine.behaviour_graph.words import LevelReader, words_of_level
from kmc.engine.behaviour_graph.worker import Block, NotingWorker, words_of
from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import GraphPart, Shared
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.loops.compiled_loops import graph_loop
from kmc.engine.native.memory import Memory, Words, address_of, reserved
from kmc.engine.native.threads import WorkerPool, each_on
from kmc.engine.native.words import Address
from kmc.engine.stores.fingerprint_table import FingerprintTable
from kmc.engine.stores.memory_budget import MemoryBudget
from kmc.liveness.behaviour_graph import BehaviourGraph

_PART_STATES = 1 << 14
_PARTS_A_THREAD = 8
_STEP_BYTES = 10
_NUMBERS_SHARE = 4
_SEARCH_BYTES = 60
"""The bytes for a state while its graph is searched for lassos."""


@dataclass(frozen=True, slots=True)
class _Written:
    """The number of steps of a part that were written, and the bits of their predicates."""

    steps: int
    bits: NDArray[Any]


class GraphRecorder:
    """Makes the graph of one search with these kernels. `atoms` and `step_atoms`: the number of each.

    `apart` has a word per action instance, 1 for an instance that is not part of the next-state relation. `early`
    decides at the end of each level whether the search may end.
    """

    def __init__(
        self,
        kernels: KernelTable,
        atoms: int = 0,
        step_atoms: int = 0,
        apart: Words | None = None,
        early: EarlyLassos | None = None,
    ) -> None:
        self._apart = apart.tolist() if apart is not None else []
        self.change_kernels(kernels)
        self._atoms, self._step_atoms = atoms, step_atoms
        self._workers: list[NotingWorker] = []
        self._expanded = 0
        self._fingerprints: list[NDArray[np.int64]] = []
        self._levels = RecordedLevels()
        self._starts = self._levels.starts
        self._counts: list[NDArray[np.uint32]] = []
        self._arena = StepArena()
        self._early = early
        self._order = StateOrder(wide=kernels.wide, atoms=atoms, atom_words=len(kernels.atoms))
        self.is_refuted = False
        self._numbers = Memory(1)
        self._slots = 0

    def change_kernels(self, kernels: KernelTable, /) -> None:
        """See `LevelRecorder`."""
        self._kernels = kernels
        self._noting = NotingKernels(kernels, self._apart)

    def worker(self, budget: MemoryBudget, batch: int, actions: int, properties: int, /) -> NotingWorker:
        """See `LevelRecorder`."""
        self._workers.append(NotingWorker(budget, batch, actions, properties, self._kernels))
        return self._workers[-1]

    def tell(self, shared: Shared, /) -> None:
        """See `LevelRecorder`."""
        self._noting.tell(shared)

    @property
    def more_bytes(self) -> int:
        """See `LevelRecorder`."""
        words = 1 + len(self._kernels.step_atoms) + (2 if self._kernels.wide else 0)
        steps = sum(worker.noted_words for worker in self._workers) // words
        states = self._starts[-1] + sum(worker.thread.stored_in_level for worker in self._workers)
        return steps * _STEP_BYTES + states * _SEARCH_BYTES

    @property
    def bytes_to_grow(self) -> int:
        """See `LevelRecorder`."""
        words = sum(worker.noted_words for worker in self._workers)
        return 0 if self._kernels.wide else 2 * words * f.WORD_BYTES

    def before_growth(self, known: FingerprintTable, threads: WorkerPool, /) -> None:
        """See `LevelRecorder`: replaces recorded slots by fingerprints."""

        def unfolded(block: Block, memory: Memory) -> int:
            part = self._part(known)
            part.steps = block[0].address
            part.steps_end = Address(part.steps + block[1] * f.WORD_BYTES)
            part.entries = memory.address
            return self._loop("unfold_steps")(part)

        if not self._kernels.wide:
            each_on(threads, lambda worker: worker.rewrite_steps(unfolded), self._workers)

    def level_made(self, known: FingerprintTable, threads: WorkerPool, /) -> None:
        """See `LevelRecorder`."""
        self._add_states(known, threads)
        logs = [worker.take_steps() for worker in self._workers]
        if len(self._starts) > 2:
            self._add_steps(known, threads, [log for taken in logs for log in taken])
        for worker, taken in zip(self._workers, logs, strict=True):
            worker.give_back(taken)
        if len(self._starts) > 2:
            self._look_early(len(self._starts) - 3)

    def words_of_level(self, level: int, /) -> Iterator[Words]:
        """See `LevelRecorder`."""
        first, end = self._starts[level - 1 : level + 1] if level > 0 else (0, 0)
        parts = [part for part in self._levels.parts if first <= part.first < end]
        return words_of_level(self._fingerprints[level], self._levels.state_bits[level], parts)

    def restore(self, words: Words, levels: int, /) -> None:
        """See `LevelRecorder`."""
        kernels = self._kernels
        reader = LevelReader(
            words,
            np.zeros((0, 1 + kernels.wide), np.int64),
            packed(np.zeros((0, len(kernels.atoms)), np.int64), self._atoms),
            packed(np.zeros((0, len(kernels.step_atoms)), np.int64), self._step_atoms),
        )
        for level in range(levels):
            fingerprints, state_bits, parts = reader.states()
            for _ in range(parts):
                part = reader.part(self._expanded)
                steps = self._arena.append(part.targets, part.labels)
                part.targets, part.labels = self._arena.targets(steps), self._arena.labels(steps)
                self._levels.parts.append(part)
                self._counts.append(part.counts)
                self._expanded += len(part.counts)
            self._fingerprints.append(fingerprints)
            self._levels.state_bits.append(state_bits)
            self._starts.append(self._starts[-1] + len(fingerprints))
            if level > 0:
                self._look_early(level - 1)

    def _look_early(self, level: int) -> None:
        if self._early is not None and not self.is_refuted:
            self.is_refuted = self._early.is_found(self._levels, level)

    def _add_states(self, known: FingerprintTable, threads: WorkerPool) -> None:
        """Number the new states."""
        noted = [worker.take_states() for worker in self._workers]
        fingerprints, bits = self._order.ordered([words for blocks in noted for words in words_of(blocks)], threads)
        for worker, blocks in zip(self._workers, noted, strict=True):
            worker.give_back(blocks)
        self._fingerprints.append(fingerprints)
        self._levels.state_bits.append(bits)
        self._starts.append(self._starts[-1] + len(fingerprints))
        levels = range(len(self._fingerprints))[-1:]
        if known.slots != self._slots:
            # A table that has grown has other slots.
            if known.slots > 2 * self._numbers.words:
                self._numbers = Memory(1)
                self._numbers = reserved(known.slots // 2 + 1, _NUMBERS_SHARE)
            self._slots = known.slots
            levels = range(len(self._fingerprints))
        slices = [
            (self._starts[level] + start, self._fingerprints[level][start : start + _PART_STATES])
            for level in levels
            for start in range(0, len(self._fingerprints[level]), _PART_STATES)
        ]
        each_on(threads, lambda numbered: self._number(known, *numbered), slices)

    def _part(self, known: FingerprintTable) -> GraphPart:
        part = GraphPart.of(Memory(GraphPart.WORDS))
        part.table, part.slots, part.numbers = known.address, known.slots, self._numbers.address
        part.step_atom_words = len(self._kernels.step_atoms)
        return part

    def _number(self, known: FingerprintTable, first: int, fingerprints: NDArray[np.int64]) -> None:
        """Give states their numbers, from `first` on."""
        part = self._part(known)
        part.first = first
        self._loop("give_numbers")(part, address_of(fingerprints), len(fingerprints))

    def _loop(self, name: str) -> Callable[..., int]:
        return graph_loop(name, self._kernels.wide, notes_slots=not self._kernels.wide)

    def _add_steps(self, known: FingerprintTable, threads: WorkerPool, logs: list[tuple[Memory, int]]) -> None:
        """Translate the steps of the level that was expanded, on all threads."""
        first, end = self._starts[-3:-1]
        addresses, counts = Memory(end - first), np.zeros(end - first, np.uint32)

        def part_of_level() -> GraphPart:
            part = self._part(known)
            part.places, part.counts, part.first = addresses.address, address_of(counts), first
            return part

        def find(log: tuple[Memory, int]) -> None:
            part = part_of_level()
            part.steps = log[0].address
            part.steps_end = Address(part.steps + log[1] * f.WORD_BYTES)
            self._loop("find_sources")(part)

        def write(task: tuple[int, int, int]) -> _Written:
            part = part_of_level()
            part.start, part.end = task[:2]
            return self._written(part, counts[slice(*task[:2])], task[2])

        each_on(threads, find, logs)
        size = max(_PART_STATES, -(-(end - first) // (_PARTS_A_THREAD * threads.size)))
        bounds = [*range(0, end - first, size), end - first]
        sums = [0, *np.cumsum(np.add.reduceat(counts, bounds[:-1], dtype=np.int64)).tolist()]
        for index in range(0, len(bounds) - 1, threads.size):
            # Until it is known how many steps are the same, there is a gap behind each part.
            free = self._arena.used - sums[index]
            tasks = [(*states, free + before) for states, before in zip(pairwise(bounds), sums, strict=False)]
            tasks = tasks[index : index + threads.size]
            for (begin, stop, offset), written in zip(tasks, each_on(threads, write, tasks), strict=True):
                steps = self._arena.keep(offset, written.steps)
                targets, labels = self._arena.targets(steps), self._arena.labels(steps)
                part = StepPart(first + begin, counts[begin:stop], targets, labels, written.bits)
                self._levels.parts.append(part)
        self._counts.append(counts)
        self._expanded = end

    def _written(self, part: GraphPart, counts: NDArray[np.uint32], offset: int) -> _Written:
        total, most = int(counts.sum()), int(counts.max(initial=0))
        words = part.step_atom_words
        atoms, entries = Memory(total * words), Memory((most + 1) * (1 + words) + f.LINE_WORDS)
        part.targets, part.labels = self._arena.addresses(offset, total)
        part.atoms, part.entries = atoms.address, entries.address
        self._loop("write_steps")(part)
        masks = atoms.array[: part.written * words].reshape(part.written, words)
        return _Written(part.written, packed(masks, self._step_atoms))

    def fingerprint(self, state: int) -> tuple[int, ...]:
        """The words of the fingerprint of a state."""
        level = int(np.searchsorted(self._starts, state, side="right")) - 1
        words = self._fingerprints[level][state - self._starts[level]].view(np.uint64)
        return tuple(words.tolist())

    def graph(self) -> BehaviourGraph:
        """The graph of the searched states. The recorder gives away its steps, and is of no other use then."""
        self._numbers = Memory(1)
        states = self._starts[-1]
        starts = [0, *(start for before, start in pairwise(self._starts) if start > before)]
        memory = Memory(states + 1)
        memory.take_pages(memory.address, memory.words * f.WORD_BYTES)
        offsets = memory.array
        counts = np.concatenate([np.zeros(0, np.uint32), *self._counts])
        np.cumsum(counts, out=offsets[1 : self._expanded + 1])
        offsets[self._expanded + 1 :] = offsets[self._expanded]
        bits = packed(np.zeros((0, len(self._kernels.step_atoms)), np.int64), self._step_atoms)
        steps = slice(0, self._arena.used)
        return BehaviourGraph(
            level_starts=np.array(starts if len(starts) > 1 else [0, 0], np.int64),
            expanded=self._expanded,
            offsets=offsets,
            targets=self._arena.targets(steps),
            labels=self._arena.labels(steps),
            state_bits=np.concatenate(
                [packed(np.zeros((0, len(self._kernels.atoms)), np.int64), self._atoms), *self._levels.state_bits]
            ),
            step_bits=np.concatenate([bits, *(part.bits for part in self._given_away())]),
        )

    def _given_away(self) -> Iterator[StepPart]:
        """The parts, each freed when the next one is fetched."""
        parts = self._levels.parts
        parts.reverse()
        while parts:
            yield parts.pop()
