r"""Functions on tuples, computed functions that are compared, tables of recursions: the steps of the module."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import EvaluationError, SpecError

GRID = r"""---- MODULE Grid ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANTS Proc, Other, None
VARIABLES cell, sent, order, last, none
Pairs == Proc \X (0..1)
Near == [p \in Proc |-> {<<q, cell[q, 0]>> : q \in {r \in Proc : cell[p, 1] = cell[r, 1]}}]
Before(p, q) == LET at[r \in Proc] == CHOOSE i \in 1..Len(order) : order[i] = r IN at[p] < at[q]
Orders(S) ==
  LET of[T \in SUBSET S] == IF T = {} THEN {<<>>} ELSE UNION {{Append(o, e) : o \in of[T \ {e}]} : e \in T}
  IN of[S]
First(S) == CHOOSE m \in S : \A n \in S : m.at <= n.at + 1
Init == /\ cell = [p \in Proc, i \in 0..1 |-> i] /\ sent = {} /\ order = <<>> /\ last = None
        /\ none = [p \in {} |-> 0]
Write(p) == \E i \in 0..1, v \in 0..2 :
  /\ v >= cell[<<p, i>>]
  /\ cell' = [cell EXCEPT ![p, i] = v]
  /\ last' = IF v = 2 THEN None ELSE v
  /\ UNCHANGED <<sent, order, none>>
Send(p) == /\ \E few \in SUBSET Pairs : Cardinality(few) = 1 /\ sent' = sent \union few
           /\ \A q \in {r \in Proc : cell[r, 1] > 0} : \E m \in sent : m[1] = p \/ cell[q, 0] = m[2]
           /\ UNCHANGED <<cell, order, last, none>>
Begin == sent = {} /\ sent' = {<<p, IF p = Other THEN 0 ELSE 1>> : p \in Proc} /\ UNCHANGED <<cell, order, last, none>>
Order == /\ order' \in Orders({m[1] : m \in sent})
         /\ none' = [none EXCEPT ![IF last = None THEN 0 ELSE last] = 1]
         /\ UNCHANGED <<cell, sent, last>>
Take == /\ sent # {}
        /\ last' = First({[who |-> m[1], at |-> m[2]] : m \in sent}).at
        /\ order' = <<First({[who |-> m[1], at |-> m[2]] : m \in sent}).who>> \o order
        /\ Len(order) < 2
        /\ UNCHANGED <<cell, sent, none>>
Next == Begin \/ Order \/ Take \/ \E p \in Proc : Write(p) \/ Send(p)
Kinds == last \in Int \union {None} /\ last \in 0..2 \union {None}
Types == cell \in [Pairs -> 0..2] /\ Near \in [Proc -> SUBSET (Proc \X (0..1))]
Same == Near = [p \in Proc |-> {<<q, 0>> : q \in Proc}]
Changed == [Near EXCEPT ![Other] = {}] # [p \in Proc |-> IF p = Other THEN {} ELSE Near[p] \union {<<p, 0>>}]
====
"""
CONFIGURATION = "CONSTANTS Proc = {a, b} Other = b None = None\nINIT Init\nNEXT Next\n"
INVARIANTS = "INVARIANTS Kinds Types Same Changed\n"
STATES = 120


@pytest.mark.slow
def test_computed_functions_and_tables_have_the_steps_of_the_module(tmp_path: Path) -> None:
    grid = pair_of(tmp_path, GRID, CONFIGURATION + INVARIANTS)
    assert grid.differences(STATES) == []
    spec = grid.translated.folder.files["spec.py"]
    assert "PartialMap[Tuple2, Int(" in spec
    assert "def of__level_0(" in spec
    assert "def rank_level_0(" in spec
    assert spec.count("for _ in range(") == 2


CHANGED = r"""---- MODULE Changed ----
EXTENDS Integers
CONSTANTS P
VARIABLES n, x
Comp == [p \in P |-> n + p]
Init == n = 0 /\ x = 2
Next == n' = 1 /\ UNCHANGED x /\ [Comp EXCEPT ![x] = VALUE][ARGUMENT] # 9
====
"""


def test_a_changed_function_has_no_value_outside_of_its_domain(tmp_path: Path) -> None:
    configuration = "CONSTANTS P = {0, 1}\nINIT Init\nNEXT Next\n"
    inside = CHANGED.replace("VALUE", "@ + 1").replace("ARGUMENT", "n")
    assert pair_of(tmp_path / "inside", inside, configuration).differences(2) == []
    outside = CHANGED.replace("VALUE", "7").replace("ARGUMENT", "x")
    with pytest.raises(EvaluationError) as failed:
        pair_of(tmp_path / "outside", outside, configuration).differences(2)
    assert failed.value.code == "KMC290"  # the translation has the error too, and has it first
    partial = CHANGED.replace("VALUE", "6 \\div n").replace("ARGUMENT", "n")
    with pytest.raises(SpecError, match="with values that may be undefined") as refused:
        pair_of(tmp_path / "partial", partial, configuration)
    assert refused.value.code == "KMC812"


LIFE = r"""---- MODULE Life ----
EXTENDS Integers
VARIABLES grid, seen
Pos == (1..2) \X (1..2)
alive[<<x, y>> \in (0..3) \X (0..3)] == CASE x \in {0, 3} \/ y \in {0, 3} -> 0 [] grid[<<x, y>>] -> 1 [] OTHER -> 0
both == [x \in 0..3, y \in {1, 2} |-> IF x \in {1, 2} THEN grid[<<x, y>>] ELSE FALSE]
Of(f, p) == f[p]
Around(p) == {q \in (0..3) \X (0..3) : q[1] = p[1] \/ q[2] = p[2] + 1}
Init == grid \in [Pos -> BOOLEAN] /\ seen = 0
Next == /\ grid' = [p \in Pos |-> \E q \in Around(p) : Of(alive, q) = 1 /\ alive[p] = 0]
        /\ seen' = (1 + seen + alive[<<1, seen>>] + IF \E p \in Pos : Of(both, p) /\ both[p[2], p[1]] THEN 1 ELSE 0) % 4
====
"""


def test_an_application_to_a_tuple_makes_no_function(tmp_path: Path) -> None:
    life = pair_of(tmp_path, LIFE, "INIT Init\nNEXT Next\n")
    assert life.differences(40) == []
    assert "for x_" not in life.translated.folder.files["spec.py"]


def test_a_function_of_a_pattern_has_no_value_outside_of_its_domain(tmp_path: Path) -> None:
    outside = LIFE.replace("alive[<<1, seen>>]", "alive[<<1, seen + 4>>]")
    with pytest.raises(EvaluationError):  # whether as a key or as an item of tuples
        pair_of(tmp_path, outside, "INIT Init\nNEXT Next\n").differences(2)
