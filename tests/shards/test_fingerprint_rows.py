"""Rows are put in order, each once, and looked up by all words of their fingerprints, as unsigned numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles.row_order import Row, difference

WORDS = st.sampled_from([1, 2, 3, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
"""Few, so that fingerprints of two words share the first one, and some that are negative as signed numbers."""

ROWS = st.lists(st.tuples(WORDS, WORDS, st.integers(0, 9)), max_size=20)


@pytest.mark.parametrize("width", [1, 2])
@given(rows=ROWS, more=ROWS)
def test_rows_are_ordered_and_found_as_plain_python_does(width: int, rows: list[Row], more: list[Row]) -> None:
    assert difference(rows, more, width) is None
