r"""Values that are a function in some states and a model value in others: the steps of the module, or its stop."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import EvaluationError

CALLS = r"""---- MODULE Calls ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANTS Key, None
VARIABLES call, table, pair, last
vars == <<call, table, pair, last>>
Init == call = None /\ table = None /\ pair = None /\ last = None
Ask(k) == /\ call = None /\ \E n \in 0..1 : call' \in {<<k>>, <<k, k>>} /\ pair' = <<k, n, IF n = 0 THEN None ELSE {k}>>
          /\ UNCHANGED <<table, last>>
Fill == /\ table = None /\ call # None
        /\ table' = [k \in Key |-> IF k = call[1] THEN pair[2] ELSE 0]
        /\ UNCHANGED <<call, pair, last>>
Take == LET key == call[1] IN
        /\ GUARD
        /\ table[key] = pair[2]
        /\ last' = IF Len(call) = 2 THEN call[2] ELSE pair[1]
        /\ (IF pair[2] = 0 THEN 0 ELSE Cardinality(pair[3])) + Cardinality(DOMAIN table) + Cardinality(DOMAIN call) < 6
        /\ call' = None /\ table' = IF pair[2] = 1 THEN None ELSE [table EXCEPT ![key] = 1]
        /\ UNCHANGED pair
Next == Fill \/ Take \/ \E k \in Key : Ask(k)
Kinds == call \in {<<k>> : k \in Key} \union {<<k, m>> : k \in Key, m \in Key} \union {None}
====
"""
CONFIGURATION = "CONSTANTS Key = {a, b} None = None\nINIT Init\nNEXT Next\nINVARIANT Kinds\nCHECK_DEADLOCK FALSE\n"


def test_a_function_or_a_model_value_is_applied_where_it_is_a_function(tmp_path: Path) -> None:
    calls = CALLS.replace("GUARD", "table # None /\\ call # None")
    assert pair_of(tmp_path, calls, CONFIGURATION).differences(100) == []


def test_a_model_value_that_is_applied_stops_the_translation_too(tmp_path: Path) -> None:
    for guard in ("table # None", "call # None"):
        with pytest.raises(EvaluationError):
            pair_of(tmp_path / guard[:4], CALLS.replace("GUARD", guard), CONFIGURATION).differences(100)
