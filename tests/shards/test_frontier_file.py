"""A file of rows that lie in several blocks: each segment leads to its rows, and damage to either part is noticed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from support.runs.shards import store_in

from kmc.engine.layout.frontier import RowBlock
from kmc.engine.layout.record_structs import Chunk
from kmc.engine.native.memory import WORD_BYTES, Memory, Words
from kmc.errors import SystemFault
from kmc.shards.files.frontier_file import FrontierFile, FrontierReader, SegmentStart, write_frontier
from kmc.shards.files.store import FolderStore, new_name

BLOCKS = (5, 0, 7, 3)
"""The words that are used of each block; one is empty."""

CHUNKS = ((0, 0), (0, 2), (2, 0), (2, 6), (3, 0))
"""The block of each chunk, and its place there."""

STARTS = (SegmentStart(0, (0, 0)), SegmentStart(1, (2, 1)), SegmentStart(3, (4, 1)), SegmentStart(5, (5, 3)))
"""Segments that end within blocks and lie in several."""


def blocks() -> list[RowBlock]:
    """Each word tells its block and its place there."""
    made = []
    for number, used in enumerate(BLOCKS):
        memory = Memory(used + 1)
        memory.array[:used] = [100 * number + place for place in range(used)]
        made.append(RowBlock(memory, used))
    return made


def chunks_in(made: Sequence[RowBlock]) -> Words:
    table = np.zeros((len(CHUNKS), Chunk.WORDS), np.int64)
    for row, (block, place) in zip(table, CHUNKS, strict=True):
        row[Chunk.first] = made[block].memory.address + place * WORD_BYTES
    return table


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return store_in(tmp_path)


@pytest.fixture
def file(store: FolderStore) -> FrontierFile:
    made = blocks()
    return write_frontier(store, new_name("rows", 1, 6), 6, made, chunks_in(made), STARTS)


def test_what_is_told_of_a_file(file: FrontierFile) -> None:
    assert (file.task, file.rows_words, file.chunks) == (6, sum(BLOCKS), len(CHUNKS))
    assert (file.segments, file.rows) == ((3, 2, 3), 8)


def test_each_segment_leads_to_its_rows(store: FolderStore, file: FrontierFile) -> None:
    reader = FrontierReader(store, file)
    words = store.read(file.name, file.words)
    for number, (start, end) in enumerate(itertools.pairwise(STARTS)):
        segment = reader.segment(number)
        assert (segment.sent_before.tolist(), segment.sent_until.tolist()) == ([*start.sent], [*end.sent])
        places = [reader._words.address + place * WORD_BYTES for place in range(file.rows_words)]
        found = [int(words.array[places.index(first)]) for first in segment.chunks[:, Chunk.first].tolist()]
        assert found == [100 * block + place for block, place in CHUNKS[start.chunk : end.chunk]]


def test_a_segment_is_read_though_the_rows_of_another_are_damaged(
    store: FolderStore, file: FrontierFile, tmp_path: Path
) -> None:
    # Segments begin at the words 0, 2 and 11 of the file.
    for word, damaged in ((0, 0), (1, 0), (2, 1), (10, 1), (11, 2), (14, 2)):
        path = tmp_path / file.name
        whole = path.read_bytes()
        path.write_bytes(flipped(whole, word))
        reader = FrontierReader(store, file)
        for number in range(3):
            if number == damaged:
                with pytest.raises(SystemFault, match="its checksum is wrong"):
                    reader.segment(number)
            else:
                reader.segment(number)
        path.write_bytes(whole)


def test_damage_behind_the_rows_is_noticed_at_once(store: FolderStore, file: FrontierFile, tmp_path: Path) -> None:
    path = tmp_path / file.name
    whole = path.read_bytes()
    for word in (file.rows_words, file.words - 20, file.words - 1):
        path.write_bytes(flipped(whole, word))
        with pytest.raises(SystemFault, match="its checksum is wrong"):
            FrontierReader(store, file)


def flipped(data: bytes, word: int) -> bytes:
    changed = bytearray(data)
    changed[word * WORD_BYTES] ^= 1
    return bytes(changed)
