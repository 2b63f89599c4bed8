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
def test_a_native_check_refuses_several_values_at_the_choose(tmp_path: Path) -> None:
    module = tmp_path / "Votes.tla"
    module.write_text(VOTES.replace("ELSE Highest(votes).for", "ELSE Highest(votes).by"), encoding="utf-8")
    module.with_suffix(".cfg").write_text(CONFIGURATION + "SYMMETRY Perms\n", encoding="utf-8")
    with pytest.raises(SpecError, match="several of which satisfy its condition") as refused:
        kmc.check_module(module, engine="native")
    assert refused.value.code == "KMC812"
    assert refused.value.span is not None
    assert refused.value.span.line == 7, "the line of the CHOOSE in Highest, and not of its use"


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


CONSTANT_CHOICES = r"""---- MODULE Replicas ----
EXTENDS Integers, FiniteSets
CONSTANTS Count, Size
VARIABLES members, leader
Brokers == 1..Count
Init == LET first == CHOOSE b \in Brokers : TRUE
            all == CHOOSE S \in SUBSET Brokers : first \in S /\ Cardinality(S) = Count
            OfSize(n) == CHOOSE S \in SUBSET all : first \in S /\ Cardinality(S) = n
        IN /\ members = OfSize(Size)
           /\ leader = [b \in Brokers |-> IF b \in OfSize(Size) THEN first ELSE 0]
Next == \E b \in members : members' = members \ {b} /\ UNCHANGED leader
====
"""


def test_a_choice_in_a_let_that_is_constant_is_the_first_in_order(tmp_path: Path) -> None:
    """TLC generates 5 states, 4 of them distinct, from {1, 2}: sets of numbers have an order that TLC and kmc share."""
    replicas = pair_of(
        tmp_path, CONSTANT_CHOICES, "CHECK_DEADLOCK FALSE\nCONSTANTS Count = 3 Size = 2\nINIT Init\nNEXT Next\n"
    )
    assert replicas.differences(100) == []
    assert [state[0] for state in replicas.program.initial_states()] == [frozenset((1, 2))]


def test_the_definitions_of_a_let_that_read_the_state_are_not_constant(tmp_path: Path) -> None:
    counted = CONSTANT_CHOICES.replace("Next == ", "Next == LET few == {b \\in members : b < 3} IN few # {} /\\ ")
    replicas = pair_of(tmp_path, counted, "CHECK_DEADLOCK FALSE\nCONSTANTS Count = 4 Size = 3\nINIT Init\nNEXT Next\n")
    assert replicas.differences(100) == []
