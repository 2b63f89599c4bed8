"""Memory by address for native loops: anonymous maps, zero when new, given out page by page as they are touched.

Invariant: behind the words of every `Memory` lie `SLACK_WORDS` more, so that a loop or kernel may copy in steps of
eight words and beyond the end of what it means.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.fields import SLACK_WORDS, WORD_BYTES
from kmc.errors import SystemFault

Words = NDArray[np.int64]

# Where memory is read at random, huge pages save page walks. Where it is written in order they save nothing, and on a
# virtual machine whose host takes back what is free, touching them costs five times as much as touching small ones.
_HUGE_FROM_BYTES = 1 << 22
_HUGE_PAGE_BYTES = 1 << 21

# NORESERVE, which Python does not name everywhere: addresses are set aside far beyond what is touched.
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0x4000 if sys.platform == "linux" else 0)

SIZE_MAX = 1 << 20


class Memory:
    """`words` words at `address`; `huge` asks for huge pages, for memory that is read at random."""

    __slots__ = ("_map", "_offset", "_pinned", "address", "words")

    def __init__(self, words: int, *, huge: bool = False) -> None:
        size = (words + SLACK_WORDS) * WORD_BYTES
        huge = huge and size >= _HUGE_FROM_BYTES and hasattr(mmap, "MADV_HUGEPAGE")
        try:
            self._map = mmap.mmap(-1, size + huge * _HUGE_PAGE_BYTES, flags=_FLAGS)
        except (OSError, OverflowError, ValueError) as error:
            raise SystemFault(
                "KMC530",
                f"no memory for {size:,} bytes more",
                help="give --max-memory, fewer threads, or a smaller model",
            ) from error
        if huge:
            self._map.madvise(mmap.MADV_HUGEPAGE)
        self._pinned: Any = ctypes.c_char.from_buffer(self._map)
        start = ctypes.addressof(self._pinned)
        self._offset = -start % _HUGE_PAGE_BYTES if huge else 0
        self.address = start + self._offset
        self.words = words

    @property
    def array(self) -> Words:
        """The words, as an array that shares them."""
        return np.frombuffer(self._map, np.int64, self.words, self._offset)

    def enlarged(self, words: int, used: int) -> Memory:
        """A new memory of at least `words` words that begins with the first `used` words of this one."""
        larger = Memory(max(words, 2 * self.words))
        ctypes.memmove(larger.address, self.address, used * WORD_BYTES)
        return larger


def block_size(before: int, words: int, size_max: int = SIZE_MAX) -> int:
    """The size of the next block, in words, if there are `before` and it must hold `words`; slack is part of it."""
    size = min(size_max, 1 << (13 + 2 * min(before, 8)))
    while size < words + SLACK_WORDS:
        size *= 2
    return size


class BlockPool:
    """Blocks that frontiers are written into, used again level after level: fresh pages cost as much as computing."""

    def __init__(self, size_max: int = SIZE_MAX) -> None:
        self._free: dict[int, list[Memory]] = {}
        self._size_max = size_max

    def take(self, before: int, words: int) -> Memory:
        """A block of at least `words` words; `before` is how many a level has so far from one thread.

        A level begins with a small block and goes on with larger ones, so that a thousand short levels stay small.
        """
        size = block_size(before, words, self._size_max)
        free = self._free.get(size)
        if free:
            return free.pop()
        return Memory(size - SLACK_WORDS)

    def give(self, blocks: Iterable[Memory]) -> None:
        """Take blocks back that nothing refers to any more."""
        for block in blocks:
            self._free.setdefault(block.words + SLACK_WORDS, []).append(block)


def words_at(address: int, count: int) -> Words:
    """A copy of `count` words at `address`."""
    return np.frombuffer(ctypes.string_at(address, count * WORD_BYTES), np.int64)
