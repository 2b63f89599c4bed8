"""The behaviour graph of a search in memory, made level by level from what its threads note.

Invariant: numbers and the order of steps depend on the model alone. When a level has been made, its states have
numbers, and the steps that lead to it or to earlier levels are translated and their log is freed. So the log holds the
steps of one level at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import GraphPart, Shared
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.liveness.early_lassos import EarlyLassos
from kmc.engine.liveness.graph_words import LevelReader, words_of_level
from kmc.engine.liveness.noting import NotingKernels
from kmc.engine.liveness.noting_worker import NotingWorker
from kmc.engine.liveness.recorded_levels import RecordedLevels, StepPart
from kmc.engine.loops.behaviour_log import HEAD_WORDS
from kmc.engine.loops.compiled_loops import graph_loop
from kmc.engine.native.memory import Memory, Words
from kmc.engine.native.threads import WorkerPool
from kmc.engine.stores.fingerprint_table import FingerprintTable
from kmc.engine.stores.memory_budget import MemoryBudget
from kmc.liveness.behaviour_graph import BehaviourGraph

ATOMS_MAX = 62
"""How many atoms a mask of a kernel has, `kmc.compiler.model_kernels.ATOMS_MAX`."""

_PART_STATES = 1 << 14
_PARTS_A_THREAD = 8
_STEP_BYTES = 10
_SEARCH_BYTES = 60
"""For a state, while its graph is searched for lassos."""

_WIDTHS = (np.uint8, np.uint16, np.uint32)


class GraphRecorder:
    """Makes the graph of one search with these kernels. `atoms` and `step_atoms`: how many of each there are.

    `apart` has a word per action instance, 1 for one that is not part of the next-state relation. `early` is asked at
    the end of each level whether the search may end.
    """

    def __init__(
        self,
        kernels: KernelTable,
        atoms: int = 0,
        step_atoms: int = 0,
        apart: Words | None = None,
        early: EarlyLassos | None = None,
    ) -> None:
        self._kernels = kernels
        self._noting = NotingKernels(kernels, apart.tolist() if apart is not None else ())
        self._atoms, self._step_atoms = atoms, step_atoms
        self._workers: list[NotingWorker] = []
        self._expanded = 0
        self._fingerprints: list[NDArray[np.int64]] = []
        self._levels = RecordedLevels()
        self._starts = self._levels.starts
        self._counts: list[NDArray[np.uint32]] = []
        self._early = early
        self.is_refuted = False
        self._numbers = Memory(1)
        self._slots = 0

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
        steps = sum(worker.noted_words for worker in self._workers) // (HEAD_WORDS + self._kernels.wide)
        states = self._starts[-1] + sum(worker.thread.stored_in_level for worker in self._workers)
        return steps * _STEP_BYTES + states * _SEARCH_BYTES

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
        width = 1 + self._kernels.wide
        noted = np.concatenate([worker.take_states() for worker in self._workers])
        noted = noted.reshape(-1, width + len(self._kernels.atoms))
        keys = [noted[:, column].view(np.uint64) for column in range(width)]
        noted = noted.take(np.lexsort(keys[::-1]) if width > 1 else np.argsort(keys[0]), axis=0)
        self._fingerprints.append(np.ascontiguousarray(noted[:, :width]))
        self._levels.state_bits.append(packed(noted[:, width:], self._atoms))
        self._starts.append(self._starts[-1] + len(noted))
        levels = range(len(self._fingerprints))[-1:]
        if known.slots != self._slots:
            # A table that has grown has other slots.
            self._numbers = Memory(1)
            self._numbers = Memory(known.slots // 2 + 1, huge=True)
            self._slots = known.slots
            levels = range(len(self._fingerprints))
        parts = [
            (self._starts[level] + place, self._fingerprints[level][place : place + _PART_STATES])
            for level in levels
            for place in range(0, len(self._fingerprints[level]), _PART_STATES)
        ]
        _each(threads, lambda numbered: self._number(known, *numbered), parts)

    def _part(self, known: FingerprintTable) -> GraphPart:
        part = GraphPart.of(Memory(GraphPart.WORDS))
        part.table, part.slots, part.numbers = known.address, known.slots, self._numbers.address
        part.step_atom_words = len(self._kernels.step_atoms)
        return part

    def _number(self, known: FingerprintTable, first: int, fingerprints: NDArray[np.int64]) -> None:
        """Give states their numbers, from `first` on."""
        part = self._part(known)
        part.first = first
        self._loop("give_numbers")(part, fingerprints.ctypes.data, len(fingerprints))

    def _loop(self, name: str) -> Callable[..., int]:
        return graph_loop(name, self._kernels.wide)

    def _add_steps(self, known: FingerprintTable, threads: WorkerPool, logs: list[tuple[Memory, int]]) -> None:
        """Translate the steps of the level that was expanded, on all threads."""
        first, end = self._starts[-3:-1]
        places, counts = Memory(end - first), np.zeros(end - first, np.uint32)

        def part_of_level() -> GraphPart:
            part = self._part(known)
            part.places, part.counts, part.first = places.address, counts.ctypes.data, first
            return part

        def find(log: tuple[Memory, int]) -> None:
            part = part_of_level()
            part.steps, part.steps_end = log[0].address, log[0].address + log[1] * f.WORD_BYTES
            self._loop("find_sources")(part)

        def write(states: tuple[int, int]) -> StepPart:
            part = part_of_level()
            part.start, part.end = states
            return self._written(part, counts[slice(*states)])

        _each(threads, find, logs)
        # Each part takes maps of memory, of which a process may have few.
        size = max(_PART_STATES, -(-(end - first) // (_PARTS_A_THREAD * threads.size)))
        bounds = [*range(0, end - first, size), end - first]
        self._levels.parts += _each(threads, write, list(pairwise(bounds)))
        self._counts.append(counts)
        self._expanded = end

    def _written(self, part: GraphPart, counts: NDArray[np.uint32]) -> StepPart:
        total, most = int(counts.sum()), int(counts.max(initial=0))
        words = part.step_atom_words
        targets, labels, atoms = Memory(total // 2 + 1), Memory(total // 4 + 1), Memory(total * words)
        entries = Memory((most + 1) * (1 + words))
        part.targets, part.labels, part.atoms, part.entries = (
            targets.address, labels.address, atoms.address, entries.address,
        )  # fmt: skip
        self._loop("write_steps")(part)
        written = part.written
        masks = atoms.array[: written * words].reshape(written, words)
        return StepPart(
            part.first + part.start,
            counts,
            targets.array.view(np.uint32)[:written],
            labels.array.view(np.uint16)[:written],
            packed(masks, self._step_atoms),
        )

    def fingerprint(self, number: int) -> tuple[int, ...]:
        """The words of the fingerprint of a state."""
        level = int(np.searchsorted(self._starts, number, side="right")) - 1
        words = self._fingerprints[level][number - self._starts[level]].view(np.uint64)
        return tuple(words.tolist())

    def graph(self) -> BehaviourGraph:
        """The graph of what was searched. The recorder gives away its steps, and is of no other use then."""
        self._numbers = Memory(1)
        states = self._starts[-1]
        starts = [0, *(start for before, start in pairwise(self._starts) if start > before)]
        offsets = np.zeros(states + 1, np.int64)
        counts = np.concatenate([np.zeros(0, np.uint32), *self._counts])
        np.cumsum(counts, out=offsets[1 : self._expanded + 1])
        offsets[self._expanded + 1 :] = offsets[self._expanded]
        steps = StepPart(
            0,
            counts,
            np.zeros(offsets[-1], np.uint32),
            np.zeros(offsets[-1], np.uint16),
            packed(np.zeros((offsets[-1], len(self._kernels.step_atoms)), np.int64), self._step_atoms),
        )
        written = 0
        for part in self._given_away():
            here = slice(written, written + len(part.targets))
            steps.targets[here], steps.labels[here], steps.bits[here] = part.targets, part.labels, part.bits
            written = here.stop
        return BehaviourGraph(
            level_starts=np.array(starts if len(starts) > 1 else [0, 0], np.int64),
            expanded=self._expanded,
            offsets=offsets,
            targets=steps.targets,
            labels=steps.labels,
            state_bits=np.concatenate(
                [packed(np.zeros((0, len(self._kernels.atoms)), np.int64), self._atoms), *self._levels.state_bits]
            ),
            step_bits=steps.bits,
        )

    def _given_away(self) -> Iterator[StepPart]:
        """The parts, each freed when the next is taken."""
        parts = self._levels.parts
        parts.reverse()
        while parts:
            yield parts.pop()


def packed(masks: Words, count: int) -> NDArray[Any]:
    """Masks of `ATOMS_MAX` bits as rows of as narrow words as hold `count` bits."""
    for width in _WIDTHS:
        if count <= 8 * width().itemsize:
            return masks[:, : min(count, 1)].astype(width)
    rows = np.zeros((len(masks), -(-count // 64)), np.uint64)
    for number in range(masks.shape[1]):
        mask = masks[:, number].view(np.uint64) if masks.flags.c_contiguous else masks[:, number].copy().view(np.uint64)
        word, shift = divmod(number * ATOMS_MAX, 64)
        rows[:, word] |= mask << np.uint64(shift)
        if shift and word + 1 < rows.shape[1]:
            rows[:, word + 1] |= mask >> np.uint64(64 - shift)
    return rows


def _each(threads: WorkerPool, task: Callable[[Any], Any], items: list[Any]) -> list[Any]:
    """What `task` answers for each item, in their order, on all threads."""
    answers: list[Any] = [None] * len(items)

    def run(number: int) -> None:
        for index in range(number, len(items), threads.size):
            answers[index] = task(items[index])

    threads.run(run, 0 if threads.size == 1 or len(items) < 2 else None)
    return answers
