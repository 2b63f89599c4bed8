"""Where two states differ: the innermost parts, each with its text on both sides."""

from __future__ import annotations

import pytest

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.reference.states.differences import Part, differing_parts


def function(**pairs: Tla) -> TlaMap:
    """The function with these pairs."""
    return TlaMap(tuple(pairs.items()))


def record(**fields: Tla) -> TlaRecord:
    """The record with these fields."""
    return TlaRecord(tuple(fields.items()))


@pytest.mark.parametrize(
    ("left", "right", "parts"),
    [
        (1, 1, []),
        (1, 2, [Part("x", "1", "2")]),
        (True, 1, [Part("x", "TRUE", "1")]),
        (TlaSet((1,)), "Nil", [Part("x", "{1}", "Nil")]),
        (function(a=1, b=2), function(b=2, a=1), []),
        (function(a=1, b=2), function(a=1, b=3), [Part("x[b]", "2", "3")]),
        (function(a=1), function(b=1), [Part("x[a]", "1", None), Part("x[b]", None, "1")]),
        (TlaSeq((5, 6)), TlaSeq((5, 7, 8)), [Part("x[2]", "6", "7"), Part("x[3]", None, "8")]),
        (TlaSeq((5, 6)), TlaMap(((1, 5), (2, 9))), [Part("x[2]", "6", "9")]),
        (record(f=1, g=2), record(g=2, f=0), [Part("x.f", "1", "0")]),
        (record(f=1), record(g=1), [Part("x.f", "1", None), Part("x.g", None, "1")]),
        (TlaSet((1, 2)), TlaSet((2, 3)), [Part("x{1}", "TRUE", None), Part("x{3}", None, "TRUE")]),
        (function(a=record(f=TlaSeq((1,)))), function(a=record(f=TlaSeq((2,)))), [Part("x[a].f[1]", "1", "2")]),
    ],
)
def test_only_the_innermost_parts_that_differ_are_listed(left: Tla, right: Tla, parts: list[Part]) -> None:
    assert differing_parts({"x": left}, {"x": right}) == tuple(parts)


def test_parts_come_in_the_order_of_the_left_side_and_then_of_the_right() -> None:
    found = differing_parts({"c": 1, "a": 1, "b": 1}, {"d": 1, "a": 2, "c": 1})
    assert found == (Part("a", "1", "2"), Part("b", "1", None), Part("d", None, "1"))
