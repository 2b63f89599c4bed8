"""Memory by address for native loops: anonymous maps, zero when new, given out page by page as they are touched.

Invariant: behind the words of every `Memory` lie `SLACK_WORDS` more, so that a loop or kernel may copy in steps of
eight words and beyond the end of what it means.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.fields import SLACK_WORDS, WORD_BYTES
from kmc.errors import SystemFault

Words = NDArray[np.int64]

# Above this, huge pages: a random probe of a large table otherwise pays for the page walk too.
_HUGE_BYTES = 1 << 22


class Memory:
    """`words` words at `address`."""

    __slots__ = ("_map", "_pinned", "address", "words")

    def __init__(self, words: int) -> None:
        size = (words + SLACK_WORDS) * WORD_BYTES
        try:
            self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except (OSError, OverflowError, ValueError) as error:
            raise SystemFault(
                "KMC530",
                f"no memory for {size:,} bytes more",
                help="give --max-memory, fewer threads, or a smaller model",
            ) from error
        if size >= _HUGE_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
            self._map.madvise(mmap.MADV_HUGEPAGE)
        self._pinned: Any = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._pinned)
        self.words = words

    @property
    def array(self) -> Words:
        """The words, as an array that shares them."""
        return np.frombuffer(self._map, np.int64, self.words)

    def enlarged(self, words: int, used: int) -> Memory:
        """A new memory of at least `words` words that begins with the first `used` words of this one."""
        larger = Memory(max(words, 2 * self.words))
        ctypes.memmove(larger.address, self.address, used * WORD_BYTES)
        return larger


class BlockPool:
    """Blocks that frontiers are written into, used again level after level: fresh pages cost as much as computing."""

    def __init__(self, words_max: int = 1 << 20) -> None:
        self._free: dict[int, list[Memory]] = {}
        self._words_max = words_max

    def take(self, before: int, words: int) -> Memory:
        """A block of at least `words` words; `before` is how many a level has so far from one thread.

        A level begins with a small block and goes on with larger ones, so that a thousand short levels stay small.
        """
        size = min(self._words_max, 1 << (13 + 2 * before))
        while size < words:
            size *= 2
        free = self._free.get(size)
        return free.pop() if free else Memory(size)

    def give(self, blocks: list[Memory]) -> None:
        """Take blocks back that nothing refers to any more."""
        for block in blocks:
            self._free.setdefault(block.words, []).append(block)


def words_at(address: int, count: int) -> Words:
    """A copy of `count` words at `address`."""
    return np.frombuffer(ctypes.string_at(address, count * WORD_BYTES), np.int64)
