"""A file of sections is read by ranges of fingerprints, and each task checks what it reads, and no more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.faults.sections import WIDTH, in_range, some_rows, unnoticed_damage
from support.runs.shards import store_in

from kmc.errors import SystemFault
from kmc.shards.files import section_files
from kmc.shards.files.section_files import FingerprintRange, read_range, read_sections, write_in_ranges, write_sections

Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def _short_sections(monkeypatch: Patch) -> None:
    """A few rows are divided into several sections."""
    monkeypatch.setattr(section_files, "_SECTION_ROWS_BITS", 2)


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
    assert unnoticed_damage(tmp_path) is None


def test_sections_that_changed_places_are_noticed(tmp_path: Path) -> None:
    store, rows = store_in(tmp_path), some_rows(8)
    file = write_sections(store, "found-1-0-0123456789abcdef", WIDTH, [rows[:4], rows[4:]])
    path = tmp_path / file.name
    words = np.fromfile(path, np.int64)
    words[: rows.size] = np.roll(words[: rows.size], rows.size // 2)
    path.write_bytes(words.tobytes())
    with pytest.raises(SystemFault):
        read_sections(store, file, 1, 2)
