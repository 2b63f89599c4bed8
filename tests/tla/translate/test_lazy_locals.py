r"""LETs and arguments that have no value in some states, where a guard that comes after them keeps them from use."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc
from kmc.errors import EvaluationError

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Known\nCHECK_DEADLOCK FALSE\n"
MODULE = r"""---- MODULE Lazy ----
EXTENDS Naturals, Sequences
VARIABLES q, y, kept
Init == q = <<>> /\ y = 0 /\ kept = [a |-> 0, b |-> 0]
Put == Len(q) < 2 /\ q' = Append(q, [at |-> Len(q), of |-> IF Len(q) = 0 THEN "a" ELSE "b"]) /\ UNCHANGED <<y, kept>>
Take(n) == q # <<>> /\ y < 5 /\ y' = (n + y) % 6 /\ q' = Tail(q) /\ UNCHANGED kept
Long(r) == r.at + r.at * (r.at + 1) + r.at * (r.at + 2) + r.at * (r.at + 3) + r.at * (r.at + 4) + r.at * (r.at + 5)

OfBranch == LET first == IF y < 5 THEN q[1] ELSE q[2]
                next == first.at + first.at + 1
            IN Take(next)
OfLong == LET first == Long(q[1])
              next == first + first + 1
              more == next + next
          IN Take(next + more)
Twice(at) == LET next == at + at + 1
                 more == next + at
             IN Take(more + next)
OfArgument == Twice(Long(q[1]))
OfBranchAsArgument == Twice(IF y < 5 THEN Long(q[1]) ELSE q[2].at)
Adding(more) == LET now == [kept EXCEPT !.a = @ + more]
                IN q # <<>> /\ kept.a < 3 /\ kept' = now /\ q' = Tail(q) /\ UNCHANGED y
OfUpdate == Adding(q[1].at)
OfLongUpdate == Adding(Long(q[1]))
Unread == LET bad == Long(q[3])
              worse == bad + bad
              some == worse + y
          IN IF Len(q) = 3 THEN y' = some /\ UNCHANGED <<q, kept>> ELSE Take(1)
Unguarded == LET bad == Long(q[2])
                 worse == bad + bad
             IN q # <<>> /\ y' = (worse + bad) % 5 /\ UNCHANGED <<q, kept>>
Known == y < 10
Next == Put \/ STEP
====
"""
GUARDED = ["OfBranch", "OfLong", "OfArgument", "OfBranchAsArgument", "OfUpdate", "OfLongUpdate", "Unread"]
NETWORK = r"""---- MODULE Sent ----
EXTENDS Naturals, Sequences, FiniteSets
VARIABLES sent, q
Init == sent = {} /\ q = <<>>
Put == Len(q) < 2 /\ q' = Append(q, Len(q)) /\ UNCHANGED sent
Send == LET more == IF Cardinality(sent) < 3 THEN sent \union {[kind |-> "at", at |-> q[1]]} ELSE sent
        IN q # <<>> /\ sent' = more /\ q' = Tail(q)
Next == Put \/ Send
Known == Cardinality(sent) < 4
====
"""


@pytest.mark.parametrize("step", GUARDED)
def test_what_is_not_read_has_no_error(step: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, MODULE.replace("STEP", step), CONFIGURATION).differences(100) == []


def test_a_network_is_evaluated_behind_its_guards(tmp_path: Path) -> None:
    assert pair_of(tmp_path, NETWORK, CONFIGURATION).differences(100) == []


def test_what_is_read_without_a_guard_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError):
        pair_of(tmp_path, MODULE.replace("STEP", "Unguarded"), CONFIGURATION).differences(100)


def test_compiled_code_evaluates_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "Lazy.tla").write_text(MODULE.replace("STEP", " \\/ ".join(GUARDED)), "utf-8")
    (tmp_path / "Lazy.cfg").write_text(CONFIGURATION, "utf-8")
    native, interpreted = (
        kmc.check_module(tmp_path / "Lazy.tla", tmp_path / "Lazy.cfg", engine=engine) for engine in ("native", "python")
    )
    assert (native.generated, native.distinct) == (interpreted.generated, interpreted.distinct)
