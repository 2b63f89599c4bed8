"""The levels that a search keeps in memory to look back at, the newest always among them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from kmc.engine.layout.frontier import Level
from kmc.engine.stores.memory_budget import MemoryBudget


class History:
    """Levels by number (from 1), up to `bytes_max` bytes of rows; fewer when memory is short.

    `peak_bytes` is the most that it held. A search may have millions of levels, so to keep one takes the same time
    however many are kept.
    """

    def __init__(self, budget: MemoryBudget, bytes_max: int) -> None:
        self._budget = budget
        self._bytes_max = bytes_max
        # The oldest comes first. A dict looks for its first key among all that were removed.
        self._levels: OrderedDict[int, Level] = OrderedDict()
        self._bytes_of: dict[int, int] = {}
        self._bytes = 0
        self.peak_bytes = 0

    def __contains__(self, depth: int) -> bool:
        return depth in self._levels

    def __getitem__(self, depth: int) -> Level:
        return self._levels[depth]

    def __iter__(self) -> Iterator[int]:
        return iter(self._levels)

    def keep(self, depth: int, level: Level) -> None:
        """Add a level, newer than all others, and drop the oldest ones that are beyond the limit."""
        self._levels[depth] = level
        self._measure(depth)
        self.peak_bytes = max(self.peak_bytes, self._bytes)
        while len(self._levels) > 1 and (self._bytes > self._bytes_max or self._budget.spilling):
            self._drop(next(iter(self._levels)))
        self._budget.spill(depth, level.blocks)
        self._measure(depth)

    def drop_all_but_the_newest(self) -> None:
        """Give back memory that only later queries need."""
        for old in list(self._levels)[:-1]:
            self._drop(old)

    def spill(self) -> None:
        """Move the blocks of all levels to files, and give back the pages of a level that lies in one."""
        for depth, level in self._levels.items():
            self._budget.spill(depth, level.blocks)
            self._measure(depth)
            if level.file is not None:
                level.file.drop_pages()

    def _measure(self, depth: int) -> None:
        """Count the memory of a level, which changes only when its blocks go to a file."""
        size = self._levels[depth].bytes
        self._bytes += size - self._bytes_of.get(depth, 0)
        self._bytes_of[depth] = size

    def _drop(self, depth: int) -> None:
        self._bytes -= self._bytes_of.pop(depth)
        self._budget.release(depth, self._levels.pop(depth))
