r"""Recursions that add up the elements of a set: sums and unions of any size, with the steps of the module."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.tla.translate import summing

SUMS = r"""---- MODULE Sums ----
EXTENDS Integers, FiniteSets, Sequences
CONSTANTS Proc
VARIABLES sent, up, n
RECURSIVE Weight(_), Count(_, _), Gather(_, _), All(_, _), Times(_, _), Down(_)
Weight(S) == IF S = {} THEN 0 ELSE LET m == CHOOSE m \in S : TRUE IN m.v + Weight(S \ {m})
Count(S, acc) ==
  IF Cardinality(S) = 0 THEN acc
  ELSE LET m == CHOOSE m \in S : TRUE
           left == S \ {m}
       IN IF up[m.p] THEN Count(left, acc + 1) ELSE IF m.v = 2 THEN Count(left, m.v + acc) ELSE Count(left, acc)
Gather(f, S) == IF S # {} THEN LET p == CHOOSE q \in S : TRUE IN {f[p]} \union Gather(f, S \ {p}) ELSE {TRUE}
All(op(_), S) == IF {} = S THEN 1 ELSE LET m == CHOOSE m \in S : TRUE IN All(op, S \ {m}) + op(m) + 1
Times(k, S) == IF S = {} THEN k ELSE LET p == CHOOSE p \in S : TRUE IN IF up[p] THEN 1 + Times(k, S \ {p})
                                                                       ELSE Times(k, S \ {p})
Down(S) == IF S = {} THEN 0 ELSE LET p == CHOOSE p \in S : TRUE IN Cardinality(S) + Down(S \ {p})
MapThenFold(op(_, _), base, f(_), choose(_), S) ==
  LET iter[s \in SUBSET S] == IF s = {} THEN base ELSE LET x == choose(s) IN op(f(x), iter[s \ {x}])
  IN iter[S]
Pairs == MapThenFold(LAMBDA x, y : x + y, n, LAMBDA x : x[2].v, LAMBDA s : CHOOSE x \in s : TRUE,
                     {x \in Proc \X sent : x[1] # x[2].p})
Init == sent = {} /\ up = [p \in Proc |-> TRUE] /\ n = 0
Send(p) == \E v \in 1..2 : sent' = sent \union {[p |-> p, v |-> v]} /\ n' = Weight(sent') % 4 /\ UNCHANGED up
Fall(p) == up' = [up EXCEPT ![p] = ~@] /\ n' = (Count(sent, 1) + Times(3, Proc)) % 5 /\ UNCHANGED sent
Look(p) == /\ n' = (Cardinality(Gather([q \in Proc |-> up[q]], Proc \ {p})) + Pairs + Down({q \in Proc : up[q]})) % 7
           /\ UNCHANGED <<up, sent>>
Next == \E p \in Proc : Send(p) \/ Fall(p) \/ Look(p)
Few == All(LAMBDA m : m.v, sent) < 9
====
"""
CONFIGURATION = """CONSTANTS Proc = {"a", "b"}
INIT Init
NEXT Next
INVARIANT Few
CHECK_DEADLOCK FALSE
"""


def test_sums_and_unions_have_the_steps_of_the_module(tmp_path: Path) -> None:
    sums = pair_of(tmp_path, SUMS, CONFIGURATION)
    assert sums.differences(120) == []
    text = sums.translated.folder.files["spec.py"]
    assert text.count("sum(") >= 4
    assert "_level_" in text  # Down counts what is left: a chain


def test_the_sum_of_an_empty_set_is_that_of_its_base(tmp_path: Path) -> None:
    empty = SUMS.replace("sent \\union {[p |-> p, v |-> v]}", "{}")
    assert pair_of(tmp_path, empty, CONFIGURATION).differences(40) == []


def test_a_sum_without_its_base_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summing, "_SIGNS", {"+": "-", "\\union": "|"})
    assert pair_of(tmp_path, SUMS, CONFIGURATION).differences(120) != []


FUNCTIONS = r"""---- MODULE Built ----
EXTENDS Integers, TLC
CONSTANTS Proc
VARIABLES f, n
RECURSIVE Same(_), Put(_, _)
Same(S) == IF S = {} THEN <<>> ELSE LET p == CHOOSE p \in S : TRUE IN (p :> n) @@ Same(S \ {p})
Put(S, acc) == IF S = {} THEN acc ELSE LET p == CHOOSE p \in S : TRUE IN Put(S \ {p}, acc @@ (p :> f[p] + 1))
Init == f = [p \in Proc |-> 0] /\ n = 0
Step == n' = (n + 1) % 3 /\ UNCHANGED f
Set == \E S \in SUBSET Proc : f' = Same(S) @@ f /\ UNCHANGED n
Up == f' = Put({p \in Proc : f[p] < 2}, <<>>) @@ f /\ UNCHANGED n
Next == Step \/ Set \/ Up
====
"""


def test_functions_that_a_recursion_makes_have_the_steps_of_the_module(tmp_path: Path) -> None:
    built = pair_of(tmp_path, FUNCTIONS, CONFIGURATION.replace("INVARIANT Few\n", ""))
    assert built.differences(60) == []
    assert "_level_" not in built.translated.folder.files["spec.py"]
