"""The numbers that Python and native loops share mean one thing each."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest

from kmc.engine.layout import control_words

SIZES = ("SHARED_WORDS", "MINE_WORDS", "MOVE_WORDS")
"""What ends each list of control words."""


def words_of(size: str) -> list[tuple[str, int]]:
    """The control words whose number is `size`: those that stand between the one before it and it in the file."""
    body = ast.parse(Path(control_words.__file__).read_text(encoding="utf-8")).body
    names = [item.target.id for item in body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
    starts = [names.index("LINE_WORDS"), *(names.index(name) for name in SIZES)]
    first, end = list(pairwise(starts))[SIZES.index(size)]
    return [(name, getattr(control_words, name)) for name in names[first + 1 : end]]


@pytest.mark.parametrize("size", SIZES)
def test_no_two_control_words_have_one_place(size: str) -> None:
    words = words_of(size)
    places = [place for _, place in words]
    assert len(words) > 5
    assert len(set(places)) == len(places), sorted(words, key=lambda word: word[1])
    assert max(places) < getattr(control_words, size)
