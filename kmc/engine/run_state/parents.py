"""The log of parents: little more than 2 bytes for every state, in order, from which a chain of states can be named.

An entry says through which action and from which ordinal of the level before its state was found first. That chain
is one shortest path of many, and another run finds another: what is reported comes from `Search.predecessors`.

A stream is the same in memory and in a file: a block that is full may be written to the file and forgotten. Most
entries are a unit of 16 bits that says what changed since the entry before (`log_parent` writes them,
`parent` of `kmc.engine.loops.storage` reads them); the first one of a block or level is whole, so that a
stream can be read from there.
Invariant: blocks and levels begin with whole words, so that files and checksums know of words only.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Protocol

import numpy as np

from kmc.engine.files.durable_file import DataFile
from kmc.engine.files.run_manifest import Extent, damaged
from kmc.engine.layout import control_words as f
from kmc.engine.loops import storage as s
from kmc.engine.loops.checksums import WORD_MASK, after_storing, checksum
from kmc.engine.native.memory import SIZE_MAX, MappedFile, Memory, block_size

Start = tuple[int, int]
"""An entry of a stream that can be read without those before it, and the word where it stands."""

_NO_PARENT = "the parent of a state is not in it"


class Stream(Protocol):
    """The parents of the states that one thread found, by level of its session and index."""

    def count(self, level: int) -> int:
        """How many states of `level` this thread found."""

    def entry(self, level: int, index: int) -> int:
        """The entry of the state `index` that this thread found in `level`; see `kmc.engine.layout.control_words`."""


def _part_with(entry: int, starts: Sequence[Start], end: int) -> tuple[int, int, int]:
    """What to read for an entry of a stream of `end` words: from which word, how many, and which entry of these."""
    after = bisect_right(starts, entry, key=itemgetter(0))
    first, place = starts[after - 1]
    return place, (starts[after][1] if after < len(starts) else end) - place, entry - first


def _read(address: int, words: int, index: int) -> int | None:
    """Entry `index` of a part of a stream; None if it has none."""
    control = after_storing("parent", FIRST=address, COUNT=words, PLACE=index)
    return int(control[s.RESULT]) if control[s.PLACE] < 0 else None


def _words(units: int) -> int:
    """The words that so many units fill, the last one maybe not wholly."""
    return -(-units // f.WORD_UNITS)


class ParentStream:
    """A stream that is being written.

    By level, `levels` are the positions in words where levels end, `ends` how many entries stand before these, and
    `sums` the checksums up to there.
    """

    def __init__(self, size_max: int = SIZE_MAX, open_file: Callable[[], DataFile] | None = None) -> None:
        self._size_max = size_max
        self._open_file = open_file
        self._file: DataFile | None = None
        self._lock = threading.Lock()
        self._blocks: list[tuple[Memory | None, int]] = []
        self._block_starts: list[int] = []
        self._closed = self._written = self._summed = self._sum = 0
        self.spilling = False
        self.levels: list[int] = []
        self.ends: list[int] = []
        self.sums: list[int] = []
        self.starts: list[Start] = []

    def next_block(self, used: int, stored: int, entries: int) -> Memory:
        """Close the current block at `used` units, `stored` entries into a level; a new one with room for `entries`."""
        with self._lock:
            self._close(used)
            if self.spilling:
                self._write(len(self._blocks))
            words = _words(entries * f.PARENT_UNITS_MAX)
            block = Memory(block_size(len(self._blocks), words, self._size_max) - f.SLACK_WORDS)
            self._blocks.append((block, 0))
            self._block_starts.append(self._closed)
            self._start((self.ends[-1] if self.ends else 0) + stored)
        return block

    def _close(self, used: int) -> None:
        if self._blocks:
            memory, words = self._blocks[-1][0], _words(used)
            assert memory is not None, "the last block is in memory"
            memory.array.view(np.uint16)[used : words * f.WORD_UNITS] = f.PARENT_PADDING
            self._blocks[-1] = (memory, words)
            self._closed = self._block_starts[-1] + words
            if self._open_file is not None:
                self._add_to_sum()

    def _start(self, entry: int) -> None:
        """`entry` is whole, if it comes: what comes before it is closed."""
        start = entry, self._closed
        if self.starts[-1:] != [start]:
            self.starts.append(start)

    def _add_to_sum(self) -> None:
        """Sum the last block up to its end so far; those before it were summed when they were closed."""
        memory, _ = self._blocks[-1]
        assert memory is not None, "the last block is in memory"
        address = memory.address + (self._summed - self._block_starts[-1]) * f.WORD_BYTES
        self._sum = (self._sum + checksum(address, self._closed - self._summed, self._summed)) & WORD_MASK
        self._summed = self._closed

    def spill(self) -> None:
        """Write all blocks that are full to the file, and forget them; from now on, each as soon as it is full."""
        with self._lock:
            self.spilling = True
            self._write(len(self._blocks) - 1)

    def _write(self, end: int) -> None:
        """Write the blocks before number `end` and forget them."""
        for number in range(end):
            memory, used = self._blocks[number]
            if memory is not None:
                self._write_up_to(number, self._block_starts[number] + used)
                self._blocks[number] = (None, used)

    def _write_up_to(self, number: int, position: int) -> None:
        memory, start = self._blocks[number][0], self._block_starts[number]
        assert memory is not None, "a block is written once"
        begin = max(self._written, start)
        if position > begin:
            self.file.write(memory.address + (begin - start) * f.WORD_BYTES, position - begin, begin)
            self._written = position

    @property
    def file(self) -> DataFile:
        """The file of this stream, made when it is first needed."""
        if self._file is None:
            assert self._open_file is not None, "only a stream of a run with a folder has a file"
            self._file = self._open_file()
        return self._file

    def flush(self) -> None:
        """Write all that belongs to levels that have ended, and keep it."""
        with self._lock:
            for number, (memory, used) in enumerate(self._blocks):
                if memory is not None:
                    self._write_up_to(number, self._block_starts[number] + used)

    def end_level(self, used: int, stored: int) -> int:
        """Note where a level of `stored` entries ends, at `used` units of the current block; where the next begins."""
        with self._lock:
            self._close(used)
            self.levels.append(self._closed)
            self.ends.append((self.ends[-1] if self.ends else 0) + stored)
            self.sums.append(self._sum)
            self._start(self.ends[-1])
        return _words(used) * f.WORD_UNITS

    def count(self, level: int) -> int:
        """How many states of `level` (from 0) this thread found."""
        return self.ends[level] - (self.ends[level - 1] if level else 0)

    def entry(self, level: int, index: int) -> int:
        """The entry of the state `index` that this thread found in `level`."""
        first = self.ends[level - 1] if level else 0
        place, words, number = _part_with(first + index, self.starts, self._closed)
        block = bisect_right(self._block_starts, place) - 1
        memory, _ = self._blocks[block]
        if memory is None:
            held = self.file.read(words, place)
            found = _read(held.ctypes.data, len(held), number)
            if found is None:
                raise damaged(self.file.path, _NO_PARENT)
            return found
        found = _read(memory.address + (place - self._block_starts[block]) * f.WORD_BYTES, words, number)
        assert found is not None, "a loop wrote as many entries as it says"
        return found

    @property
    def bytes(self) -> int:
        """The memory of the blocks."""
        return sum(memory.words for memory, _ in self._blocks if memory is not None) * f.WORD_BYTES


class SavedStream:
    """A stream of a session that ended."""

    def __init__(self, file: MappedFile | None, extent: Extent, ends: Sequence[int], starts: Sequence[Start]) -> None:
        self._file = file
        self._extent = extent
        self._ends = ends
        self._starts = starts

    def count(self, level: int) -> int:
        """How many states of `level` of that session its thread found."""
        return self._ends[level] - (self._ends[level - 1] if level else 0)

    def entry(self, level: int, index: int) -> int:
        """The entry of the state `index` that its thread found in `level`."""
        assert self._file is not None, "an empty stream has no entry"
        first = self._ends[level - 1] if level else 0
        place, words, number = _part_with(first + index, self._starts, self._extent.words)
        found = _read(self._file.address + place * f.WORD_BYTES, words, number)
        if found is None:
            raise damaged(self._file.path, _NO_PARENT)
        return found


class Parents:
    """The streams of all threads, read by level and ordinal; `first_level` of this session, others came before it."""

    def __init__(
        self, threads: int, size_max: int = SIZE_MAX, open_file: Callable[[str], DataFile] | None = None
    ) -> None:
        self.first_level = 0
        self.earlier: list[tuple[int, Sequence[Stream]]] = []
        self.streams = [
            ParentStream(size_max, None if open_file is None else partial(self._opened, open_file, number))
            for number in range(threads)
        ]

    def _opened(self, open_file: Callable[[str], DataFile], number: int) -> DataFile:
        return open_file(self.name(number))

    def name(self, number: int) -> str:
        """The file of stream `number` of this session."""
        return f"parents-{self.first_level}-{number}"

    def chain(self, level: int, ordinal: int) -> list[tuple[int, int]]:
        """(ordinal, action) of each state on the path to state `ordinal` of `level` (from 0), the initial one first."""
        path = []
        while level >= 0:
            entry = self._entry(level, ordinal)
            path.append((ordinal, entry >> f.PARENT_ACTION_SHIFT & f.ACTION_MASK))
            ordinal = entry & f.PARENT_MASK
            level -= 1
        return path[::-1]

    def _entry(self, level: int, ordinal: int) -> int:
        sessions = [*self.earlier, (self.first_level, self.streams)]
        first, streams = max((session for session in sessions if session[0] <= level), key=lambda session: session[0])
        starts = list(accumulate((stream.count(level - first) for stream in streams), initial=0))
        thread = bisect_right(starts, ordinal) - 1
        return streams[thread].entry(level - first, ordinal - starts[thread])

    @property
    def bytes(self) -> int:
        """The memory of all streams of this session."""
        return sum(stream.bytes for stream in self.streams)
