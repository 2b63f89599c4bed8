r"""Names of actions that a module does not define at its top: those of a LET, and of `[][x' = x + 1]_x`."""

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
LOCAL = r"""---- MODULE Protocol ----
EXTENDS Integers
VARIABLES x, y
Init == x = 0 /\ y = {}
Last == 2
Add(n) == x < 3 /\ x' = x + n /\ UNCHANGED y
Next == LET Down == x > 0 /\ x' = x - 1 /\ y' = y \union {1}
            Twice == Add(Last) \/ Down
            Limit == 3
            Reset(n) == x = Limit /\ x' = n /\ y' = {}
        IN Down \/ Twice \/ Add(1) \/ \E n \in 0..1 : Reset(n)
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


def test_actions_of_a_let_have_names_of_their_own(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, LOCAL, "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert tuple(checked.module[key] for key in ("generated", "distinct", "depth")) == (33, 10, 5)


def test_a_let_that_reads_the_state_is_one_action(tmp_path: Path) -> None:
    module = LOCAL.replace("Limit == 3", "Limit == x + 0")
    checked = check_ways(tmp_path, module, "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
