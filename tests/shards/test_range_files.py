"""A range that is read is the one that its owner wrote for its reader, though nothing else of the file was read."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs.shards import store_in

from kmc.engine.native.memory import Words
from kmc.errors import SystemFault
from kmc.shards.files.range_files import BlockReader, RangeBlock, UnwrittenBlock, read_range, write_blocks
from kmc.shards.files.store import FolderStore, new_name

COUNTS = ([3, 0, 7, 1], [0, 0, 0, 2], [5, 4, 3, 2])
"""The words of each range of three blocks."""


def block_of(owner: int, counts: Sequence[int]) -> UnwrittenBlock:
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(counts, np.int64))])
    return UnwrittenBlock(owner, starts, np.arange(starts[-1]) + 1000 * owner)


def words_of(owner: int, counts: Sequence[int], reader: int) -> list[int]:
    first = 1000 * owner + sum(counts[:reader])
    return list(range(first, first + counts[reader]))


def written(store: FolderStore, owners: Sequence[int] = (0, 1, 2)) -> tuple[RangeBlock, ...]:
    return write_blocks(store, new_name("bits", 1, 0), [block_of(owner, COUNTS[owner]) for owner in owners])


def wanted(reader: int) -> Words:
    return np.array([counts[reader] for counts in COUNTS])


def test_each_reader_finds_its_ranges_in_one_file(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    blocks = written(store)
    assert len(store.names()) == 1
    assert sum(block.words for block in blocks) == blocks[0].file_words
    opened = BlockReader(store, blocks)
    for reader in range(4):
        wished = [words_of(owner, counts, reader) for owner, counts in enumerate(COUNTS)]
        assert [found.tolist() for found in opened.ranges(reader, wanted(reader))] == wished
        assert [read_range(store, block, owner, reader).tolist() for owner, block in enumerate(blocks)] == wished
        addresses = opened.addresses(reader, wanted(reader)).tolist()
        for address, words in zip(addresses, wished, strict=True):
            assert bool(address) == bool(words)
            assert [ctypes.c_int64.from_address(address + 8 * index).value for index in range(len(words))] == words


def test_blocks_may_be_in_files_of_their_own_and_some_missing(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    (first,), (last,) = written(store, [0]), written(store, [2])
    found = BlockReader(store, [first, None, last]).ranges(2, np.array([7, 0, 3]))
    assert [words.tolist() for words in found] == [words_of(0, COUNTS[0], 2), [], words_of(2, COUNTS[2], 2)]


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 70), min_size=3, max_size=3), min_size=1, max_size=5))
def test_ranges_of_any_sizes_are_found(tmp_path_factory: pytest.TempPathFactory, sizes: list[list[int]]) -> None:
    store = store_in(tmp_path_factory.mktemp("store"))
    blocks = write_blocks(store, new_name("bits", 1, 0), [block_of(*pair) for pair in enumerate(sizes)])
    for reader in range(3):
        counts = np.array([size[reader] for size in sizes])
        found = BlockReader(store, blocks).ranges(reader, counts)
        assert [words.tolist() for words in found] == [words_of(*pair, reader) for pair in enumerate(sizes)]


@pytest.mark.parametrize("word", range(10 + 11))
def test_a_wrong_word_is_noticed_by_those_who_read_it(word: int, tmp_path: Path) -> None:
    store = store_in(tmp_path)
    (block,) = written(store, [0])
    path = tmp_path / block.name
    data = bytearray(path.read_bytes())
    data[8 * word] ^= 1
    path.write_bytes(data)
    # Ten words are rows of two, then come the words of the readers 0, 2 and 3.
    readers = {0: range(10, 13), 2: range(13, 20), 3: range(20, 21)}
    rows = {reader: (2 * reader, 2 * reader + 1, 2 * reader + 2) for reader in readers}
    for reader in readers:
        harmed = word in readers[reader] or word in rows[reader]
        counts = np.array([COUNTS[0][reader]])
        if harmed:
            with pytest.raises(SystemFault, match="its checksum is wrong") as caught:
                BlockReader(store, [block]).addresses(reader, counts)
            assert caught.value.code == "KMC551"
            with pytest.raises(SystemFault, match="its checksum is wrong"):
                read_range(store, block, 0, reader)
        else:
            assert BlockReader(store, [block]).ranges(reader, counts)[0].tolist() == words_of(0, COUNTS[0], reader)


def test_what_a_forged_manifest_says_of_a_block_is_damage(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    blocks = written(store)
    (other,) = written(store, [0])
    counts = wanted(2)
    forgeries: list[list[RangeBlock | None]] = [
        [blocks[1], blocks[0], blocks[2]],  # another owner
        [replace(blocks[0], offset=3), *blocks[1:]],
        [replace(blocks[0], offset=10**6), *blocks[1:]],
        [replace(blocks[0], words=10**6), *blocks[1:]],
        [replace(blocks[0], words=4), *blocks[1:]],
        [replace(blocks[0], words=0), *blocks[1:]],
        [replace(blocks[0], file_words=other.file_words), *blocks[1:]],
        [replace(other, name=blocks[0].name), *blocks[1:]],
    ]
    for forged in forgeries:
        with pytest.raises(SystemFault) as caught:
            BlockReader(store, forged).addresses(2, counts)
        assert caught.value.code == "KMC551", forged
    for reader, lengths in ((2, counts + 1), (2, counts - 1), (1, counts), (4, counts), (10**15, counts), (-1, counts)):
        with pytest.raises(SystemFault) as caught:
            BlockReader(store, blocks).addresses(reader, lengths)
        assert caught.value.code == "KMC551", (reader, lengths)
    with pytest.raises(SystemFault):
        read_range(store, blocks[0], 1, 2)


def test_a_file_with_the_content_of_another_is_damage(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    (one,), (other,) = written(store, [0]), written(store, [0])
    (tmp_path / one.name).write_bytes((tmp_path / other.name).read_bytes())
    with pytest.raises(SystemFault, match="its checksum is wrong"):
        BlockReader(store, [one]).addresses(0, np.array([3]))
