"""The new states of a level in the order of their fingerprints, with the bits of their predicates in narrow words."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.layout.control_words import NewStates
from kmc.engine.loops.compiled_loops import NativeLoop, order_loop
from kmc.engine.loops.sort_states import STATES_OF_RANGE
from kmc.engine.native.memory import WORD_BYTES, Memory, Words, address_of
from kmc.engine.native.threads import WorkerPool, each_on
from kmc.engine.native.words import Address

ATOMS_MAX = 62
"""The greatest number of atoms in a mask of a kernel, `kmc.compiler.model_kernels.ATOMS_MAX`."""

_WIDTHS = (np.uint8, np.uint16, np.uint32)
_STATES_OF_TASK = 1 << 14


class StateOrder:
    """Sorts the records of new states: a fingerprint, of two words if `wide`, and the masks of the state's atoms.

    `atoms` is the number of atoms; `atom_words` that of their masks.
    """

    def __init__(self, *, wide: bool, atoms: int, atom_words: int) -> None:
        self._wide, self._atoms, self._atom_words = wide, atoms, atom_words

    def ordered(self, noted: list[Words], threads: WorkerPool) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The fingerprints of all states that threads have recorded, a row each, and the bits of their predicates."""
        width = 1 + self._wide
        count = sum(map(len, noted)) // (width + self._atom_words)
        memory = Memory(count * width)
        memory.take_pages(memory.address, count * width * WORD_BYTES)
        fingerprints = memory.array.reshape(count, width)
        like = packed(np.empty((0, self._atom_words), np.int64), self._atoms)
        narrow = like.itemsize < WORD_BYTES
        bits = np.empty((count, like.shape[1]), like.dtype) if narrow else np.empty((count, self._atom_words), np.int64)
        ranges = max(1, count // STATES_OF_RANGE)
        logs = _shared_out(noted, threads.size if count > _STATES_OF_TASK else 1)
        counters = np.zeros((len(logs), ranges), np.uint32)

        def task(of_task: NDArray[np.uint32]) -> NewStates:
            new = NewStates.of(Memory(NewStates.WORDS))
            new.atom_words, new.ranges, new.tasks, new.counters = (
                self._atom_words,
                ranges,
                len(logs),
                address_of(of_task),
            )
            new.bit_bytes = bits.itemsize if bits.size else 0
            new.fingerprints, new.bits = address_of(fingerprints), address_of(bits)
            return new

        def over(loop: str) -> None:
            each_on(
                threads,
                lambda task_index: self._over(loop, logs[task_index], task(counters[task_index])),
                range(len(logs)),
            )

        def sort(bounds: tuple[int, int]) -> None:
            new = task(counters[-1])
            new.first, new.end = bounds
            self._loop("sort_states")(new)

        over("count_states")
        self._loop("add_counts")(task(counters))
        over("place_states")
        each_on(threads, sort, list(pairwise(ranges * cut // len(logs) for cut in range(len(logs) + 1))))
        return fingerprints, bits if narrow else packed(bits, self._atoms)

    def _loop(self, name: str) -> NativeLoop:
        return order_loop(name, self._wide)

    def _over(self, name: str, noted: list[Words], new: NewStates) -> None:
        """Run a loop over some of the recorded words."""
        for log in noted:
            new.noted, new.noted_end = address_of(log), Address(address_of(log) + log.nbytes)
            self._loop(name)(new)


def _shared_out(noted: list[Words], tasks: int) -> list[list[Words]]:
    """The recorded words divided among some tasks, about the same amount for each."""
    shares: list[list[Words]] = [[] for _ in range(tasks)]
    for log in sorted(noted, key=len, reverse=True):
        min(shares, key=lambda share: sum(map(len, share))).append(log)
    return shares


def packed(masks: Words, count: int) -> NDArray[Any]:
    """Masks of `ATOMS_MAX` bits as rows of as narrow words as hold `count` bits."""
    for width in _WIDTHS:
        if count <= 8 * width().itemsize:
            return masks[:, : min(count, 1)].astype(width)
    rows = np.zeros((len(masks), -(-count // 64)), np.uint64)
    for column in range(masks.shape[1]):
        mask = masks[:, column].view(np.uint64) if masks.flags.c_contiguous else masks[:, column].copy().view(np.uint64)
        word, shift = divmod(column * ATOMS_MAX, 64)
        rows[:, word] |= mask << np.uint64(shift)
        if shift and word + 1 < rows.shape[1]:
            rows[:, word + 1] |= mask >> np.uint64(64 - shift)
    return rows
