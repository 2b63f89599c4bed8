r"""Recursions that use locals of what is around them, in values and in operators that were passed to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import EvaluationError

CONFIGURATION = "CONSTANTS Proc = {1, 2, 3}\nINIT Init\nNEXT Next\nINVARIANT Inv\n"
OVER = r"""---- MODULE Over ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANTS Proc
VARIABLES load, limit
Over(op(_, _), first, f(_), S) ==
  LET go[s \in SUBSET S] == IF s = {} THEN first ELSE LET x == CHOOSE x \in s : TRUE IN op(f(x), go[s \ {x}])
  IN go[S]
Total(f, S) == Over(LAMBDA a, b : a + b, 0, LAMBDA x : f[x], S)
Init == load = [p \in Proc |-> 0] /\ limit = <<2, 1, 2>>
Give(p) == \E n \in 1..2 :
             /\ Over(LAMBDA a, b : a + b * n, n, LAMBDA q : load[q] + p, Proc \ {p}) < 40
             /\ load[p] + n <= limit[p] /\ load' = [load EXCEPT ![p] = @ + n]
             /\ UNCHANGED limit
Clear(p) == LET most == load[p] twice(x) == load[x] + most IN
            /\ Over(LAMBDA a, b : IF a > b THEN a ELSE b, FIRST, twice, Proc) = 2 * most /\ most > 0
            /\ load' = [load EXCEPT ![p] = 0] /\ UNCHANGED limit
Next == \E p \in Proc : Give(p) \/ Clear(p)
Inv == Total(load, Proc) <= Total(limit, Proc) /\ \A p \in Proc : Total(load, {q \in Proc : q # p}) <= 4
====
"""
LISTS = r"""---- MODULE Lists ----
EXTENDS Integers, Sequences
CONSTANTS Proc
VARIABLES a, b, c
RECURSIVE Total(_), Nested(_)
Total(s) == IF s = <<>> THEN 0 ELSE Head(s) + Total(Tail(s))
Nested(s) == IF s = <<>> THEN 0 ELSE Total(Head(s)) + Nested(Tail(s))
Init == a = 0 /\ b = 1 /\ c = 2
Next == \/ Total(<<a, b, c>>) < 6 /\ a' = (a + 1) % 3 /\ b' = Total(<<a, c>>) % 3 /\ UNCHANGED c
        \/ c' = (c + 1) % 4 /\ UNCHANGED <<a, b>> /\ Total(<<a', b', c'>>) # Total(<<a>>)
Inv == Nested(<<<<a, b>>, <<c, 1>>, <<b, b>>>>) = Total(<<a, b, c, 1, b, b>>)
====
"""


def test_operators_that_are_passed_use_locals(tmp_path: Path) -> None:
    assert pair_of(tmp_path, OVER.replace("FIRST", "0"), CONFIGURATION).differences(200) == []


def test_a_value_that_is_not_there_stops_only_where_it_is_used(tmp_path: Path) -> None:
    fine = OVER.replace("FIRST, twice, Proc)", "load[most + 1], twice, Proc)")
    assert pair_of(tmp_path / "fine", fine, CONFIGURATION).differences(200) == []
    with pytest.raises(EvaluationError):
        pair_of(tmp_path / "stops", OVER.replace("FIRST", "load[most]"), CONFIGURATION).differences(200)


def test_tuples_of_variables_are_gone_through_as_sequences(tmp_path: Path) -> None:
    assert pair_of(tmp_path, LISTS, CONFIGURATION.replace("Proc = {1, 2, 3}", "Proc = {1}")).differences(100) == []
