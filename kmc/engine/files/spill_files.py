"""Files that hold blocks of the frontier, for a later process that resumes the run, or to free memory.

Invariant: a block keeps its address. One that is spilled is written to the file of its level, and that file is mapped
where the block lay. So threads may read it meanwhile, and the system may reclaim its pages whenever it needs them.
"""

from __future__ import annotations

import threading

import numpy as np

from kmc.engine.files.durable_file import DataFile
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.files.run_manifest import Extent
from kmc.engine.layout.control_words import SLACK_WORDS
from kmc.engine.layout.frontier import RowBlock
from kmc.engine.loops.checksums import checksum
from kmc.engine.native.memory import PAGE_WORDS, Memory, Words, address_of


def file_name(level: int) -> str:
    """The file of a level (from 1)."""
    return f"rows-{level}"


class SpillFiles:
    """The files of the levels in use. `ranked`: rows may still be marked dead after they were written."""

    def __init__(self, directory: RunDirectory, *, ranked: bool) -> None:
        self._directory = directory
        self._ranked = ranked
        self._lock = threading.Lock()
        self._files: dict[int, DataFile] = {}
        self._ends: dict[int, int] = {}
        self._mapped: dict[int, list[tuple[Memory, int]]] = {}
        self.spilled_bytes = 0

    def spill(self, block: RowBlock, level: int) -> None:
        """Move a block that is closed to the file of its level, unless it is there."""
        with self._lock:
            if block.on_disk or not block.used:
                return
            self._write(block, level)
            assert block.offset is not None, "it was just written"
            words = _pages(block.used + SLACK_WORDS)
            block.memory.map_file(self._files[level].descriptor, block.offset, words, writable=self._ranked)
            block.on_disk = True
            self._mapped.setdefault(level, []).append((block.memory, words))
            self.spilled_bytes += words * 8

    def _write(self, block: RowBlock, level: int) -> None:
        if block.offset is not None:
            return
        offset = self._append(block.memory.address, block.used + SLACK_WORDS, level)
        block.offset = offset
        if not self._ranked:
            block.checksum = checksum(block.memory.address, block.used, offset)

    def _append(self, address: int, words: int, level: int) -> int:
        """Append words to a level's file, from the next page on; the place of the first."""
        if level not in self._files:
            self._files[level], self._ends[level] = self._directory.file(file_name(level)), 0
        offset = self._ends[level]
        self._ends[level] += _pages(words)
        self._files[level].write(address, words, offset)
        return offset

    def put(self, words: Words, level: int) -> Extent:
        """Write words that are not rows (chunks, dictionary) to a level's file."""
        if not len(words):
            return Extent(file_name(level), 0, 0, 0)
        kept = np.ascontiguousarray(words)
        with self._lock:
            offset = self._append(address_of(kept), len(kept), level)
        return Extent(file_name(level), offset, len(kept), checksum(address_of(kept), len(kept), offset))

    def saved(self, block: RowBlock, level: int) -> Extent:
        """The extent of a finished level's block in its file; it is written now if it was not yet."""
        with self._lock:
            self._write(block, level)
        assert block.offset is not None, "it was just written"
        if block.checksum is None:
            block.checksum = checksum(block.memory.address, block.used, block.offset)
        return Extent(file_name(level), block.offset, block.used, block.checksum)

    def sync(self, level: int) -> None:
        """Wait until everything written of a level is on the disk."""
        self._files[level].sync()

    def drop_pages(self) -> None:
        """Give back the pages of all blocks that were spilled; threads may read on, and find them in the files."""
        with self._lock:
            mapped = [each for level in self._mapped.values() for each in level]
        for memory, words in mapped:
            memory.drop_pages(words)

    @property
    def files(self) -> frozenset[str]:
        """The names of the files in use."""
        return frozenset(map(file_name, self._files))

    def release(self, level: int) -> None:
        """Remove the file of a level that nothing refers to, unless the checkpoint needs it."""
        self._mapped.pop(level, None)
        if level in self._files:
            self._files.pop(level).close()
            self._directory.remove(file_name(level))


def _pages(words: int) -> int:
    return -(-words // PAGE_WORDS) * PAGE_WORDS
