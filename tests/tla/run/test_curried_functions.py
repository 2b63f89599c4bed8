r"""Recursive functions whose results are functions: `D[i \in S] == [j \in T |-> ... D[i][j - 1] ...]`."""

from __future__ import annotations

from pathlib import Path

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.result import Result

MODULE = r"""---- MODULE Protocol ----
EXTENDS Integers, Sequences
VARIABLES a, b
Least(m, n) == IF m < n THEN m ELSE n
Distance(s, t) ==
  LET D[i \in 0..Len(s)] == [j \in 0..Len(t) |->
        IF i = 0 THEN j ELSE IF j = 0 THEN i
        ELSE Least(Least(D[i - 1][j], D[i][j - 1]) + 1, D[i - 1][j - 1] + (IF s[i] = t[j] THEN 0 ELSE 1))]
  IN D[Len(s)][Len(t)]
Rows(s) == LET D[i \in 0..2, j \in 0..1] == [k \in 0..i |-> IF k = 0 THEN s[1] ELSE D[i, j][k - 1] + j] IN D
Init == a = <<1, 2>> /\ b = <<>>
Next == \E n \in 1..2 : \/ Len(a) < 3 /\ a' = Append(a, n) /\ b' = b
                        \/ Len(b) < 2 /\ b' = Append(b, n) /\ a' = a
Near == Distance(a, b) < 4
Rowwise == LET D == Rows(a) IN /\ D[2, 1] = [k \in 0..2 |-> a[1] + k]
                               /\ DOMAIN D[1, 0] = 0..1
                               /\ [D EXCEPT ![2, 1][2] = 0][2, 1][2] = 0
Apart == Distance(a, b) < 3
====
"""


def _checked(folder: Path, lines: str) -> Result:
    path = folder / "Protocol.tla"
    path.write_text(MODULE, encoding="utf-8")
    path.with_suffix(".cfg").write_text(f"INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n{lines}\n", encoding="utf-8")
    return check_module(ModuleRequest(path, path.with_suffix(".cfg"), engine=Engine.PYTHON)).result


def test_a_result_may_read_its_own_other_values(tmp_path: Path) -> None:
    result = _checked(tmp_path, "INVARIANTS Near Rowwise")
    assert (result.violation, result.counters.generated, result.counters.distinct, result.counters.depth) == (
        None,
        33,
        21,
        4,
    )


def test_a_false_invariant_of_such_a_function_is_found(tmp_path: Path) -> None:
    violation = _checked(tmp_path, "INVARIANT Apart").violation
    assert violation is not None
    assert (violation.name, len(violation.trace)) == ("Apart", 2)
