"""The new states of a level in the order of their fingerprints, with the bits of their predicates in narrow words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.layout.control_words import NewStates
from kmc.engine.loops.compiled_loops import order_loop
from kmc.engine.loops.sort_states import STATES_OF_RANGE
from kmc.engine.native.memory import WORD_BYTES, Memory, Words
from kmc.engine.native.threads import WorkerPool, each_on

ATOMS_MAX = 62
"""How many atoms a mask of a kernel has, `kmc.compiler.model_kernels.ATOMS_MAX`."""

_WIDTHS = (np.uint8, np.uint16, np.uint32)
_STATES_OF_TASK = 1 << 14


class StateOrder:
    """Sorts what a search notes of its new states: a fingerprint, of two words if `wide`, and the masks of its atoms.

    `atoms`: how many there are; `atom_words`: how many masks.
    """

    def __init__(self, *, wide: bool, atoms: int, atom_words: int) -> None:
        self._wide, self._atoms, self._atom_words = wide, atoms, atom_words

    def ordered(self, noted: list[Words], threads: WorkerPool) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The fingerprints of all states that threads have noted, a row each, and the bits of their predicates."""
        width = 1 + self._wide
        count = sum(map(len, noted)) // (width + self._atom_words)
        memory = Memory(count * width)
        memory.take_pages(memory.address, count * width * WORD_BYTES)
        fingerprints = memory.array.reshape(count, width)
        like = packed(np.empty((0, self._atom_words), np.int64), self._atoms)
        narrow = like.itemsize < WORD_BYTES
        bits = np.empty((count, like.shape[1]), like.dtype) if narrow else np.empty((count, self._atom_words), np.int64)
        tasks = [
            _Task(task, fingerprints, bits)
            for task in self._ranges(max(1, count // STATES_OF_RANGE), threads.size if count > _STATES_OF_TASK else 1)
        ]
        counts = each_on(threads, lambda task: self._over("count_states", noted, task.new), tasks)

        def sort(task: tuple[_Task, int]) -> None:
            new, begin = task[0].new, task[1]
            order_loop("add_counts", self._wide)(new, begin)
            self._over("place_states", noted, new)
            order_loop("sort_states", self._wide)(new, begin)

        each_on(threads, sort, list(zip(tasks, accumulate(counts, initial=0), strict=False)))
        return fingerprints, bits if narrow else packed(bits, self._atoms)

    def _ranges(self, ranges: int, tasks: int) -> Iterator[NewStates]:
        """The control words of tasks that have as many ranges each."""
        bounds = [ranges * number // tasks for number in range(tasks + 1)]
        for first, end in pairwise(bounds):
            new = NewStates.of(Memory(NewStates.WORDS))
            new.atom_words, new.ranges, new.first, new.end = self._atom_words, ranges, first, end
            yield new

    def _over(self, name: str, noted: list[Words], new: NewStates) -> int:
        """The sum of what a loop answers over what each thread noted."""
        found = 0
        for log in noted:
            new.noted, new.noted_end = log.ctypes.data, log.ctypes.data + log.nbytes
            found += order_loop(name, self._wide)(new)
        return found


class _Task:
    """The ranges that one thread sorts, with memory for their places."""

    def __init__(self, new: NewStates, fingerprints: NDArray[np.int64], bits: NDArray[Any]) -> None:
        self.new = new
        self._places = np.zeros(new.end - new.first, np.uint32)
        new.bit_bytes = bits.itemsize if bits.size else 0
        new.places, new.fingerprints, new.bits = (
            self._places.ctypes.data, fingerprints.ctypes.data, bits.ctypes.data,
        )  # fmt: skip


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
