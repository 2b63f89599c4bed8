r"""UNCHANGED of an expression, such as a part of a variable: a test of the step, once all variables have values."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.three_ways import check_ways

MODULE = r"""---- MODULE Protocol ----
EXTENDS Integers, Sequences
VARIABLES x, q
Init == x = [i \in 1..3 |-> i % 2] /\ q = <<>>
Total == x[1] + x[2] + x[3]
Shift == /\ x' \in [1..3 -> 0..2] /\ q' = q /\ UNCHANGED Total
Others(i) == /\ x' \in [1..3 -> 0..2]
             /\ q' = IF Len(q) = 1 THEN <<>> ELSE Append(q, i)
             /\ \A j \in (1..3) \ {i} : UNCHANGED x[j]
Both == /\ q' \in {<<>>, <<3>>} /\ x' = [x EXCEPT ![2] = (@ + 1) % 3] /\ UNCHANGED <<Len(q), x[1]>>
One == STEP
Kept == UNCHANGED q \/ UNCHANGED <<x[1], x[2]>> \/ UNCHANGED <<x[3]>>
====
"""
FIGURES = {
    "Shift": (37, 6, 2),
    r"\E i \in 1..2 : Others(i)": (163, 27, 4),
    "Both": (4, 3, 3),
}


@pytest.mark.parametrize("formula", FIGURES)
def test_a_step_that_changes_the_expression_is_left_out(tmp_path: Path, formula: str) -> None:
    lines = "INIT Init\nNEXT One\nACTION_CONSTRAINT Kept\nCHECK_DEADLOCK FALSE\n"
    checked = check_ways(tmp_path, MODULE.replace("STEP", formula), lines)
    assert (checked.differences(), checked.is_refused) == ([], False)
    found = tuple(checked.module[key] for key in ("generated", "distinct", "depth"))
    assert found == FIGURES[formula]
