"""The file of new rows that one task wrote: packed rows, their chunks, and the segments that tasks read.

A segment is some consecutive chunks, which one task reads as a whole. So a segment records how many entries of each
outbox precede its own: a shard's bits for its rows begin there.

In words: the rows, `SLACK_WORDS` zeros, the number of the task, the chunks with places in the file instead of
addresses, and a row of `SegmentEntry` for each segment and one more that only says where the last one ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kmc.engine.files.run_manifest import damaged
from kmc.engine.layout.frontier import RowBlock, signed
from kmc.engine.layout.record_structs import Chunk
from kmc.engine.loops.checksums import WORD_MASK, checksum
from kmc.engine.native.memory import SLACK_WORDS, WORD_BYTES, Words, address_of
from kmc.shards.files.store import ShardStore

_CHUNK, _PLACE, _CHECKSUM, _HEAD = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class FrontierFile:
    """A task's description of its file. `task` is its number in its level, `segments` the rows of each segment.

    Rows are those that were sent to their owners. `checksum` is that of all words behind the rows.
    """

    name: str
    task: int
    words: int
    rows_words: int
    chunks: int
    segments: tuple[int, ...]
    checksum: int

    @property
    def rows(self) -> int:
        """The number of rows that were sent to their owners."""
        return sum(self.segments)


@dataclass(frozen=True, slots=True)
class SegmentStart:
    """The beginning of a segment: its first chunk, and the number of entries that precede its own in each outbox."""

    chunk: int
    sent: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment that was read: its chunks by address, and which entries of each outbox are those of its rows.

    `sent` counts the entries of the whole file.
    """

    chunks: Words
    sent_before: Words
    sent_until: Words
    sent: Words


def require_answers(segment: Segment, name: str, answered: Sequence[bool]) -> None:
    """Raise SystemFault KMC551 unless each shard that a segment of file `name` was sent to has answered, if any has."""
    if answered and (len(answered) != len(segment.sent_until) or bool(segment.sent_until[~np.array(answered)].any())):
        raise damaged(name, "the answers of some shards are missing")


def write_frontier(
    store: ShardStore, name: str, task: int, blocks: Sequence[RowBlock], chunks: Words, starts: Sequence[SegmentStart]
) -> FrontierFile:
    """Write the rows of a task. `starts` are those of all segments, and where the last one ends."""
    used = [block for block in blocks if block.used]
    offsets = np.cumsum([0, *(block.used for block in used)]).tolist()
    placed = _placed(chunks, used, offsets)
    table = np.zeros((len(starts), _HEAD + len(starts[0].sent)), np.int64)
    table[:, _CHUNK] = [start.chunk for start in starts]
    table[:, _PLACE] = [*(int(placed[start.chunk, Chunk.first]) for start in starts[:-1]), offsets[-1]]
    table[:, _HEAD:] = [start.sent for start in starts]
    for segment in range(len(starts) - 1):
        bounds = table[segment, _PLACE], table[segment + 1, _PLACE]
        table[segment, _CHECKSUM] = signed(_checksum_between(used, offsets, *map(int, bounds)))
    head = np.zeros(SLACK_WORDS + 1, np.int64)
    head[-1] = task
    tail = np.concatenate([head, placed.reshape(-1), table.reshape(-1)])
    with store.writing(name) as out:
        for block in used:
            out.write(block.memory.array[: block.used])
        out.write(tail)
    rows = np.diff(table[:, _HEAD:].sum(axis=1)).tolist()
    tail_sum = checksum(address_of(tail), len(tail), offsets[-1])
    return FrontierFile(name, task, offsets[-1] + len(tail), offsets[-1], len(placed), tuple(rows), tail_sum)


def _placed(chunks: Words, blocks: Sequence[RowBlock], offsets: Sequence[int]) -> Words:
    """The chunks, with places in the file instead of addresses."""
    placed = chunks.reshape(-1, Chunk.WORDS).copy()
    for block, offset in zip(blocks, offsets, strict=False):
        first = block.memory.address
        inside = (chunks[:, Chunk.first] >= first) & (chunks[:, Chunk.first] < first + block.used * WORD_BYTES)
        placed[inside, Chunk.first] = offset + (chunks[inside, Chunk.first] - first) // WORD_BYTES
    return placed


def _checksum_between(blocks: Sequence[RowBlock], offsets: Sequence[int], low: int, high: int) -> int:
    """The checksum of the words of a file from `low` to `high`, which lie in blocks."""
    words_sum = 0
    for block, offset in zip(blocks, offsets, strict=False):
        first, end = max(low, offset), min(high, offset + block.used)
        if first < end:
            words_sum += checksum(block.memory.address + (first - offset) * WORD_BYTES, end - first, first)
    return words_sum & WORD_MASK


class FrontierReader:
    """A file of rows, mapped; SystemFault KMC551 if its content differs from the one that was written."""

    def __init__(self, store: ShardStore, file: FrontierFile) -> None:
        self._name = Path(file.name)
        self._words = store.read(file.name, file.words)
        tail = file.words - file.rows_words
        if self._sum(file.rows_words, tail) != file.checksum:
            raise damaged(self._name, "its checksum is wrong")
        first = file.rows_words + SLACK_WORDS + 1
        middle = first + file.chunks * Chunk.WORDS
        self._chunks = self._words.array[first:middle].reshape(-1, Chunk.WORDS)
        table = self._words.array[middle:]
        rows = len(file.segments) + 1
        self._table = table.reshape(rows, -1) if len(table) % rows == 0 else table.reshape(1, -1)
        # The words are those that were written; that they have so many segments is what the manifest says.
        if self._table[0, _CHUNK] != 0 or self._table[-1, _CHUNK] != file.chunks or len(self._table) != rows:
            raise damaged(self._name, "it does not have the segments that the manifest says")
        if self._words.array[first - 1] != file.task:
            raise damaged(self._name, "another task has written it than the manifest says")

    def _sum(self, offset: int, words: int) -> int:
        return checksum(self._words.address + offset * WORD_BYTES, words, offset)

    def segment(self, index: int) -> Segment:
        """A segment, checked. Its chunks are valid as long as this reader lives."""
        start, end = self._table[index], self._table[index + 1]
        if signed(self._sum(int(start[_PLACE]), int(end[_PLACE] - start[_PLACE]))) != int(start[_CHECKSUM]):
            raise damaged(self._name, "its checksum is wrong")
        chunks = self._chunks[start[_CHUNK] : end[_CHUNK]].copy()
        chunks[:, Chunk.first] = self._words.address + chunks[:, Chunk.first] * WORD_BYTES
        return Segment(np.ascontiguousarray(chunks), start[_HEAD:], end[_HEAD:], self._table[-1, _HEAD:])
