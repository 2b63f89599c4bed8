"""A file of sections is read by ranges of fingerprints, and each task checks what it reads, and no more."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from support.shard_runs import store_in

from kmc.engine.native.memory import WORD_BYTES, Words
from kmc.errors import SystemFault
from kmc.shards import section_files
from kmc.shards.fingerprint_rows import order_of
from kmc.shards.section_files import FingerprintRange, read_range, read_sections, write_in_ranges, write_sections

WIDTH = 3
EVERY = FingerprintRange(0, 0)
Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def _short_sections(monkeypatch: Patch) -> None:
    """A few rows are divided into several sections."""
    monkeypatch.setattr(section_files, "_SECTION_ROWS_BITS", 2)


def some_rows(count: int, seed: int = 0) -> Words:
    """Rows in the order of their fingerprints of one word, with the least and the greatest ones among them."""
    rng = random.Random(seed)
    words = [[rng.getrandbits(64) for _ in range(WIDTH)] for _ in range(count)]
    for row, word in zip(words, (0, (1 << 64) - 1, 1 << 63, (1 << 63) - 1), strict=False):
        row[0] = word
    rows = np.array(words, np.uint64).reshape(count, WIDTH).view(np.int64)
    return rows[order_of(rows, 1)]


def in_range(rows: Words, wanted: FingerprintRange) -> list[list[int]]:
    """The rows whose first words have the number of the range as their highest bits."""
    return [row for row in rows.tolist() if (row[0] % (1 << 64)) >> (64 - wanted.bits) == wanted.number]


@pytest.mark.parametrize("count", [0, 1, 4, 5, 40])
def test_ranges_of_any_size_have_their_rows(count: int, tmp_path: Path) -> None:
    store, rows = store_in(tmp_path), some_rows(count)
    file = write_in_ranges(store, "found-1-0-0123456789abcdef", rows)
    assert read_sections(store, file).tolist() == rows.tolist()
    for bits in range(6):
        for number in range(1 << bits):
            wanted = FingerprintRange(bits, number)
            assert read_range(store, file, wanted).tolist() == in_range(rows, wanted), wanted


def test_sections_are_read_alone(tmp_path: Path) -> None:
    store, rows = store_in(tmp_path), some_rows(9)
    parts = [rows[:2], rows[2:2], rows[2:8], rows[8:]]
    file = write_sections(store, "found-1-0-0123456789abcdef", WIDTH, parts)
    for first in range(4):
        for end in range(first + 1, 5):
            wanted = [row for part in parts[first:end] for row in part.tolist()]
            assert read_sections(store, file, first, end).tolist() == wanted


def test_damage_is_noticed_by_those_whom_it_concerns(tmp_path: Path) -> None:
    store, rows = store_in(tmp_path), some_rows(20)
    file = write_in_ranges(store, "found-1-0-0123456789abcdef", rows)
    bits = file.sections.bit_length() - 1
    assert bits > 1
    path = tmp_path / file.name
    whole = path.read_bytes()
    assert len(whole) == file.words * WORD_BYTES
    for word in range(file.words):
        data = bytearray(whole)
        data[word * WORD_BYTES] ^= 1
        path.write_bytes(bytes(data))
        for wanted in (EVERY, *(FingerprintRange(bits, number) for number in range(1 << bits))):
            row = rows[word // WIDTH].tolist() if word < rows.size else None
            if row is None or row in in_range(rows, wanted):
                with pytest.raises(SystemFault) as caught:
                    read_range(store, file, wanted)
                assert caught.value.code == "KMC551", (word, wanted)
            else:
                assert read_range(store, file, wanted).tolist() == in_range(rows, wanted)


def test_sections_that_changed_places_are_noticed(tmp_path: Path) -> None:
    store, rows = store_in(tmp_path), some_rows(8)
    file = write_sections(store, "found-1-0-0123456789abcdef", WIDTH, [rows[:4], rows[4:]])
    path = tmp_path / file.name
    words = np.fromfile(path, np.int64)
    words[: rows.size] = np.roll(words[: rows.size], rows.size // 2)
    path.write_bytes(words.tobytes())
    with pytest.raises(SystemFault):
        read_sections(store, file, 1, 2)
