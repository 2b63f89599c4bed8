r"""One tuple in a variable, a queue and a set: the translation finds it equal wherever the module does."""

from __future__ import annotations

from pathlib import Path

from support.modules.agreement import pair_of

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n"
WALK = r"""---- MODULE Walk ----
EXTENDS Integers, Sequences, FiniteSets
VARIABLES pos, visited, path
D == 0..2
Init == pos = <<0, 0>> /\ visited = {<<0, 0>>} /\ path = <<>>
Near(p) == {q \in D \X D : (q[1] - p[1]) * (q[1] - p[1]) + (q[2] - p[2]) * (q[2] - p[2]) = 1}
Step == \E q \in Near(pos) : q \notin visited /\ pos' = q /\ visited' = visited \union {q} /\ path' = <<pos>> \o path
Back == path # <<>> /\ pos \in visited /\ pos' = Head(path) /\ path' = Tail(path) /\ visited' = visited \ {pos}
Jump == /\ Len(path) = 3 /\ \E p \in visited : p # pos /\ p = path[1] /\ pos' = p
        /\ path' = Append(Tail(path), pos) /\ visited' = visited
Next == Step \/ Back \/ Jump
Inv == pos \in visited /\ pos \in D \X D /\ \A i \in 1..Len(path) : path[i] \in visited \/ path[i] = pos
====
"""
UNDO = r"""---- MODULE Undo ----
EXTENDS Sequences, Integers
VARIABLES text, undo
Init == text = <<>> /\ undo = <<>>
Type(c) == Len(text) < 2 /\ Len(undo) < 3 /\ text' = Append(text, c) /\ undo' = <<<<"delete", c>>>> \o undo
Delete == /\ text # <<>> /\ Len(undo) < 3
          /\ undo' = <<<<"insert", text[Len(text)]>>>> \o undo /\ text' = SubSeq(text, 1, Len(text) - 1)
Apply(op) == IF op[1] = "insert" THEN Append(text, op[2]) ELSE SubSeq(text, 1, Len(text) - 1)
Undo == undo # <<>> /\ text' = Apply(Head(undo)) /\ undo' = Tail(undo)
Next == Delete \/ Undo \/ \E c \in {"x", "y"} : Type(c)
Inv == \A i \in 1..Len(undo) : \A k \in 1..2 : undo[i][k] # "none"
====
"""
STORE = r"""---- MODULE Store ----
EXTENDS Integers
CONSTANTS Proc, none
VARIABLES disk, at, seen
Key == Proc \union ({"old"} \X Proc)
Init == disk = [k \in Key |-> none] /\ at = [p \in Proc |-> none] /\ seen = {}
Put(p) == /\ at[p] = none
          /\ \E k \in Key : /\ disk[k] = none /\ disk' = [disk EXCEPT ![k] = [by |-> p, n |-> 1]]
                            /\ at' = [at EXCEPT ![p] = k]
                            /\ seen' = IF k \in Proc THEN seen \union {k} ELSE seen \ {k[2]}
Turn(p) == LET k == at[p]
           IN k # none /\ disk[k].by = p /\ disk' = [disk EXCEPT ![k].n = 3 - @] /\ UNCHANGED <<at, seen>>
Keep(p) == at[p] # none /\ at[p] \notin seen /\ seen' = seen \union {at[p]} /\ UNCHANGED <<disk, at>>
Next == \E p \in Proc : Put(p) \/ Turn(p) \/ Keep(p)
Inv == \A p \in Proc : at[p] \in Key \union {none} /\ (at[p] # none => disk[at[p]].by = p)
====
"""
BUS = r"""---- MODULE Bus ----
EXTENDS Integers, Sequences
CONSTANTS Proc
VARIABLES bus, pair, log
Value == 1
Bit == 2
Init == bus = [p \in Proc |-> [kind |-> "ready"]] /\ pair \in Proc \X {0, 1} /\ log = <<>>
Read(p) == /\ bus[p] = <<>> \/ bus[p].kind = "ready"
           /\ bus' = [bus EXCEPT ![p] = [kind |-> "read", bit |-> pair[Bit]]] /\ UNCHANGED <<pair, log>>
Done(p) == /\ bus[p] # <<>> /\ bus[p].kind = "read" /\ bus' = [bus EXCEPT ![p] = [kind |-> "ready"]]
           /\ pair' = <<p, 1 - pair[Bit]>> /\ log' = <<pair[Value]>>
Next == \E p \in Proc : Read(p) \/ Done(p)
Inv == \A q \in Proc \X {0, 1} : (q = pair => q[Value] = pair[1]) /\ (log = <<>> \/ log[1] \in Proc)
====
"""


def test_a_tuple_of_a_variable_is_an_element_of_a_set_of_tuples(tmp_path: Path) -> None:
    assert pair_of(tmp_path, WALK, CONFIGURATION).differences(150) == []


def test_tuples_may_be_put_before_a_queue(tmp_path: Path) -> None:
    assert pair_of(tmp_path, UNDO, CONFIGURATION).differences(150) == []


def test_a_function_may_have_keys_that_are_tuples_or_model_values(tmp_path: Path) -> None:
    configuration = f"CONSTANTS Proc = {{a, b}} none = none\n{CONFIGURATION}"
    assert pair_of(tmp_path, STORE, configuration).differences(60) == []


def test_a_definition_may_be_the_index_of_a_tuple_and_no_record_is_empty(tmp_path: Path) -> None:
    assert pair_of(tmp_path, BUS, f"CONSTANTS Proc = {{a, b}}\n{CONFIGURATION}").differences(40) == []
