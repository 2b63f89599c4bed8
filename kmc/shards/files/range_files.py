"""Files of blocks of words in ranges: a task reads the ranges that are for it, and checks no others.

A block is what one owner, a task or a shard, writes for many readers: a range of words for each, by the reader's
number. A file has one block or several. A block begins with a row for each range, its first word and its seal, and a
last row that only says where the last range ends.

Invariant: a seal is a checksum of the words of a range and of their place, mixed with the name of the file, the owner
and the reader. So a range that is read is the one that this owner wrote in this file for this reader, though nothing
else of the file was read; else it is damage (KMC551).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kmc.engine.files.run_manifest import damaged
from kmc.engine.layout.frontier import signed
from kmc.engine.loops.checksums import WORD_MASK, run_storing
from kmc.engine.loops.storage import RangeRow
from kmc.engine.native.memory import WORD_BYTES, Memory, Words, address_of
from kmc.errors import SystemFault
from kmc.shards.files.store import FileWords, ShardStore

_RANDOM_DIGITS = 16
_OWNER = -7046029254386353131


@dataclass(frozen=True, slots=True)
class RangeBlock:
    """A block: `words` words of a file of `file_words`, from word `offset` on."""

    name: str
    file_words: int
    offset: int
    words: int


@dataclass(frozen=True, slots=True)
class UnwrittenBlock:
    """The words of a block, and the index of the first word of each range, and where the last one ends."""

    owner: int
    starts: Words
    words: Words

    @property
    def size(self) -> int:
        """The number of words that it takes in a file."""
        return 2 * len(self.starts) + len(self.words)


def write_blocks(store: ShardStore, name: str, blocks: Sequence[UnwrittenBlock]) -> tuple[RangeBlock, ...]:
    """Write a file of blocks."""
    file_words, offset = sum(block.size for block in blocks), 0
    written = []
    with store.writing(name) as out:
        for block in blocks:
            out.write(_head(block, name, offset))
            if len(block.words):
                out.write(block.words)
            written.append(RangeBlock(name, file_words, offset, block.size))
            offset += block.size
    return tuple(written)


def _head(block: UnwrittenBlock, name: str, offset: int) -> Words:
    """The rows at the beginning of a block."""
    rows = np.zeros((len(block.starts), 2), np.int64)
    rows[:, 0] = block.starts + 2 * len(block.starts)
    run_storing(
        "seal_ranges",
        source=address_of(block.words),
        count=len(block.starts) - 1,
        first=offset,
        target=address_of(rows),
        slots=_tag(name, block.owner),
    )
    return rows.reshape(-1)


def _tag(name: str, owner: int) -> int:
    """The part of the seals that names the file and the owner, as a signed word."""
    return signed((int(name[-_RANDOM_DIGITS:], 16) + owner * _OWNER) & WORD_MASK)


class BlockReader:
    """Blocks of owners 0, 1, ... of one store, mapped: None for an owner that wrote nothing.

    SystemFault KMC551 for a file of another size than it was written with.
    """

    def __init__(self, store: ShardStore, blocks: Sequence[RangeBlock | None]) -> None:
        self._names = [block.name if block is not None else None for block in blocks]
        self._files: dict[str, FileWords] = {}
        self._rows = Memory(max(1, len(blocks)) * RangeRow.WORDS)
        rows = self._rows.array.reshape(-1, RangeRow.WORDS)
        for owner, block in enumerate(blocks):
            if block is None:
                continue
            if block.offset + block.words > block.file_words:
                raise _wrong(block.name)
            if block.name not in self._files:
                self._files[block.name] = store.read(block.name, block.file_words)
            address = self._files[block.name].address + block.offset * WORD_BYTES
            rows[owner] = address, block.words, block.offset, _tag(block.name, owner), 0, 0
        self._table = rows[: len(blocks)]

    def __len__(self) -> int:
        return len(self._names)

    def addresses(self, reader: int, words: Words) -> Words:
        """The addresses of the ranges for a reader, which have so many words: of those that have any.

        SystemFault KMC551 if one of them is not the range that was written. The addresses are valid as long as this
        object lives.
        """
        self._table[:, RangeRow.wanted] = words
        damaged_one = run_storing("find_ranges", source=self._rows.address, count=len(self._names), first=reader)
        if damaged_one:
            raise _wrong(self._names[damaged_one - 1] or "")
        return self._table[:, RangeRow.found]

    def ranges(self, reader: int, words: Words) -> list[Words]:
        """The ranges for a reader, which have so many words. See `addresses`."""
        ranges = []
        for name, address, count in zip(
            self._names, self.addresses(reader, words).tolist(), words.tolist(), strict=True
        ):
            file = self._files.get(name or "")
            start = (address - file.address) // WORD_BYTES if file is not None and count else 0
            ranges.append(file.array[start : start + count] if file is not None else np.zeros(0, np.int64))
        return ranges


def read_range(store: ShardStore, block: RangeBlock, owner: int, reader: int) -> Words:
    """The range of a block for a reader; SystemFault KMC551 if it differs from the one that was written."""
    file = store.read(block.name, block.file_words)
    rows = file.array[block.offset : block.offset + block.words]
    if 2 * reader + 2 >= len(rows):
        raise _wrong(block.name)
    start, end = int(rows[2 * reader]), int(rows[2 * reader + 2])
    if not 0 <= start <= end <= block.words:
        raise _wrong(block.name)
    words = rows[start:end]
    seal = run_storing(
        "seal",
        source=address_of(words),
        count=len(words),
        first=block.offset + start,
        target=reader,
        slots=_tag(block.name, owner),
    )
    if seal != rows[2 * reader + 1]:
        raise _wrong(block.name)
    return words


def _wrong(name: str) -> SystemFault:
    return damaged(Path(name), "its checksum is wrong")
