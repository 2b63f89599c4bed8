"""Rows at rest are the rows that were packed, whatever their words, and small where words repeat."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from grid_kernels import address
from hypothesis import given
from hypothesis import strategies as st
from numba import cfunc

from kmc.engine.frontier import Record, record_words
from kmc.engine.intrinsics import load
from kmc.engine.memory import Memory, Words
from kmc.engine.packing import Lexicon, pack, unpack

WORDS = st.one_of(st.just(0), st.integers(-9, 9), st.integers(-(1 << 63), (1 << 63) - 1))
ROWS = st.lists(WORDS, max_size=40)


@cfunc("int64(int64, int64, int64, int64)")
def packed(lexicon: int, plain: int, record: int, target: int) -> int:
    """`pack`, to be called from Python."""
    return pack(lexicon, plain, record, target)


@cfunc("int64(int64, int64, int64, int64)")
def unpacked(lexicon: int, plain: int, record: int, row: int) -> int:
    """`unpack`, to be called from Python."""
    unpack(lexicon, plain, record, row)
    return load(record, 0)


def call(kernel: Any) -> Callable[[int, int, int, int], int]:
    """A kernel as a function."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(address(kernel))


def rest(lexicon: Lexicon, row: list[int]) -> tuple[Memory, int]:
    """A row packed, and the words that it takes."""
    record = record_words(Record(77, 5, np.array(row, np.int64)))
    given_record, target = Memory(len(record)), Memory(2 * len(record))
    given_record.array[:] = record
    return target, call(packed)(lexicon.address, lexicon.plain, given_record.address, target.address)


def woken(lexicon: Lexicon, record: Memory, length: int) -> Words:
    """The row of a packed record, as native loops read it."""
    row = Memory(length)
    call(unpacked)(lexicon.address, lexicon.plain, record.address, row.address)
    return row.array


@given(st.lists(ROWS, min_size=1, max_size=5), st.integers(0, 3))
def test_a_row_comes_back_as_it_was(rows: list[list[int]], plain: int) -> None:
    lexicon = Lexicon(plain)
    at_rest = [(row, rest(lexicon, row)[0]) for row in rows]
    for row, record in at_rest:
        assert woken(lexicon, record, len(row)).tolist() == row
        found = lexicon.record_at(record.address)
        assert (found.fingerprint, found.row.tolist()) == (77, row)


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
