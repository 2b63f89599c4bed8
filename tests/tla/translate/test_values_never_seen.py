r"""Values that no state has: fields of records that were never sent, functions that never have a key."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import EvaluationError

CONFIGURATION = """CONSTANTS Proc = {a, b}
INIT Init
NEXT Next
INVARIANT Inv
CHECK_DEADLOCK FALSE
"""
UNSEEN = r"""---- MODULE Unseen ----
EXTENDS Integers, Sequences
CONSTANTS Proc
VARIABLES sent, inbox, x
Init == sent = {} /\ inbox = <<>> /\ x = 0
Send == \E p \in Proc : sent' = sent \union {[type |-> "a", src |-> p]} /\ UNCHANGED <<inbox, x>>
Read == \E m \in sent : m.type = "b" /\ m.value > 0 /\ x' = m.value /\ UNCHANGED <<sent, inbox>>
Take == GUARD /\ Head(inbox).val = 1 /\ x' = Head(inbox).other.inner + 1 /\ UNCHANGED <<sent, inbox>>
Tick == x' = (x + 1) % 3 /\ UNCHANGED <<sent, inbox>>
Next == Send \/ Read \/ Take \/ Tick
Inv == \A m \in sent : m.type = "c" => m.nothere = 3
====
"""
EMPTY = r"""---- MODULE Empty ----
EXTENDS Integers, TLC
CONSTANTS Proc
VARIABLES f, g, r, s
Init == f = <<>> /\ g = [p \in {} |-> 0] /\ r = [x |-> {}, z |-> [q \in {} |-> 1]] /\ s = 0
Add(p) == f' = (p :> s) @@ f /\ s' = (s + 1) % 3 /\ UNCHANGED <<g, r>>
Join == g' = g @@ [p \in {} |-> 0] /\ f' = r.z @@ f /\ UNCHANGED <<r, s>>
Look == s' = (IF \E p \in DOMAIN g : g[p] = 1 THEN 1 ELSE 2) /\ UNCHANGED <<f, g, r>>
Both == /\ r' = [r EXCEPT !.z = @ @@ r.z]
        /\ \A m \in r.x : m.far = 3
        /\ \A p \in DOMAIN r.z : r.z[p] = 3
        /\ UNCHANGED <<f, g, s>>
Next == Join \/ Look \/ Both \/ \E p \in Proc : Add(p)
Inv == DOMAIN f \subseteq Proc /\ \A p \in DOMAIN f : f[p] \in 0..2
====
"""
TRIMMED = r"""---- MODULE Trimmed ----
EXTENDS Integers, Sequences
CONSTANTS Proc
VARIABLES sent, n, log
Init == sent = {} /\ n = 0 /\ log = <<>>
Ask == n < 2 /\ sent' = sent \union {[kind |-> "ask", at |-> n]} /\ n' = n + 1
Trim == log # <<>> /\ sent' = sent \union {[kind |-> "trim", upto |-> log[1]]} /\ n' = n
Answer == \E m \in sent : m.kind = "trim" /\ sent' = sent \union {[kind |-> "done", upto |-> m.upto]} /\ n' = n
Next == (Ask \/ Trim \/ Answer) /\ log' = log
Inv == \A m \in sent : m.kind = "ask"
====
"""
WEIGHTS = r"""---- MODULE Weights ----
EXTENDS Integers, Sequences
CONSTANTS Proc
VARIABLES at, mark
Given == <<>>
Weight(p) == LET of(w) == w[1] = p /\ w[2] > 0 ws == SelectSeq(Given, of) IN IF Len(ws) > 0 THEN ws[1][2] ELSE 1
Init == at = [p \in Proc |-> "idle"] /\ mark = [p \in Proc |-> 0]
Go(p) == /\ at[p] \in STRING /\ mark[p] < 2 /\ mark' = [mark EXCEPT ![p] = @ + Weight(p)]
         /\ at' = [at EXCEPT ![p] = IF mark[p] = 1 THEN p ELSE "busy"]
Next == \E p \in Proc : Go(p)
Inv == /\ \A p \in Proc : (at[p] \notin STRING => mark[p] = 2) /\ p \notin STRING
       /\ \A a \in {"idle", "busy"} : a \in STRING
====
"""
MODULES = (UNSEEN.replace("GUARD", "inbox # <<>>"), EMPTY, TRIMMED, WEIGHTS)


@pytest.mark.parametrize("module", MODULES, ids=["fields", "functions", "items", "constants"])
def test_what_no_state_has_leaves_the_steps_of_the_module(module: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, module, CONFIGURATION).differences(150) == []


def test_a_field_of_what_no_state_has_stops_the_translation(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError):
        pair_of(tmp_path, UNSEEN.replace("GUARD", "x = 0"), CONFIGURATION).differences(150)
