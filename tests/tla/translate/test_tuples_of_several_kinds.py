r"""Tuples of one length with items of several kinds: pairs of pairs beside pairs, a set beside a number."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import SpecError
from kmc.tla.translate import translator

CONFIGURATION = """CONSTANTS Proc = {a, b}
INIT Init
NEXT Next
INVARIANT Inv
CHECK_DEADLOCK FALSE
"""
EDGES = r"""---- MODULE Edges ----
EXTENDS Integers, FiniteSets
CONSTANTS Proc
VARIABLES own, turn, edges, seen
Edges == {<<<<x, y>>, <<x + 1, y>>>> : x \in 0..1, y \in 0..1}
Init == own = {<<0, 0>>} /\ turn = [p \in Proc |-> <<"idle", 0>>] /\ edges = {} /\ seen = {}
Grow == \E edge \in Edges : /\ edge[1] \in own
                            /\ own' = own \union {edge[2]}
                            /\ edges' = edges \union {edge}
                            /\ UNCHANGED <<turn, seen>>
Begin(p) == /\ turn[p][1] = "idle"
            /\ turn' = [turn EXCEPT ![p] = <<"busy", turn[p][2] + 1>>]
            /\ seen' = seen \union {<<p, {q \in Proc : turn[q][1] = "busy"}>>}
            /\ UNCHANGED <<own, edges>>
End(p) == turn[p] = <<"busy", 1>> /\ turn' = [turn EXCEPT ![p][1] = "done"] /\ UNCHANGED <<own, edges, seen>>
Next == Grow \/ \E p \in Proc : Begin(p) \/ End(p)
Inv == /\ \A edge \in edges : edge[1][2] = edge[2][2] /\ edge \in Edges
       /\ \A one \in seen : one \in Proc \X SUBSET Proc /\ one[1] \notin one[2]
       /\ own \subseteq (0..2) \X (0..1)
====
"""
VERTICES = r"""---- MODULE Vertices ----
EXTENDS Integers, FiniteSets
CONSTANTS Proc
VARIABLES vertices, edges
Init == vertices = {<<p, 0>> : p \in Proc} /\ edges = {}
Round(v) == v[2]
Add(p) == \E v \in vertices : LET new == <<p, Round(v) + 1>> IN
            /\ Round(v) < 2 /\ new \notin vertices
            /\ vertices' = vertices \union {new}
            /\ edges' = edges \union {<<new, v>>} \union {<<new, w>> : w \in {u \in vertices : Round(u) = 0}}
Cut == \E e \in edges : edges' = edges \ {e} /\ vertices' = vertices \ {e[1]}
Next == Cut \/ \E p \in Proc : Add(p)
Inv == /\ \A <<v, w>> \in edges : Round(v) > Round(w)
       /\ {e[1] : e \in edges} \subseteq Proc \X (0..2)
       /\ Cardinality({v \in vertices : \E w \in vertices : <<v, w>> \in edges}) < 5
====
"""
ABSENT = r"""---- MODULE Absent ----
EXTENDS Integers
CONSTANTS Proc, None
VARIABLES links
Init == links = {}
Next == \E p \in Proc : \E of \in {None, <<p, 1>>} : links' = links \union {<<of, p>>}
Inv == \A link \in links : link[1] = None \/ link[1][1] = link[2]
====
"""


@pytest.mark.parametrize("module", [EDGES, VERTICES], ids=["edges", "vertices"])
def test_tuples_of_several_kinds_have_the_steps_of_the_module(module: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, module, CONFIGURATION).differences(100) == []


def test_tuples_are_of_one_class_where_that_has_a_translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator, "mixes_kinds", lambda records: False)
    with pytest.raises(SpecError, match="a tuple in one place and a sequence or function in another"):
        pair_of(tmp_path, EDGES, CONFIGURATION)


def test_an_item_that_may_be_a_tuple_or_none_is_refused_beside_such_tuples(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="that hold others of that kind"):
        pair_of(tmp_path, ABSENT, CONFIGURATION.replace("INIT", "None = None\nINIT"))
