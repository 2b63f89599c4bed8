"""The frontier: the states of one level as packed records in blocks, cut into chunks that threads claim in turn.

Invariant: the ordinal of a state in its level is its place in the chunks. Ordinals differ from run to run, levels as
sets do not. A row that does not represent its view keeps its ordinal and is marked dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kmc.engine.layout import control_words as f
from kmc.engine.layout import record_structs as r
from kmc.engine.native.memory import MappedFile, Memory, Words, words_at
from kmc.errors import InternalError

UNSIGNED = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class PackedState:
    """A state: its fingerprint, the action that led to it (0 when read from a frontier), and the words of its row."""

    fingerprint: int
    action: int
    row: Words


@dataclass(slots=True)
class RowBlock:
    """Memory that rows are written into, one after another: `used` words of it once it is full or its level ends.

    `offset` is the index of its first word in the file of its level, once the block was written there, and `checksum`
    the checksum of its words, if that is known; `on_disk` is whether the memory maps that file.
    """

    memory: Memory
    used: int = 0
    offset: int | None = None
    checksum: int | None = None
    on_disk: bool = False

    def close(self, used: int) -> None:
        """Nothing more is written into it; InternalError KMC924 if its end was passed."""
        self.used = used
        if self.memory.is_overrun:
            raise InternalError("KMC924", "rows were written behind the end of a block of the frontier")


@dataclass(frozen=True, slots=True)
class Level:
    """One level: `rows` states, chunks as `[address, rows, first ordinal]`, and the owner of their memory.

    That is blocks, or the file of a run that was resumed.
    """

    rows: int
    chunks: Words
    blocks: tuple[RowBlock, ...]
    file: MappedFile | None = None

    @property
    def bytes(self) -> int:
        """The memory of the blocks, used or not, without those that map a file."""
        return sum(block.memory.words for block in self.blocks if not block.on_disk) * f.WORD_BYTES


def state_at(address: int) -> PackedState:
    """A copy of the record at `address`."""
    header, fingerprint = words_at(address, r.RECORD_HEAD_WORDS).tolist()
    row = words_at(address + r.RECORD_HEAD_WORDS * f.WORD_BYTES, header & r.LENGTH_MASK)
    return PackedState(fingerprint & UNSIGNED, header >> r.ACTION_SHIFT & r.ACTION_MASK, row)


def states_words(records: Sequence[PackedState], action: int) -> Words:
    """The words of the `StateRecord`s of states that `action` leads to, one after another."""
    lengths = np.array([len(record.row) for record in records], np.int64)
    sizes = lengths + r.RECORD_HEAD_WORDS
    starts = np.cumsum(sizes) - sizes
    words = np.empty(int(sizes.sum()), np.int64)
    is_row = np.ones(len(words), np.bool_)
    is_row[starts] = is_row[starts + 1] = False
    words[starts] = lengths | action << r.ACTION_SHIFT
    words[starts + 1] = np.array([record.fingerprint for record in records], np.uint64).view(np.int64)
    words[is_row] = np.concatenate([words[:0], *(record.row for record in records)])
    return words


def signed(word: int) -> int:
    """The same 64 bits as a signed number."""
    return word - (1 << 64) if word >> 63 else word


def all_chunks(parts: Sequence[tuple[Words, int]]) -> Words:
    """The chunks of all threads, with ordinals in the level. Each part comes with the number of rows before it."""
    moved = []
    for chunks, before in parts:
        shifted = chunks.reshape(-1, r.Chunk.WORDS).copy()
        shifted[:, r.Chunk.ordinal] += before
        moved.append(shifted)
    return np.ascontiguousarray(np.concatenate(moved))
