r"""Functions and records by where they are: a function of messages inside of another one, records with one field."""

from __future__ import annotations

from pathlib import Path

from support.modules.agreement import pair_of

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n"
BAGS = r"""---- MODULE Bags2 ----
EXTENDS Integers, FiniteSets, TLC
VARIABLES box, n
Node == 0..1
Put(bag, m) == IF m \in DOMAIN bag THEN [bag EXCEPT ![m] = @ + 1] ELSE bag @@ (m :> 1)
Take(bag, m) == IF bag[m] = 1 THEN [x \in DOMAIN bag \ {m} |-> bag[x]] ELSE [bag EXCEPT ![m] = @ - 1]
Init == box = [p \in Node |-> IF p = 0 THEN ([kind |-> "tok", n |-> 0, far |-> -20] :> 1) ELSE <<>>] /\ n = 0
Send(p) == n < 4 /\ n' = n + 1 /\ box' = [box EXCEPT ![p] = Put(@, [kind |-> "ping"])]
Pass(p) == \E m \in DOMAIN box[p] :
             /\ m.kind = "tok" /\ n < 5 /\ n' = n + 1
             /\ box' = [box EXCEPT ![p] = Take(@, m), ![1 - p] = Put(@, [m EXCEPT !.n = @ + n, !.far = @ + 20])]
Drop(p) == \E m \in DOMAIN box[p] : m.kind = "ping" /\ box' = [box EXCEPT ![p] = Take(@, m)] /\ UNCHANGED n
Next == \E p \in Node : Send(p) \/ Pass(p) \/ Drop(p)
Inv == \A p \in Node : [kind |-> "ping"] \in DOMAIN box[p] => box[p][[kind |-> "ping"]] \in 1..5
====
"""
STUTTER = r"""---- MODULE Stutter ----
EXTENDS Integers
VARIABLES at, wait
idle == [idle |-> "idle"]
Init == at = 0 /\ wait = idle
Move(k) == /\ IF wait = idle THEN at' = (at + k) % 3 /\ wait' = [who |-> k, left |-> 2]
              ELSE /\ wait.who = k /\ UNCHANGED at
                   /\ wait' = IF wait.left = 1 THEN idle ELSE [wait EXCEPT !.left = wait.left - 1]
Next == \E k \in 1..2 : Move(k)
Inv == wait \in {idle} \union [who : 1..2, left : 1..2] /\ (wait # idle => wait.left > 0)
====
"""


def test_a_function_of_messages_inside_of_another_is_not_a_bag(tmp_path: Path) -> None:
    assert pair_of(tmp_path, BAGS, CONFIGURATION, widening=1).differences(300) == []


def test_a_record_whose_only_field_has_the_name_of_its_value_is_a_record(tmp_path: Path) -> None:
    assert pair_of(tmp_path, STUTTER, CONFIGURATION).differences(100) == []
