"""What gives memory back when it is short: frontiers that are only kept to look back, then rows to files.

Memory is short when the process takes a share of its limit, not counting the pages of files, which the system takes
back by itself. From then on every block goes to its file as soon as it is full, so that the table alone still grows.
Without a folder for files only the first step is taken.
"""

from __future__ import annotations

from collections.abc import Iterable

import psutil

from kmc.engine.checkpoint.spill_files import Shelf
from kmc.engine.layout.frontier import Block, Level
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.native.memory import BlockPool

_PROCESS = psutil.Process()


def used_bytes() -> int:
    """The memory of this process, without pages of files."""
    found = _PROCESS.memory_info()
    return int(found.rss - getattr(found, "shared", 0))


class Relief:
    """Watches the limit of `settings`. `making` is the level (from 1) that blocks are filled for."""

    def __init__(self, settings: Settings, shelf: Shelf | None) -> None:
        self._limit = settings.limits.memory_bytes
        self._short_bytes = None if self._limit is None else self._limit * settings.spill_share
        self._shelf = shelf
        self.pool = BlockPool(settings.block_words)
        self.spilling = False
        self.making = 1

    def filled(self, block: Block) -> None:
        """A block is full: put it to rest if memory is short."""
        if self.spilling and self._shelf is not None:
            self._shelf.rest(block, self.making)

    def leaves_room(self, more_bytes: int, history: dict[int, Level], full: Iterable[Block]) -> bool:
        """Whether `more_bytes` still fit below the limit, after all that can be given back was, if it is short.

        `history` are the levels that are kept, of which the last is in use, `full` the full blocks of the next one.
        """
        if self._limit is None or self._short_bytes is None:
            return True
        if used_bytes() + more_bytes < self._short_bytes:
            return True
        self._give_back(history, full)
        return used_bytes() + more_bytes < self._limit

    def _give_back(self, history: dict[int, Level], full: Iterable[Block]) -> None:
        self.spilling = True
        for old in sorted(history)[:-1]:
            self.forget(old, history.pop(old))
        self.pool.clear()
        if self._shelf is None:
            return
        for level, kept in history.items():
            self.rest(level, kept.blocks)
        self.rest(self.making, full)

    def rest(self, level: int, blocks: Iterable[Block]) -> None:
        """Put blocks to rest, if memory is short."""
        if self.spilling and self._shelf is not None:
            for block in blocks:
                self._shelf.rest(block, level)

    def forget(self, number: int, level: Level) -> None:
        """Nothing refers to a level any more: use its memory again, unless memory is short, and remove its file."""
        if not self.spilling:
            self.pool.give(block.memory for block in level.blocks if not block.at_rest)
        if self._shelf is not None:
            self._shelf.forget(number)
