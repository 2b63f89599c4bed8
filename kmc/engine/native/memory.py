"""Memory by address for native loops: anonymous maps, zero when new, which get pages from the system as they are used.

Invariant: behind the words of every `Memory` lie `SLACK_WORDS` more, so that a loop or kernel may copy in steps of
eight words and beyond the end of its data.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil
from numpy.typing import NDArray

from kmc.engine.native.words import Address
from kmc.errors import SystemFault

Words = NDArray[np.int64]

WORD_BYTES: Final = 8
SLACK_WORDS: Final = 64

# If memory is read at random, huge pages save page walks. If it is written in order they save nothing, and on a virtual
# machine whose host takes back free memory, touching them costs five times as much as touching small ones.
_HUGE_FROM_BYTES = 1 << 22
_HUGE_PAGE_BYTES = 1 << 21

# NORESERVE, which Python does not name everywhere: far more addresses are reserved than pages used.
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0x4000 if sys.platform == "linux" else 0)

_FIXED = 0x10
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE, from Linux 5.14 on
_TOUCHED_WORDS = 8

SIZE_MAX = 1 << 20
PAGE_WORDS = mmap.PAGESIZE // WORD_BYTES


class Memory:
    """`words` words at `address`; `huge` requests huge pages, for memory that is read at random."""

    __slots__ = ("_map", "_offset", "_pinned", "address", "words")

    def __init__(self, words: int, *, huge: bool = False) -> None:
        size = (words + SLACK_WORDS) * WORD_BYTES
        huge = huge and size >= _HUGE_FROM_BYTES and hasattr(mmap, "MADV_HUGEPAGE")
        try:
            self._map = mmap.mmap(-1, size + huge * _HUGE_PAGE_BYTES, flags=_FLAGS)
        except (OSError, OverflowError, ValueError) as error:
            raise no_memory(size) from error
        if huge:
            self._map.madvise(mmap.MADV_HUGEPAGE)
        self._pinned: Any = ctypes.c_char.from_buffer(self._map)
        start = ctypes.addressof(self._pinned)
        self._offset = -start % _HUGE_PAGE_BYTES if huge else 0
        self.address = Address(start + self._offset)
        self.words = words

    @property
    def array(self) -> Words:
        """The words, as an array that shares them."""
        return np.frombuffer(self._map, np.int64, self.words, self._offset)

    @property
    def is_overrun(self) -> bool:
        """Whether something was written behind the words and the few words beyond that a copy may touch."""
        slack = np.frombuffer(self._map, np.int64, SLACK_WORDS, self._offset + self.words * WORD_BYTES)
        return bool(slack[_TOUCHED_WORDS:].any())

    def take_pages(self, address: int, size: int) -> None:
        """Take the pages of so many bytes at an address at once, where the system can: each alone costs twice as much.

        For memory that will be written soon, all of it.
        """
        start = (address - ctypes.addressof(self._pinned)) // mmap.PAGESIZE * mmap.PAGESIZE
        with suppress(AttributeError, OSError):
            self._map.madvise(_POPULATE_WRITE, start, size)

    def map_file(self, descriptor: int, offset: int, words: int, *, writable: bool) -> None:
        """Map a file over the first `words` words, at the same address; `offset` is the index of the first word in the
        file.

        Both are a number of pages. The memory behind them is forgotten, and its pages are given back.
        """
        kept = words * WORD_BYTES
        access = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        flags = mmap.MAP_SHARED | _FIXED
        mapped = _system_map()(self.address, kept, access, flags, descriptor, offset * WORD_BYTES)
        if mapped != self.address:
            errno = ctypes.get_errno()
            raise SystemFault("KMC530", f"cannot map {kept:,} bytes of a file: {os.strerror(errno)}")
        tail = (self.words + SLACK_WORDS) * WORD_BYTES - kept
        if tail > 0:
            self._map.madvise(mmap.MADV_DONTNEED, self._offset + kept, tail)

    def drop_pages(self, words: int) -> None:
        """Give back the pages of the first `words` words, which a file holds: the next read finds them there again."""
        self._map.madvise(mmap.MADV_DONTNEED, self._offset, words * WORD_BYTES)

    def enlarged(self, words: int, used: int) -> Memory:
        """A new memory of at least `words` words that begins with the first `used` words of this one."""
        larger = Memory(max(words, 2 * self.words))
        ctypes.memmove(larger.address, self.address, used * WORD_BYTES)
        return larger


def no_memory(size: int) -> SystemFault:
    """The error that so many bytes cannot be had."""
    return SystemFault(
        "KMC530", f"no memory for {size:,} bytes more", help="give --memory, fewer threads, or a smaller model"
    )


def reserved(words: int, share: int, *, huge: bool = False) -> Memory:
    """Memory with room to grow: addresses for 1/`share` of the machine's memory, or as much as the system grants.

    At least `words` words; pages are allocated when they are first used.
    """
    wanted = max(words, psutil.virtual_memory().total // share // WORD_BYTES)
    while True:
        try:
            return Memory(wanted, huge=huge)
        except SystemFault:
            if wanted == words:
                raise
            wanted = max(words, wanted // 2)


class MappedFile:
    """All words of a file, at `address`, to be read; ValueError for an empty one.

    No descriptor stays open, as one would with `mmap.mmap`: a large run reads more files than a process may have open.
    """

    __slots__ = ("_map", "_pinned", "address", "path", "words")

    def __init__(self, path: Path, descriptor: int) -> None:
        """Map the file that is open as `descriptor`, which may be closed then."""
        size = os.fstat(descriptor).st_size
        if not size:
            raise ValueError(f"{path} is empty")
        self._map = mmap.mmap(-1, size, flags=_FLAGS)
        self._pinned: Any = ctypes.c_char.from_buffer(self._map)
        self.path = path
        self.address = ctypes.addressof(self._pinned)
        self.words = size // WORD_BYTES
        # Read-only, so that what `drop_pages` gives back can never be more than the file has.
        if _system_map()(self.address, size, mmap.PROT_READ, mmap.MAP_SHARED | _FIXED, descriptor, 0) != self.address:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))

    @property
    def array(self) -> Words:
        """The words, as an array that shares them."""
        return np.frombuffer(self._map, np.int64, self.words)

    def drop_pages(self) -> None:
        """Give back all pages: the next read finds them in the file again."""
        self._map.madvise(mmap.MADV_DONTNEED)


@cache
def _system_map() -> Any:
    function = ctypes.CDLL(None, use_errno=True).mmap
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64]
    return function


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
        """A block of at least `words` words; `before` is the number of words that the level has so far from one thread.

        A level begins with a small block and goes on with larger ones, so that a thousand short levels stay small.
        """
        size = block_size(before, words, self._size_max)
        try:
            return self._free[size].pop()
        # No test before: between a test and this, another thread could take it.
        except (KeyError, IndexError):
            return Memory(size - SLACK_WORDS)

    def give(self, blocks: Iterable[Memory]) -> None:
        """Take blocks back that nothing refers to any more."""
        for block in blocks:
            self._free.setdefault(block.words + SLACK_WORDS, []).append(block)

    def clear(self) -> None:
        """Give the memory of all free blocks back to the system."""
        for free in self._free.values():
            free.clear()


def address_of(array: NDArray[Any] | None) -> Address:
    """The address of an array's data; 0 for None. The caller keeps the array alive."""
    return Address(0 if array is None else int(array.ctypes.data))


def words_at(address: int, count: int) -> Words:
    """A copy of `count` words at `address`."""
    return np.frombuffer(ctypes.string_at(address, count * WORD_BYTES), np.int64)
