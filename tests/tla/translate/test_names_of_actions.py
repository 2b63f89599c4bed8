r"""A next-state relation that no definition names: `[][x' = x + 1]_x` has actions of TLC's name, `Action`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of
from support.modules.three_ways import check_ways

UNNAMED = r"""---- MODULE Protocol ----
EXTENDS Integers
VARIABLES x, y
Init == x = 0 /\ y = {}
Add(n) == x < 3 /\ x' = x + n /\ UNCHANGED y
Spec == Init /\ [][NEXT]_<<x, y>>
Small == x < 3
====
"""
FORMULAS = {
    "one formula": (r"x' = (x + 1) % 3 /\ y' = y \union {x}", 7, 6, 6),
    "a disjunction": (r"Add(1) \/ (x > 0 /\ x' = x - 1 /\ y' = y \union {1}) \/ \E n \in {0, 2} : Add(n)", 27, 10, 5),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_relation_without_a_name_has_the_counts_of_tlc(tmp_path: Path, name: str) -> None:
    formula, generated, distinct, depth = FORMULAS[name]
    module = UNNAMED.replace("NEXT", formula)
    checked = check_ways(tmp_path, module, "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
    found = [checked.module[key] for key in ("generated", "distinct", "depth")]
    assert found == [generated, distinct, depth]
    pair = pair_of(tmp_path, module.replace("MODULE Protocol", "MODULE Unnamed"), "SPECIFICATION Spec\n")
    assert pair.differences(100) == []


def test_a_violation_in_a_relation_without_a_name_has_the_same_trace(tmp_path: Path) -> None:
    module = UNNAMED.replace("NEXT", FORMULAS["a disjunction"][0])
    checked = check_ways(tmp_path, module, "SPECIFICATION Spec\nINVARIANT Small\nCHECK_DEADLOCK FALSE\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert (checked.module["violated"], checked.module["trace length"]) == ("Small", 3)
