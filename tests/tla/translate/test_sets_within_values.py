"""Sets of records inside of values, of more possible records than a word has bits, and sets of numbers far apart."""

from __future__ import annotations

from pathlib import Path

from support.modules.agreement import pair_of
from support.oracles.results import told

from kmc.engine.check_model import check_native
from kmc.reference.search import Search
from kmc.result import Limits

INBOXES = r"""---- MODULE Inboxes ----
EXTENDS Naturals, FiniteSets
CONSTANTS Server, Last
VARIABLES inbox, term, met
Letter == [src : Server, dst : Server, term : 0..Last, kind : {"ask", "grant", "deny"}]
Init == inbox = [s \in Server |-> {}] /\ term = [s \in Server |-> 0] /\ met = {0}
Ask(s) ==
  /\ term[s] < Last
  /\ term' = [term EXCEPT ![s] = @ + 10]
  /\ inbox' = [d \in Server |->
       IF d = s THEN inbox[d]
       ELSE inbox[d] \union {[src |-> s, dst |-> d, term |-> term[s] + 10, kind |-> "ask"]}]
  /\ met' = met \union {term[s] * 30 + 7}
Answer(d) == \E m \in inbox[d] :
  /\ m.kind = "ask"
  /\ LET reply == [src |-> d, dst |-> m.src, term |-> m.term, kind |-> IF m.term >= term[d] THEN "grant" ELSE "deny"]
     IN inbox' = [inbox EXCEPT ![d] = @ \ {m}, ![m.src] = @ \union {reply}]
  /\ UNCHANGED <<term, met>>
Drop(d) == \E m \in inbox[d] : m.kind # "ask" /\ inbox' = [inbox EXCEPT ![d] = @ \ {m}] /\ UNCHANGED <<term, met>>
Next == \E s \in Server : Ask(s) \/ Answer(s) \/ Drop(s)
TypeOK == \A s \in Server : inbox[s] \subseteq Letter
Bounded == Cardinality(met) <= Last + 1
====
"""
CONFIGURATION = """CONSTANTS Server = {a, b} Last = 20
INIT Init
NEXT Next
INVARIANTS TypeOK Bounded
CHECK_DEADLOCK FALSE
"""


def test_sets_of_many_possible_records_are_compiled_with_the_counts_of_tlc(tmp_path: Path) -> None:
    inboxes = pair_of(tmp_path, INBOXES, CONFIGURATION)
    assert inboxes.differences(300) == []
    wanted = told(Search(inboxes.bound, Limits()).run())
    assert told(check_native(inboxes.bound, Limits())) == wanted
    generated, distinct, _, depth = wanted["counters"]
    # Those of TLC 2.19 for this module, with the option -deadlock.
    assert (generated, distinct, depth) == (721, 250, 13)
