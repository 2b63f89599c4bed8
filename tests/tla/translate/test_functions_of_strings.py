r"""Functions of strings: written as records and read by what is computed, and records whose field is computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import EvaluationError

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Inv\n"
DEKKER = r"""---- MODULE Dekker ----
EXTENDS Integers
VARIABLES pc, want, turn
Proc == {"A", "B"}
Other == [A |-> "B", B |-> "A"]
Init == pc = [p \in Proc |-> "idle"] /\ want = [p \in Proc |-> FALSE] /\ turn = "A"
Ask(p) == pc[p] = "idle" /\ want' = [want EXCEPT ![p] = TRUE] /\ pc' = [pc EXCEPT ![p] = "wait"] /\ turn' = Other[p]
Enter(p) == /\ pc[p] = "wait" /\ (~want[Other[p]] \/ turn = p)
            /\ pc' = [pc EXCEPT ![p] = "in"] /\ UNCHANGED <<want, turn>>
Leave(p) == /\ pc[p] = "in" /\ pc' = [pc EXCEPT ![p] = "idle"] /\ want' = [want EXCEPT ![p] = FALSE] /\ UNCHANGED turn
Next == \E p \in Proc : Ask(p) \/ Enter(p) \/ Leave(p)
Inv == want = [A |-> FALSE, B |-> FALSE] => want["A"] = want[turn]
====
"""
STOCK = r"""---- MODULE Stock ----
EXTENDS Integers, FiniteSets
VARIABLES stock, sold, pair, pairs
Items == {"cola", "chips"}
Init == stock = [cola |-> 2, chips |-> 1] /\ sold = 0 /\ pair = <<0, 1, 2>> /\ pairs = {}
Buy(i) == /\ stock[i] > 0 /\ stock' = [stock EXCEPT ![i] = @ - 1] /\ sold' = sold + 1
          /\ pair' = [pair EXCEPT ![sold + 1] = @ + stock[i]] /\ pairs' = pairs \union {<<stock.cola, stock[i], sold>>}
Fill(i) == /\ stock[i] = LIMIT /\ stock' = [stock EXCEPT ![i] = 2] /\ sold' = 0
           /\ UNCHANGED <<pair, pairs>>
Next == \E i \in Items : Buy(i) \/ Fill(i)
Inv == \A p \in pairs : \A j \in 1..3 : p[j] \in 0..3
====
"""
EMPTY = r"""---- MODULE Empty ----
EXTENDS Integers, TLC, FiniteSets
VARIABLES store, kept, n
Key == {"k", "l"}
Init == store = <<>> /\ kept = {} /\ n = 0
Put(k) == n < 3 /\ n' = n + 1 /\ store' = (k :> [v |-> n, dead |-> FALSE]) @@ store /\ UNCHANGED kept
First(k) == store = <<>> /\ n < 3 /\ n' = n + 1 /\ store' = (k :> [v |-> n, dead |-> TRUE]) @@ <<>> /\ UNCHANGED kept
Kill(k) == k \in DOMAIN store /\ ~store[k].dead /\ store' = [store EXCEPT ![k].dead = TRUE] /\ UNCHANGED <<kept, n>>
Keep == kept' = kept \union {store} /\ Cardinality(kept) < 2 /\ UNCHANGED <<store, n>>
Clean == store' = [k \in {x \in DOMAIN store : ~store[x].dead} |-> store[k]] /\ store' # store /\ UNCHANGED <<kept, n>>
Clear == store' = <<>> /\ UNCHANGED <<kept, n>>
Next == Keep \/ Clean \/ Clear \/ \E k \in Key : Put(k) \/ First(k) \/ Kill(k)
Inv == <<>> \in kept \/ Cardinality(kept) < 3
====
"""


def test_the_empty_sequence_becomes_a_function(tmp_path: Path) -> None:
    assert pair_of(tmp_path, EMPTY, CONFIGURATION).differences(150) == []


def test_a_record_of_strings_is_a_function_where_its_fields_are_computed(tmp_path: Path) -> None:
    assert pair_of(tmp_path, DEKKER, CONFIGURATION).differences(100) == []


def test_a_computed_field_of_a_record_is_read_and_changed(tmp_path: Path) -> None:
    stock = STOCK.replace("LIMIT", "0 /\\ sold < 2 /\\ pairs # {}")
    assert pair_of(tmp_path, stock, CONFIGURATION).differences(60) == []


def test_a_computed_field_that_a_record_lacks_stops_the_translation_too(tmp_path: Path) -> None:
    lacking = STOCK.replace("LIMIT", "0").replace('"chips"}', '"chips", "tea"}')
    with pytest.raises(EvaluationError):
        pair_of(tmp_path, lacking, CONFIGURATION).differences(60)
