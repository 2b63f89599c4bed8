r"""Definitions that replace what they apply: `Next <- Mine` in a `.cfg` file, where Mine applies Next."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.three_ways import check_ways

MODULE = r"""---- MODULE Protocol ----
EXTENDS Naturals
VARIABLE x
Twice(n) == n + n
Init == x = 0
Up == x' = (x + Twice(1)) % 5
Next == Up
Again == Up \/ Next
Other == Up \/ x' = 0
Double(n) == IF n = 0 THEN 0 ELSE Twice(n - 1) + 2
Endless(n) == Twice(n + 1)
====
"""
MODEL = "INIT Init\nNEXT Next\n"


def test_a_replacement_may_apply_itself_until_it_ends(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, MODULE, f"{MODEL}CONSTANT Twice <- Double\n")
    assert checked.differences() == []
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [6, 5, 5]


@pytest.mark.parametrize("line", ["Next <- Again", "Twice <- Endless"])
def test_a_replacement_that_applies_itself_for_ever_is_an_error(tmp_path: Path, line: str) -> None:
    checked = check_ways(tmp_path, MODULE, f"{MODEL}CONSTANT {line}\n", compiles=False)
    assert "KMC270" in str(checked.module)


def test_a_replacement_that_does_not_apply_itself_is_translated(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, MODULE, f"{MODEL}CONSTANT Next <- Other\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
