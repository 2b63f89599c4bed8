r"""CHOOSE among values that compiled code has no order of: the one value that all solutions have, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc
from kmc.errors import EvaluationError, SpecError

VOTES = r"""---- MODULE Votes ----
EXTENDS Integers, FiniteSets, TLC
CONSTANTS Voter, None
VARIABLES votes, seen, winner
Perms == Permutations(Voter)
Init == votes = {} /\ seen = {} /\ winner = None
Highest(S) == CHOOSE v \in S : \A w \in S : w.round <= v.round
First(S) == CHOOSE pair \in {<<v.by, v.round>> : v \in S} : \A w \in S : w.round <= pair[2]
Vote(p) == \E n \in 1..2 :
  /\ \A v \in votes : v.by # p /\ v.round <= n
  /\ votes' = votes \union {[by |-> p, round |-> n, for |-> IF votes = {} THEN p ELSE Highest(votes).for]}
  /\ UNCHANGED <<seen, winner>>
Decide == LET top == {v \in votes : v.round = 2} IN
  /\ votes # {} /\ winner = None
  /\ winner' = IF Cardinality(top) = 1 THEN (CHOOSE v \in top : TRUE).by ELSE Highest(votes).for
  /\ seen' = CHOOSE S \in SUBSET Voter : S = {v.by : v \in votes}
  /\ Cardinality(seen') < 2 => First(votes)[1] = Highest(votes).by
  /\ UNCHANGED votes
Next == Decide \/ \E p \in Voter : Vote(p)
Agreed == winner # None => \E v \in votes : v.for = winner \/ v.by = winner
====
"""
CONFIGURATION = (
    "CHECK_DEADLOCK FALSE\nCONSTANTS Voter = {a, b, c} None = None\n\nINIT Init\nNEXT Next\nINVARIANT Agreed\n"
)


@pytest.mark.parametrize("more", ["", "SYMMETRY Perms\n"])
def test_solutions_with_one_value_have_the_steps_of_the_module(more: str, tmp_path: Path) -> None:
    votes = pair_of(tmp_path, VOTES, CONFIGURATION + more)
    assert votes.differences(150) == []
    assert "{0: " in votes.translated.folder.files["spec.py"]


def test_solutions_with_several_values_stop_the_translation(tmp_path: Path) -> None:
    several = VOTES.replace("ELSE Highest(votes).for", "ELSE Highest(votes).by")
    with pytest.raises(EvaluationError) as failed:
        pair_of(tmp_path, several, CONFIGURATION + "SYMMETRY Perms\n").differences(150)
    assert failed.value.code == "KMC229"


@pytest.mark.slow
def test_a_native_check_refuses_several_values_at_their_line(tmp_path: Path) -> None:
    module = tmp_path / "Votes.tla"
    module.write_text(VOTES.replace("ELSE Highest(votes).for", "ELSE Highest(votes).by"), encoding="utf-8")
    module.with_suffix(".cfg").write_text(CONFIGURATION + "SYMMETRY Perms\n", encoding="utf-8")
    with pytest.raises(SpecError, match="several of which satisfy its condition") as refused:
        kmc.check_module(module, engine="native")
    assert refused.value.code == "KMC812"
    assert refused.value.span is not None
    assert refused.value.span.line in range(11, 20)


def test_a_condition_that_says_nothing_of_the_element_is_refused(tmp_path: Path) -> None:
    nothing = VOTES.replace(
        "CHOOSE S \\in SUBSET Voter : S = {v.by : v \\in votes}", "{CHOOSE p \\in Voter : winner = None}"
    )
    with pytest.raises(SpecError, match="or which SYMMETRY permutes"):
        pair_of(tmp_path, nothing, CONFIGURATION + "SYMMETRY Perms\n")


SUBSETS = r"""---- MODULE Subsets ----
EXTENDS Integers, Sequences, FiniteSets
VARIABLES seen, all, n
Init == seen = {} /\ all = {} /\ n = 0
New == n < 3 /\ n' = n + 1 /\ all' = all \union {[at |-> n, by |-> {n}]} /\ UNCHANGED seen
See == seen' = (CHOOSE S \in SUBSET all : \A m \in S : \A k \in seen : m.at # k.at) /\ UNCHANGED <<all, n>>
Ask == /\ all # {}
       /\ seen' = seen \union (CHOOSE S \in SUBSET all : \E m \in S : Cardinality(S) = Cardinality(all) /\ m.at >= 0)
       /\ UNCHANGED <<all, n>>
Next == New \/ See \/ Ask
====
"""


def test_the_empty_set_is_the_first_subset(tmp_path: Path) -> None:
    subsets = pair_of(tmp_path, SUBSETS, "INIT Init\nNEXT Next\n")
    assert subsets.differences(100) == []
