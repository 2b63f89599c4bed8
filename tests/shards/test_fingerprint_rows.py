"""Rows are put in order, each once, and looked up by all words of their fingerprints, as unsigned numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmc.engine.native.memory import Words
from kmc.shards.fingerprint_rows import each_once, order_of, places_in

WORDS = st.sampled_from([1, 2, 3, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
"""Few, so that fingerprints of two words share the first one, and some that are negative as signed numbers."""

ROWS = st.lists(st.tuples(WORDS, WORDS, st.integers(0, 9)), max_size=20)
Row = tuple[int, ...]


def array_of(rows: list[Row], width: int) -> Words:
    """The rows, each with the last column behind the words of its fingerprint."""
    kept = [(*row[:width], row[2]) for row in rows]
    return np.array(kept, np.uint64).reshape(len(rows), width + 1).view(np.int64)


def fingerprints_in(rows: Words, width: int) -> list[Row]:
    return [tuple(row) for row in np.ascontiguousarray(rows[:, :width]).view(np.uint64).tolist()]


@pytest.mark.parametrize("width", [1, 2])
@given(rows=ROWS)
def test_rows_are_in_the_order_of_all_words(width: int, rows: list[Row]) -> None:
    found = array_of(rows, width)
    keys = fingerprints_in(found, width)
    assert order_of(found, width).tolist() == sorted(range(len(keys)), key=keys.__getitem__)


@pytest.mark.parametrize("width", [1, 2])
@given(rows=ROWS)
def test_each_fingerprint_is_there_once(width: int, rows: list[Row]) -> None:
    found = array_of(rows, width)
    once = each_once(found, width)
    assert fingerprints_in(once, width) == sorted(set(fingerprints_in(found, width)))
    assert {tuple(row) for row in once.tolist()} <= {tuple(row) for row in found.tolist()}


@pytest.mark.parametrize("width", [1, 2])
@given(rows=ROWS, more=ROWS)
def test_a_fingerprint_is_found_where_it_stands(width: int, rows: list[Row], more: list[Row]) -> None:
    known = each_once(array_of(rows, width), width)
    wanted = array_of([*more, *rows[:3]], width)
    places = {fingerprint: place for place, fingerprint in enumerate(fingerprints_in(known, width))}
    found = [places.get(fingerprint, -1) for fingerprint in fingerprints_in(wanted, width)]
    assert places_in(known, wanted, width).tolist() == found
