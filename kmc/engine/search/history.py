"""The levels that a search keeps in memory to look back at, the newest always among them."""

from __future__ import annotations

from collections.abc import Iterator

from kmc.engine.layout.frontier import Level
from kmc.engine.stores.memory_budget import MemoryBudget


class History:
    """Levels by number (from 1), up to `bytes_max` bytes of rows; fewer when memory is short.

    `peak_bytes` is the most that it held.
    """

    def __init__(self, budget: MemoryBudget, bytes_max: int) -> None:
        self._budget = budget
        self._bytes_max = bytes_max
        self._levels: dict[int, Level] = {}
        self.peak_bytes = 0

    def __contains__(self, depth: int) -> bool:
        return depth in self._levels

    def __getitem__(self, depth: int) -> Level:
        return self._levels[depth]

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._levels))

    def keep(self, depth: int, level: Level) -> None:
        """Add a level, and drop the oldest ones that are beyond the limit."""
        self._levels[depth] = level
        size = sum(kept.bytes for kept in self._levels.values())
        self.peak_bytes = max(self.peak_bytes, size)
        for old in sorted(self._levels)[:-1]:
            if size <= self._bytes_max and not self._budget.spilling:
                break
            size -= self._levels[old].bytes
            self._drop(old)
        self._budget.spill(depth, level.blocks)

    def drop_all_but_the_newest(self) -> None:
        """Give back memory that only later queries need."""
        for old in sorted(self._levels)[:-1]:
            self._drop(old)

    def spill(self) -> None:
        """Move the blocks of all levels to files, and give back the pages of a level that lies in one."""
        for depth, level in self._levels.items():
            self._budget.spill(depth, level.blocks)
            if level.file is not None:
                level.file.drop_pages()

    def _drop(self, depth: int) -> None:
        self._budget.release(depth, self._levels.pop(depth))
