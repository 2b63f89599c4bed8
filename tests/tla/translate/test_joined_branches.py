r"""IF and CASE whose branches give the same variables values are one value, and all others stay branches."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc

CONFIGURATION = "INIT Init\nNEXT Next\nCONSTANT None = None\nCHECK_DEADLOCK FALSE\n"
MODULE = r"""---- MODULE Branches ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANT None
VARIABLES term, role, vote, q
P == 1..2
vars == <<term, role, vote, q>>
Init == /\ term = [p \in P |-> 0] /\ role = [p \in P |-> "follower"] /\ vote = [p \in P |-> None]
        /\ q = <<>>
Change(field, p, v) == IF field[p] # v THEN field' = [field EXCEPT ![p] = v] ELSE UNCHANGED field
Now(p, new) == Change(term, p, new.term) /\ Change(role, p, new.role) /\ Change(vote, p, new.vote)
Stood(p) == CASE term[p] = 0 -> [term |-> 1, role |-> "candidate", vote |-> p]
              [] role[p] = "candidate" /\ term[p] < 2 -> [term |-> term[p] + 1, role |-> role[p], vote |-> vote[p]]
              [] OTHER -> [term |-> term[p], role |-> "follower", vote |-> None]

Changed == \E p \in P : Now(p, Stood(p)) /\ UNCHANGED q
Kept == \E p \in P : Now(p, Stood(p)) /\ UNCHANGED <<term, q>>
Twice == \E p \in P : Now(p, Stood(p)) /\ term' \in {term, [term EXCEPT ![p] = 0]} /\ UNCHANGED q
Primes == \E p \in P : /\ IF role[p] = "follower"
                          THEN /\ term' = [term EXCEPT ![p] = 1]
                               /\ vote' = [vote EXCEPT ![p] = IF term'[p] = term[p] THEN None ELSE p]
                          ELSE UNCHANGED <<term, vote>>
                       /\ role' = [role EXCEPT ![p] = IF term # term' THEN "candidate" ELSE "follower"] /\ UNCHANGED q
Orders == \E p \in P : /\ IF role[p] = "follower"
                          THEN /\ term' = [term EXCEPT ![p] = 1]
                               /\ vote' = [vote EXCEPT ![p] = IF term'[p] = 1 THEN p ELSE None]
                          ELSE /\ vote' = [vote EXCEPT ![p] = None]
                               /\ term' = [term EXCEPT ![p] = IF vote'[p] = None THEN 2 ELSE 0]
                       /\ role' = [role EXCEPT ![p] = "candidate"] /\ UNCHANGED q
Guards == \E p \in P : /\ IF term[p] = 0 THEN p = 1 /\ term' = [term EXCEPT ![p] = 1]
                          ELSE term' = [term EXCEPT ![p] = 0] /\ p = 2
                       /\ UNCHANGED <<role, vote, q>>
Ways == \E p \in P : /\ IF term[p] = 0 THEN \/ term' = [term EXCEPT ![p] = 1]
                                            \/ term' = [term EXCEPT ![p] = 2]
                        ELSE UNCHANGED term
                     /\ UNCHANGED <<role, vote, q>>
Unlike == \E p \in P : IF term[p] = 0 THEN term' = [term EXCEPT ![p] = 1] /\ UNCHANGED <<role, vote, q>>
                       ELSE role' = [role EXCEPT ![p] = "leader"] /\ UNCHANGED <<term, vote, q>>
Nested == \E p \in P : /\ IF term[p] = 0
                          THEN CASE role[p] = "follower" -> term' = [term EXCEPT ![p] = 1] [] OTHER -> UNCHANGED term
                          ELSE LET more == term[p] + 1 IN term' = [term EXCEPT ![p] = IF more > 2 THEN 0 ELSE more]
                       /\ role' = [role EXCEPT ![p] = "leader"] /\ UNCHANGED <<vote, q>>
Partial == \/ Len(q) < 2 /\ q' = Append(q, Len(q)) /\ UNCHANGED <<term, role, vote>>
           \/ \E p \in P : /\ IF q = <<>> THEN UNCHANGED <<term, q>>
                              ELSE term' = [term EXCEPT ![p] = Head(q)] /\ q' = Tail(q)
                           /\ vote' = [vote EXCEPT ![p] = IF @ = None THEN p ELSE None] /\ UNCHANGED role
NoArm == \E p \in P : /\ CASE term[p] = 0 -> term' = [term EXCEPT ![p] = 1] [] role[p] = "leader" -> UNCHANGED term
                      /\ UNCHANGED <<role, vote, q>>
Known == \A p \in P : term[p] < 3
Next == STEP
====
"""
AGREEING = ["Changed", "Kept", "Twice", "Primes", "Orders", "Guards", "Ways", "Unlike", "Nested", "Partial"]


@pytest.mark.parametrize("step", AGREEING)
def test_steps_are_those_of_the_module(step: str, tmp_path: Path) -> None:
    pair = pair_of(tmp_path, MODULE.replace("STEP", step), CONFIGURATION)
    assert pair.differences(200) == []


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_case_without_an_arm_that_is_true_is_an_error(engine: str, tmp_path: Path) -> None:
    result = _checked(tmp_path, "NoArm", engine)
    assert "CASE" in str(result.error)
    assert len(result.counterexample) == 2


def test_compiled_code_counts_as_the_module_does(tmp_path: Path) -> None:
    step = " \\/ ".join(AGREEING)
    native, interpreted = (_checked(tmp_path, step, engine) for engine in ("native", "python"))
    assert (native.generated, native.distinct, native.depth) == (
        interpreted.generated,
        interpreted.distinct,
        interpreted.depth,
    )


def test_what_follows_is_written_once(tmp_path: Path) -> None:
    pair = pair_of(tmp_path, MODULE.replace("STEP", "Changed"), CONFIGURATION)
    assert pair.translated.folder.files["spec.py"].count("yield st.set(") == 1


def _checked(folder: Path, step: str, engine: str) -> kmc.ModuleCheckResult:
    (folder / "Branches.tla").write_text(MODULE.replace("STEP", step), "utf-8")
    (folder / "Branches.cfg").write_text(CONFIGURATION, "utf-8")
    return kmc.check_module(folder / "Branches.tla", engine=engine)
