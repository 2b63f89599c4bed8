r"""Recursion over numbers whose values are functions, as transitive closures are: the steps of the module."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import EvaluationError
from kmc.tla.translate import folded_recursion

PATHS = r"""---- MODULE Paths ----
EXTENDS Integers, FiniteSets
CONSTANTS Spot
VARIABLES next, n
Closed(R, S) ==
  LET all[k \in Nat] == [x, y \in S |-> IF k = 0 THEN R[x, y]
                                        ELSE all[k - 1][x, y] \/ \E z \in S : all[k - 1][x, z] /\ all[k - 1][z, y]]
  IN all[Cardinality(S)]
Into(x) == Cardinality({y \in Spot : next[y] = x})
Sum == LET far[k \in 0..3] == [x \in Spot |-> IF k = 0 THEN Into(x) ELSE far[k - 1][next[x]] + k] IN far[LAST]
Link == [x, y \in Spot |-> next[x] = y]
Init == next \in [Spot -> Spot] /\ n = 0
Move == \E x, y \in Spot : /\ ~Closed(Link, Spot)[y, x]
                           /\ next' = [next EXCEPT ![x] = y]
                           /\ n' = Sum[x] % 4
Turn == n' = (n + Sum[CHOOSE x \in Spot : TRUE]) % 4 /\ UNCHANGED next
Next == Move \/ Turn
Loop == \E x \in Spot : Closed(Link, Spot)[x, x]
====
"""
CONFIGURATION = "CONSTANTS Spot = {a, b, c}\nINIT Init\nNEXT Next\nINVARIANT Loop\nCHECK_DEADLOCK FALSE\n"


@pytest.mark.parametrize("last", ["2", "n"])
def test_functions_made_step_by_step_have_the_steps_of_the_module(last: str, tmp_path: Path) -> None:
    paths = pair_of(tmp_path, PATHS.replace("LAST", last), CONFIGURATION)
    assert paths.differences(60) == []
    assert "fold(lambda so_far" in paths.translated.folder.files["spec.py"]


def test_a_number_outside_of_the_domain_stops_the_translation(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError):
        pair_of(tmp_path, PATHS.replace("LAST", "n + 1"), CONFIGURATION).differences(60)


def test_a_recursion_without_its_steps_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folded_recursion, "_end", lambda *given: "0")
    assert pair_of(tmp_path, PATHS.replace("LAST", "2"), CONFIGURATION).differences(60) != []
