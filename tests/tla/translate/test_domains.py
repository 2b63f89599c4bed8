r"""DOMAIN as a set of a record, a tuple and a bag, and functions on 1..n where a sequence is needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

CONFIGURATION = """CONSTANTS Proc = {a, b}
INIT Init
NEXT Next
INVARIANT Inv
CHECK_DEADLOCK FALSE
"""
RECORDS = r"""---- MODULE Fields ----
EXTENDS Integers, FiniteSets
CONSTANTS Proc
VARIABLES option, pair, n
Init == option = [has |-> FALSE] /\ pair = <<0, "x">> /\ n = 0
Set == option' = [has |-> TRUE, val |-> n] /\ UNCHANGED <<pair, n>>
Use == option.has /\ option' = [has |-> FALSE] /\ n' = Cardinality(DOMAIN option) /\ UNCHANGED pair
Turn == pair' = <<(pair[1] + 1) % 3, "y">> /\ n' = Cardinality(DOMAIN pair \ {pair[1]}) /\ UNCHANGED option
Next == Set \/ Use \/ Turn
Inv == (~option.has => DOMAIN option = {"has"}) /\ DOMAIN pair = 1..2 /\ DOMAIN option \subseteq {"has", "val"}
====
"""
BAG = r"""---- MODULE Bag ----
EXTENDS Integers, FiniteSets, Sequences, TLC
CONSTANTS Proc
VARIABLES net, log
Init == log = [p \in Proc |-> <<>>] /\ net = [m \in {} |-> 0]
Put(p) == \E k \in 1..3 : Len(log[p]) < 2 /\ log' = [log EXCEPT ![p] = Append(@, k)] /\ UNCHANGED net
Send(p, q) ==
  /\ Cardinality(DOMAIN net) < 2
  /\ \A m \in DOMAIN net : net[m] < 2
  /\ LET m == [src |-> p, dst |-> q, entries |-> log[p]]
     IN net' = IF m \in DOMAIN net THEN [net EXCEPT ![m] = @ + 1] ELSE net @@ (m :> 1)
  /\ UNCHANGED log
Take == \E m \in DOMAIN net : /\ net[m] > 0
                              /\ net' = [net EXCEPT ![m] = @ - 1]
                              /\ log' = [log EXCEPT ![m.dst] = m.entries]
Next == Take \/ \E p, q \in Proc : Put(p) \/ Send(p, q)
Inv == \A m \in DOMAIN net : Len(m.entries) < 3
====
"""
REVERSED = r"""---- MODULE Reversed ----
EXTENDS Integers, Sequences
CONSTANTS Proc
VARIABLES log, n
Reverse(s) == [i \in 1..Len(s) |-> s[Len(s) - i + 1]]
Init == log = <<>> /\ n = 0
Put(p) == Len(log) < 3 /\ log' = Append(log, p) /\ n' = Len(Reverse(log))
Turn == log' = Reverse(log) /\ UNCHANGED n
Next == Turn \/ \E p \in Proc : Put(p)
Inv == Reverse(Reverse(log)) = log /\ log = Reverse(Reverse(log)) /\ (Reverse(log) # log => Len(log) > 1)
====
"""
POINTERS = r"""---- MODULE Pointers ----
EXTENDS Integers, Sequences
CONSTANTS Proc
VARIABLES cells, held
Init == cells = <<0>> /\ held = [p \in Proc |-> p]
Take(p) == \E at \in DOMAIN cells : held' = [held EXCEPT ![p] = at] /\ UNCHANGED cells
Grow(p) == Len(cells) < 3 /\ held[p] \in DOMAIN cells /\ cells' = Append(cells, 0) /\ held' = [held EXCEPT ![p] = p]
Next == \E p \in Proc : Take(p) \/ Grow(p)
Inv == held \in [Proc -> DOMAIN cells \union Proc]
====
"""
MAPPED = r"""---- MODULE Mapped ----
EXTENDS Integers, Sequences
CONSTANTS Proc
VARIABLES queue, ring, done
Mapped(s, Op(_)) == [i \in DOMAIN s |-> Op(s[i])]
Values(f) == {f[i] : i \in DOMAIN f}
Cell == [by: Proc, n: 0..2]
Init == queue = <<>> /\ done = {} /\ ring \in {<<[by |-> p, n |-> 0], [by |-> p, n |-> 1]>> : p \in Proc}
Put(p) == Len(queue) < 2 /\ queue' = Append(queue, [by |-> p]) /\ UNCHANGED <<ring, done>>
One == /\ queue # <<>> /\ queue' = Tail(queue) /\ UNCHANGED ring
       /\ LET By(m) == m.by IN done' = Values(Mapped(<<queue[1]>>, By))
All == LET By(m) == m.by IN done' = Values(Mapped(queue, By)) /\ queue' = <<>> /\ UNCHANGED ring
Turn == \E i \in DOMAIN ring : ring' = [ring EXCEPT ![i].n = (@ + 1) % 3] /\ UNCHANGED <<queue, done>>
Next == One \/ All \/ Turn \/ \E p \in Proc : Put(p)
Inv == ring \in Seq(Cell) /\ (done = {} \/ ring \notin Seq([by: Proc, n: {0, 1}]) \/ ring[1].n < 2)
====
"""
MODULES = (RECORDS, BAG, REVERSED, POINTERS, MAPPED)


@pytest.mark.parametrize("module", MODULES, ids=["records", "bag", "reversed", "pointers", "mapped"])
def test_domains_and_written_functions_have_the_steps_of_the_module(module: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, module, CONFIGURATION).differences(120) == []
