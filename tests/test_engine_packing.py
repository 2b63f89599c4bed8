"""Rows at rest are the rows that were packed, whatever their words, and small where words repeat."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from grid_kernels import address
from hypothesis import given
from hypothesis import strategies as st

from kmc.engine.frontier import UNSIGNED, Record, record_words
from kmc.engine.intrinsics import load
from kmc.engine.memory import Memory, Words, words_at
from kmc.engine.native import Loop
from kmc.engine.packing import Lexicon, pack, pack_beside, unpack

WORDS = st.one_of(st.just(0), st.integers(-9, 9), st.integers(-(1 << 63), (1 << 63) - 1))
BEHIND = 1 << 40 | 77
"""What stands behind a record, and no packing may see."""

ROWS = st.lists(WORDS, max_size=40)


@Loop
def packed(lexicon: int, plain: int, implied: int, record: int, target: int) -> int:
    """`pack`, to be called from Python."""
    return pack(lexicon, plain, implied, record, target)


@Loop
def unpacked(lexicon: int, plain: int, implied: int, record: int, row: int) -> int:
    """`unpack`, to be called from Python."""
    unpack(lexicon, plain, implied, record, row)
    return load(record, 0)


@Loop
def packed_beside(lexicon: int, plain: int, implied: int, record: int, target: int, source: int, row: int) -> int:
    """`pack_beside`, to be called from Python."""
    words = pack_beside(lexicon, plain, implied, record, target, source, row)
    return words if words != 0 else pack(lexicon, plain, implied, record, target)


def call(kernel: Any, arguments: int = 5) -> Callable[..., int]:
    """A kernel as a function."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arguments)(address(kernel))


def memory_of(row: list[int]) -> Memory:
    """The record of a row; its fingerprint may be implied."""
    record = record_words(Record(row[0] & UNSIGNED if row else 77, 5, np.array(row, np.int64)))
    memory = Memory(len(record) + 8)
    memory.array[:] = [*record, *[BEHIND] * 8]
    return memory


def rest(lexicon: Lexicon, row: list[int]) -> tuple[Memory, int]:
    """A row packed, and the words that it takes."""
    record, target = memory_of(row), Memory(2 * len(row) + 4)
    return target, call(packed)(lexicon.address, lexicon.plain, lexicon.implied, record.address, target.address)


def rest_beside(lexicon: Lexicon, row: list[int], source: list[int]) -> tuple[Memory, int]:
    """A row packed as the successor of another."""
    record, target, awake = memory_of(row), Memory(2 * len(row) + 4), memory_of(source)
    at_rest, _ = rest(lexicon, source)
    arguments = record.address, target.address, at_rest.address, awake.address + 16
    return target, call(packed_beside, 7)(lexicon.address, lexicon.plain, lexicon.implied, *arguments)


def woken(lexicon: Lexicon, record: Memory, length: int) -> Words:
    """The row of a packed record, as native loops read it."""
    row = Memory(length)
    call(unpacked)(lexicon.address, lexicon.plain, lexicon.implied, record.address, row.address)
    return row.array


@given(st.lists(ROWS, min_size=1, max_size=5), st.integers(0, 3), st.booleans())
def test_a_row_comes_back_as_it_was(rows: list[list[int]], plain: int, implied: bool) -> None:
    lexicon = Lexicon(max(plain, implied), implied)
    at_rest = [(row, rest(lexicon, row)[0]) for row in rows if row or not implied]
    for row, record in at_rest:
        assert woken(lexicon, record, len(row)).tolist() == row
        found = lexicon.record_at(record.address)
        assert (found.fingerprint, found.row.tolist()) == (row[0] & UNSIGNED if row else 77, row)


def test_a_first_word_that_is_the_fingerprint_takes_no_place() -> None:
    row = [1 << 60 | number for number in range(25)]
    assert rest(Lexicon(1, 1), row)[1] == rest(Lexicon(1), row)[1] - 1


def test_rows_come_back_when_the_lexicon_is_full() -> None:
    lexicon = Lexicon(0)
    rows = [list(range(start, start + 500)) for start in range(1, 100_000, 500)]
    at_rest = [(row, *rest(lexicon, row)) for row in rows]
    assert at_rest[-1][2] > 500 > at_rest[0][2]
    assert all(woken(lexicon, record, len(row)).tolist() == row for row, record, _ in at_rest)


@pytest.mark.parametrize("plain", [0, 1, 4])
def test_words_that_are_known_take_two_bytes(plain: int) -> None:
    lexicon = Lexicon(plain)
    row = [1 << 60 | number for number in range(24)]
    _, words = rest(lexicon, row)
    assert words == 2 + plain + (24 - plain + 3) // 4


@given(ROWS)
def test_a_packed_record_takes_a_quarter_more_at_most(row: list[int]) -> None:
    _, words = rest(Lexicon(0), row)
    assert words <= (len(row) + 2) * 5 // 4 + 1


@cache
def full_lexicon(plain: int) -> Lexicon:
    """A lexicon with hardly a place left."""
    lexicon = Lexicon(plain)
    rest(lexicon, list(range(10, 400_000, 3)))
    return lexicon


@st.composite
def steps(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A row, and one that differs from it in a few words and in its length."""
    source = draw(ROWS)
    kept = source[: draw(st.integers(0, len(source)))] if draw(st.booleans()) else source
    # Beyond 64 words too, which are compared together.
    if draw(st.booleans()):
        source, kept = [[*part, *range(90), *part] for part in (source, kept)]
    changed = {index: draw(WORDS) for index in draw(st.sets(st.integers(0, len(kept)), max_size=4))}
    return source, [changed.get(index, word) for index, word in enumerate(kept)] + draw(st.lists(WORDS, max_size=9))


@given(st.lists(steps(), min_size=1, max_size=4), st.integers(0, 3), st.sampled_from(("empty", "crowded", "implied")))
def test_a_successor_rests_as_any_row(pairs: list[tuple[list[int], list[int]]], plain: int, kind: str) -> None:
    lexicon = full_lexicon(plain) if kind == "crowded" else Lexicon(max(plain, kind == "implied"), kind == "implied")
    for source, row in pairs:
        if kind == "implied" and not (source and row):
            continue
        target, words = rest_beside(lexicon, row, source)
        assert words == rest(lexicon, row)[1]
        assert woken(lexicon, target, len(row)).tolist() == row
        assert lexicon.record_at(target.address).row.tolist() == row
    assert BEHIND not in words_at(lexicon.address, 1 << 16)
