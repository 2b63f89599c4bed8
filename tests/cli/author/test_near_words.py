"""Which word an error takes a misspelt one for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands.cli_runner import kmc

from kmc.near_words import edits, nearest

SPEC = """
from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.temporal
def Settles():
    return True
"""


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("aked", ("asked", "acked", "baked"), "acked"),
        ("aked", ("asked", "baked"), "asked"),
        ("standrad", ("standard", "standing"), "standard"),
        ("STANDARD", ("standard",), "standard"),
        ("simulat", ("simulate", "states"), "simulate"),
        ("fase", ("phase", "base"), "base"),
        ("elections", ("max_elections", "voters"), "max_elections"),
        ("zzz", ("acked", "voters"), None),
        ("x", (), None),
    ],
)
def test_the_nearest_word_is_meant(typed: str, known: tuple[str, ...], meant: str | None) -> None:
    assert nearest(typed, known) == meant
    assert nearest(typed, reversed(known)) == meant


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_edits_are_a_distance(one: str, other: str) -> None:
    found = edits(one, other)
    assert found == edits(other, one)
    assert (found == 0) == (one == other)
    assert abs(len(one) - len(other)) <= found <= max(len(one), len(other))


@pytest.mark.parametrize(
    ("one", "other", "found"), [("ab", "ba", 1), ("abcd", "acbd", 1), ("ab", "abc", 1), ("", "ab", 2)]
)
def test_a_swap_of_neighbours_is_one_edit(one: str, other: str, found: int) -> None:
    assert edits(one, other) == found


def test_what_others_call_a_decorator_names_the_one_of_kmc(tmp_path: Path) -> None:
    path = tmp_path / "clock.py"
    path.write_text(SPEC, encoding="utf-8")
    assert "write @spec.liveness" in kmc("check", str(path), "--no-run-dir").stderr
