r"""Recursive operators with operator parameters: each operator that is passed gives helpers of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import SpecError

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n"
FOLDS = r"""---- MODULE Folds ----
EXTENDS Integers, Sequences, FiniteSets
VARIABLES log, sum, top
RECURSIVE FoldSeq(_, _, _), FoldSet(_, _, _), Nested(_, _)
FoldSeq(op(_, _), z, s) == IF s = <<>> THEN z ELSE FoldSeq(op, op(z, Head(s)), Tail(s))
FoldSet(op(_, _), z, S) == IF S = {} THEN z ELSE LET x == CHOOSE x \in S : TRUE IN op(x, FoldSet(op, z, S \ {x}))
Nested(op(_), n) == IF n = 0 THEN 0 ELSE op(n) + Nested(op, n - 1)
Add(a, b) == a + b
Run(total, entry) == IF entry.kind = "add" THEN total + entry.n ELSE total * entry.n
Through(op(_, _), s) == FoldSeq(op, 0, s)
Numbers == {log[i].n : i \in DOMAIN log}
Init == log = <<>> /\ sum = 0 /\ top = 0
Put == \E kind \in {"add", "times"}, n \in 1..2 :
  /\ Len(log) < 3
  /\ log' = Append(log, [kind |-> kind, n |-> n])
  /\ sum' = Through(Run, log') + FoldSet(+, 0, Numbers)
  /\ UNCHANGED top
Top == /\ LET Larger(a, b) == IF a > b THEN a ELSE b IN top' = FoldSet(Larger, 0, Numbers \union {sum % 5})
       /\ UNCHANGED <<log, sum>>
Next == Put \/ Top
Inv == FoldSeq(LAMBDA a, e : a + e.n, 0, log) >= Len(log) /\ Nested(LAMBDA k : k * k, Len(log)) < 14 /\ INVARIANT
====
"""


@pytest.mark.parametrize(
    "more",
    [
        "TRUE",
        "FoldSeq(LAMBDA a, e : a + e.n + Len(log), 0, log) < 20",
        r"\A k \in 1..2 : FoldSeq(LAMBDA a, e : a + e.n + k, 0, log) < 20",
        r"\A k \in 1..2 : LET Plus(a, e) == a + e.n + k IN FoldSeq(Plus, 0, log) < 20",
    ],
    ids=["nothing more", "a variable", "a local", "a local of a LET"],
)
def test_a_recursion_with_an_operator_has_the_values_of_the_module(more: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, FOLDS.replace("INVARIANT", more), CONFIGURATION).differences(200) == []


def test_an_operator_that_helpers_cannot_have_is_refused(tmp_path: Path) -> None:
    nested = "FoldSeq(LAMBDA a, e : a + FoldSeq(Run, e.n, log), 0, log) < 90"
    with pytest.raises(SpecError, match="KMC812"):
        pair_of(tmp_path, FOLDS.replace("INVARIANT", nested), CONFIGURATION)
