"""A temporal formula without a value: in both engines, what the search finds without it comes first."""

from __future__ import annotations

from pathlib import Path

from support.modules.three_ways import check_ways

MODULE = r"""---- MODULE Protocol ----
EXTENDS Naturals
VARIABLES x, y
vars == <<x, y>>
Init == x = 0 /\ y = 0
Share == y' = 10 \div x /\ x' = x
Next == x < 4 /\ x' = x + 1 /\ y' = y
Spec == Init /\ [][Next]_vars /\ WF_vars(Share)
Low == x < 2
Arrives == <>(x = 4)
====
"""
MODEL = "SPECIFICATION Spec\nPROPERTY Arrives\n"


def test_a_violation_comes_before_the_error_of_a_temporal_formula(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, MODULE, MODEL + "INVARIANT Low\n")
    assert checked.differences() == []
    assert not checked.is_refused
    assert (checked.module["violated"], checked.module["trace length"]) == ("Low", 3)


def test_a_deadlock_comes_before_it_too(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, MODULE, MODEL)
    assert checked.differences() == []
    assert (checked.module["exit status"], checked.module["trace length"]) == (11, 5)


def test_without_either_it_is_the_error_of_the_check(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, MODULE, MODEL + "CHECK_DEADLOCK FALSE\n")
    assert "KMC267" in str(checked.module)
    assert "KMC267" in str(checked.translations["compiled"])
