"""The memory that a search may use, and the memory that it gives back when it runs short.

Memory is the resident set of the process, which is the figure that the system counts, that `ps` and `/usr/bin/time -v`
show, and that kmc prints. It is short when it exceeds a share of its limit. Then levels that are only kept for queries
are dropped, and from then on every block goes to a file as soon as it is full, so that the table alone still grows.
Pages of files count as long as they are resident, so they are given back too: they are read again where they are
needed. Without a folder for files only the first measure applies. Below the limit there is a reserve
(`kmc.memory_limit`), and blocks are small if the limit is low.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kmc.engine.files.spill_files import SpillFiles
from kmc.engine.layout.frontier import Level, RowBlock
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.native.memory import WORD_BYTES, BlockPool
from kmc.memory_limit import usable_bytes
from kmc.process import available_bytes, give_back_heap, memory_bytes

_BLOCKS_SHARE = 64
_BLOCK_WORDS_MIN = 1 << 14


class MemoryBudget:
    """Watches the limit of `settings`, and owns the free blocks.

    `making` is the level (from 1) that blocks are filled for. Once `spilling` is set, it stays.
    """

    def __init__(self, settings: Settings, files: SpillFiles | None) -> None:
        limit = settings.limits.memory_bytes
        self._limit = None if limit is None else usable_bytes(limit, settings.threads)
        self._short_bytes = None if self._limit is None else self._limit * settings.spill_share
        self._files = files
        self.pool = BlockPool(_block_words(settings))
        self.spilling = False
        self.making = 1

    def has_room(self, more_bytes: int) -> bool:
        """Whether `more_bytes` fit without that anything is given back."""
        return self._limit is None or memory_bytes() + more_bytes < self._limit

    def is_ample(self, more_bytes: int) -> bool:
        """Return whether `more_bytes` fit likewise; without a limit, into the free memory of the machine."""
        return more_bytes < available_bytes() if self._limit is None else self.has_room(more_bytes)

    def fits(self, more_bytes: int, give_back: Callable[[], None]) -> bool:
        """Whether `more_bytes` still fit below the limit, after `give_back` was called if memory is short."""
        if self._limit is None or self._short_bytes is None:
            return True
        if memory_bytes() + more_bytes < self._short_bytes:
            return True
        if not self.spilling:
            give_back_heap()
        self.spilling = True
        give_back()
        self.pool.clear()
        if self._files is not None:
            self._files.drop_pages()
        return self.has_room(more_bytes)

    def filled(self, block: RowBlock) -> None:
        """A block of the level that is being made is full: spill it if memory is short."""
        self.spill(self.making, [block])

    def spill(self, level: int, blocks: Iterable[RowBlock]) -> None:
        """Move blocks of a level to its file, if memory is short."""
        if self.spilling and self._files is not None:
            for block in blocks:
                self._files.spill(block, level)

    def release(self, depth: int, level: Level) -> None:
        """Nothing refers to a level any more: use its memory again, unless memory is short, and remove its file."""
        if not self.spilling:
            self.pool.give(block.memory for block in level.blocks if not block.on_disk)
        if self._files is not None:
            self._files.release(depth)


def _block_words(settings: Settings) -> int:
    """The size of large blocks: all threads together fill a small part of the limit."""
    limit, words = settings.limits.memory_bytes, settings.block_words
    while (
        limit is not None and words > _BLOCK_WORDS_MIN and words * WORD_BYTES * settings.threads * _BLOCKS_SHARE > limit
    ):
        words //= 2
    return words
