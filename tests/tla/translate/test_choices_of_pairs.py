r"""CHOOSE among the pairs of a product, and functions whose values are atoms of several constant sets."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc
from kmc.errors import EvaluationError

CONFIGURATION = (
    "CONSTANTS Read = {r} Write = {v, w} Node = {a, b, c}\nINIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n"
)
VOTES = r"""---- MODULE Votes ----
EXTENDS Integers, FiniteSets, TLC
CONSTANTS Read, Write, Node
VARIABLES vote, won, log
Ops == Read \union Write
Init == vote = [n \in Node |-> [bal |-> 0, op |-> "none"]] /\ won = "none" /\ log = <<>>
Cast(n) == \E b \in 1..2, op \in Ops :
  /\ b > vote[n].bal /\ won = "none" /\ \A m \in Node : vote[m].bal = b => vote[m].op = op
  /\ vote' = [vote EXCEPT ![n] = [bal |-> b, op |-> op]] /\ UNCHANGED <<won, log>>
Best(S) == LET best == CHOOSE p \in (1..2) \X Ops :
                         /\ \E n \in S : vote[n].bal = p[1] /\ vote[n].op = p[2]
                         /\ \A n \in S : vote[n].bal <= p[1]
           IN best[2]
Some == LET p == CHOOSE p \in Ops \X (0..1) \X {TRUE, FALSE} : p[2] = 1 IN p
Win == \E S \in SUBSET Node : /\ Cardinality(S) = 2 /\ won = "none" /\ GUARD
                              /\ won' = Best(S) /\ log' = <<Some[1], Some[2]>> /\ UNCHANGED vote
Next == Win \/ \E n \in Node : Cast(n)
Orders == {f \in [1..2 -> Ops] : f[1] # f[2]}
Inv == /\ won # "none" => \E f \in Orders : f[2] = won /\ \A n \in Node : vote[n].op = f[1] => vote[n].bal < 3
       /\ won \in Write => \E f \in [Node -> Ops] : \A n \in Node : vote[n].op \in {f[n], "none"}
====
"""


def test_the_first_pair_in_order_is_taken(tmp_path: Path) -> None:
    module = VOTES.replace("GUARD", r"\E n \in S : vote[n].bal > 0")
    assert pair_of(tmp_path, module, CONFIGURATION).differences(250) == []


def test_no_pair_stops_the_translation_too(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError):
        pair_of(tmp_path, VOTES.replace("GUARD", "TRUE"), CONFIGURATION).differences(250)


def test_compiled_code_keeps_atoms_of_several_sets_in_one_function(tmp_path: Path) -> None:
    path = tmp_path / "Votes.tla"
    path.write_text(VOTES.replace("GUARD", r"\E n \in S : vote[n].bal > 0"), encoding="utf-8")
    path.with_suffix(".cfg").write_text(CONFIGURATION, encoding="utf-8")
    results = [kmc.check_module(path, engine=engine) for engine in ("python", "native")]
    figures = [(one.verdict, one.generated, one.distinct, one.depth) for one in results]
    assert figures[0] == figures[1]
    assert results[1].distinct > 50
