"""A result beside the figures that a manifest expects: each difference is one line, with both values."""

from __future__ import annotations

from typing import Any

import pytest

from kmc.checking.expectation import differences

FOUND = {"result": "ok", "distinct": 12345, "invariant": None, "levels": [1, 2000], "generated_by_action": {"A": 1}}


@pytest.mark.parametrize(
    ("expect", "lines"),
    [
        ({}, []),
        ({"result": "ok", "distinct": 12345, "levels": [1, 2000]}, []),
        ({"origin": "TLC 2.19"}, []),
        ({"result": "violation"}, ["result: expected violation, found ok"]),
        ({"distinct": 12346}, ["distinct: expected 12,346, found 12,345"]),
        ({"invariant": "Safe"}, ["invariant: expected Safe, found none"]),
        ({"invariant": {"A": 1}}, ["invariant: expected {'A': 1}, found none"]),
        ({"levels": [1]}, ["levels: expected [1], found [1, 2,000]"]),
        ({"distinct": 1, "result": "x"}, ["distinct: expected 1, found 12,345", "result: expected x, found ok"]),
        ({"generated_by_action": {"A": 1}}, []),
        ({"generated_by_action": {"A": 2}}, ["generated_by_action, A: expected 2, found 1"]),
        ({"generated_by_action": {"B": 2}}, ["generated_by_action, B: expected 2, found none"]),
    ],
)
def test_each_figure_that_differs_is_one_line(expect: dict[str, Any], lines: list[str]) -> None:
    assert differences(expect, FOUND) == lines
