"""The log of parents: 8 bytes for every state, written in order, from which a chain of states can be named.

An entry says through which action and from which ordinal of the level before its state was found first. That chain
is one shortest path of many, and another run finds another: what is reported comes from `Search.predecessors`.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from kmc.engine import fields as f
from kmc.engine.memory import Memory, block_size


class ParentStream:
    """The parents of the states that one thread found, level after level, in blocks."""

    def __init__(self) -> None:
        self._blocks: list[tuple[Memory, int]] = []
        self._starts: list[int] = []
        self._closed = 0
        self.levels: list[int] = []

    def next_block(self, used: int, words: int) -> Memory:
        """Close the current block at `used` entries; a new one with room for `words`."""
        self._close(used)
        block = Memory(block_size(len(self._blocks), words) - f.SLACK_WORDS)
        self._blocks.append((block, 0))
        self._starts.append(self._closed)
        return block

    def _close(self, used: int) -> None:
        if self._blocks:
            self._blocks[-1] = (self._blocks[-1][0], used)
            self._closed = self._starts[-1] + used

    def end_level(self, used: int) -> None:
        """Note where a level ends: `used` entries of the current block are written."""
        self._close(used)
        self.levels.append(self._closed)

    def count(self, level: int) -> int:
        """How many states of `level` (from 0) this thread found."""
        return self.levels[level] - (self.levels[level - 1] if level else 0)

    def entry(self, level: int, index: int) -> int:
        """The entry of the state `index` that this thread found in `level`."""
        position = index + (self.levels[level - 1] if level else 0)
        block = bisect_right(self._starts, position) - 1
        return int(self._blocks[block][0].array[position - self._starts[block]])

    @property
    def bytes(self) -> int:
        """The memory of the blocks."""
        return sum(block.words for block, _ in self._blocks) * f.WORD_BYTES


class Parents:
    """The streams of all threads, read by level and ordinal."""

    def __init__(self, threads: int) -> None:
        self.streams = [ParentStream() for _ in range(threads)]

    def chain(self, level: int, ordinal: int) -> list[tuple[int, int]]:
        """(ordinal, action) of each state on the path to state `ordinal` of `level` (from 0), the initial one first."""
        path = []
        while level >= 0:
            thread, index = self._find(level, ordinal)
            entry = self.streams[thread].entry(level, index)
            path.append((ordinal, entry >> 48 & f.ACTION_MASK))
            ordinal = entry & f.PARENT_MASK
            level -= 1
        return path[::-1]

    def _find(self, level: int, ordinal: int) -> tuple[int, int]:
        starts = list(accumulate((stream.count(level) for stream in self.streams), initial=0))
        thread = bisect_right(starts, ordinal) - 1
        return thread, ordinal - starts[thread]

    @property
    def bytes(self) -> int:
        """The memory of all streams."""
        return sum(stream.bytes for stream in self.streams)
