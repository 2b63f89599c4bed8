r"""Recursive functions of formulas as guards: each step counts as often as TLC counts the ways of the function."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.compiler.compile_spec import compile_spec
from kmc.errors import SpecError
from kmc.tla.translate import ways

SAFE = r"""---- MODULE Safe ----
EXTENDS Integers
CONSTANTS Proc, Quorum
VARIABLES votes, last
Ballot == 0..2
Free(p, b) == b \notin votes[p]
Safe(b, v) ==
  LET safe[k \in Ballot] ==
        \/ k = 0
        \/ \E q \in Quorum :
             /\ \A p \in q : last[p] >= k
             /\ \E c \in -1..(k - 1) :
                  /\ (c # -1) => /\ safe[c]
                                 /\ \A p \in q : c \in votes[p] => c <= v
                  /\ \A d \in (c + 1)..(k - 1), p \in q : Free(p, d)
  IN safe[b]
Init == votes = [p \in Proc |-> {}] /\ last = [p \in Proc |-> -1]
Raise(p) == \E b \in Ballot : b > last[p] /\ last' = [last EXCEPT ![p] = b] /\ UNCHANGED votes
Vote(p) == \E b \in Ballot : /\ last[p] <= b /\ votes[p] = {}
                             /\ FORMULA
                             /\ votes' = [votes EXCEPT ![p] = @ \union {b}]
                             /\ last' = [last EXCEPT ![p] = b]
Next == \E p \in Proc : Raise(p) \/ Vote(p)
Inv == \A p \in Proc : \A b \in votes[p] : Safe(b, 3)
====
"""
CONFIGURATION = """CONSTANTS Proc = {a, b}
Quorum = {{a}, {a, b}}
INIT Init
NEXT Next
CHECK_DEADLOCK FALSE
"""


@pytest.mark.parametrize(
    "formula",
    [
        "Safe(b, 1)",
        "\\A v \\in votes[p] : Safe(b, v)",
        "(b > 0 => Safe(b - 1, 1)) /\\ Safe(b, 2)",
        "~Safe(b, 1) \\/ b = 0",
        "\\E v \\in 0..1 : v < b /\\ Safe(b, v) /\\ 4 \\div (b - v) > 1",
    ],
)
def test_a_recursive_function_counts_its_ways(formula: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, SAFE.replace("FORMULA", formula), CONFIGURATION).differences(60) == []


def test_a_function_with_one_way_too_few_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = ways.WayCounter._quantified
    monkeypatch.setattr(
        ways.WayCounter, "_quantified", lambda self, node, scope: f"min(1, {counted(self, node, scope)})"
    )
    assert pair_of(tmp_path, SAFE.replace("FORMULA", "Safe(b, 1)"), CONFIGURATION).differences(60) != []


def test_a_function_that_assigns_variables_is_refused(tmp_path: Path) -> None:
    steps = "LET step[k \\in 0..1] == k = 0 \\/ (step[k - 1] /\\ last' = last) IN step[1]"
    with pytest.raises(SpecError, match="a function of formulas that have several ways to be true"):
        pair_of(tmp_path, SAFE.replace("FORMULA", steps), CONFIGURATION)


SHOWN = r"""---- MODULE Shown ----
EXTENDS Integers
CONSTANTS Proc, Quorum, Value, None
VARIABLES sent, last
Sent(b) == {m \in sent : m.type = "vote" /\ m.bal = b}
Shows(q, b, v) ==
  /\ \A p \in q : \E m \in Sent(b) : m.acc = p
  /\ \/ \A m \in Sent(b) : m.acc \in q => m.val = None
     \/ \E old \in sent : /\ old = [type |-> "lead", bal |-> old.bal, val |-> v]
                          /\ \A m \in Sent(b) : m.acc \in q => m.bal >= old.bal
Init == sent = {} /\ last = [p \in Proc |-> None]
Vote(p) == \E b \in 0..1 : /\ ~\E m \in sent : m.type = "vote" /\ m.acc = p
                           /\ sent' = sent \union {[type |-> "vote", acc |-> p, bal |-> b, val |-> last[p]]}
                           /\ UNCHANGED last
Lead == \E b \in 0..1, S \in SUBSET Value :
          /\ \A v \in S : \E q \in Quorum : Shows(q, b, v)
          /\ sent' = sent \union {[type |-> "lead", bal |-> b, val |-> v] : v \in S}
          /\ UNCHANGED last
Hear(p) == last[p] = None /\ \E m \in sent : m.type = "lead" /\ last' = [last EXCEPT ![p] = m.val] /\ UNCHANGED sent
Next == Lead \/ \E p \in Proc : Vote(p) \/ Hear(p)
====
"""


def test_ways_in_a_network_have_bounds_that_compiled_code_takes(tmp_path: Path) -> None:
    constants = "CONSTANTS Value = {v, w}\nNone = None\n"
    shown = pair_of(tmp_path, SHOWN, constants + CONFIGURATION)
    assert shown.differences(60) == []
    compile_spec(shown.bound)


def test_ways_in_a_network_without_a_bound_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "_WITNESSES_MAX", 0)
    shown = pair_of(tmp_path, SHOWN, "CONSTANTS Value = {v, w}\nNone = None\n" + CONFIGURATION)
    with pytest.raises(SpecError, match="a number that may reach"):
        compile_spec(shown.bound)
