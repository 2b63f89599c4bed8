r"""LETs and arguments that are read at many places: their code is written once, and what is not read cannot fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import EvaluationError
from kmc.tla.translate import shared_codes

CONFIGURATION = "CONSTANTS Node = {a, b}\nINIT Init\nNEXT Next\nINVARIANT Known\nCHECK_DEADLOCK FALSE\n"
MODULE = r"""---- MODULE Shared ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Node
VARIABLES log, seen, best
Init == log = [n \in {} |-> <<>>] /\ seen = {} /\ best = 0
Join(n) == n \notin DOMAIN log /\ log' = [m \in DOMAIN log \union {n} |-> IF m = n THEN <<1>> ELSE log[m]]
           /\ UNCHANGED <<seen, best>>
Max(S) == CHOOSE x \in S : \A y \in S : y <= x
Agreed(n, i) == {m \in DOMAIN log : Len(log[m]) >= i /\ log[m][i] = log[n][i]}
Common(n) == LET offsets == {i \in 1..Len(log[n]) : 2 * Cardinality(Agreed(n, i)) > Cardinality(DOMAIN log)
                                                    /\ \A m \in Agreed(n, i) : Len(log[m]) >= i}
             IN IF offsets = {} THEN 0 ELSE Max(offsets)
Grow(n) == LET entry == [of |-> n, at |-> Len(log[n]) + 1, value |-> Max({1, best}) + Len(log[n])]
               common == Common(n)
               last == log[n][common]
               twice == IF last > 1 THEN common + last ELSE last
               more == IF twice + last > common + twice THEN twice + twice + last ELSE common + twice
           IN /\ n \in DOMAIN log
              /\ Len(log[n]) < 2
              /\ \E v \in {1, entry.value} :
                   log' = [log EXCEPT ![n] = Append(@, IF v > 3 THEN 3 ELSE v)]
              /\ seen' = IF Cardinality(seen) < 2 /\ common > 0
                         THEN seen \union {[at |-> entry.at, value |-> IF more > 5 THEN 5 ELSE more]} ELSE seen
              /\ best' = IF common = 0 THEN best ELSE IF twice > 3 THEN 3 ELSE twice
Next == \E n \in Node : Join(n) \/ Grow(n)
Known == \A n \in DOMAIN log : Common(n) <= Len(log[n]) /\ (Common(n) > 0 => log[n][Common(n)] > 0)
====
"""


@pytest.mark.parametrize("long", [20, 60, 160])
def test_shared_codes_have_the_steps_of_the_module(long: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_codes, "_LONG", long)
    shared = pair_of(tmp_path, MODULE, CONFIGURATION)
    assert shared.differences(300) == []
    text = shared.translated.folder.files["spec.py"]
    assert re.search(r"def later_\d+_\(\):", text)
    assert "shared_" not in text


def test_variables_of_comprehensions_are_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_codes, "_LONG", 20)
    text = pair_of(tmp_path, MODULE, CONFIGURATION).translated.folder.files["spec.py"]
    assert re.search(r"def part_\d+_\(\w+", text)


def test_a_let_that_reads_others_twice_does_not_double_at_each_level(tmp_path: Path) -> None:
    """Written anew at each read, the last of these LETs has the code of the first one 2 ** 24 times."""
    levels = [f"w{level} == IF w{level - 1} > 1 THEN w{level - 1} ELSE w{level - 1} + 0" for level in range(1, 25)]
    lets = "\n               ".join(["w0 == log[n][common]", *levels, "last == w24"])
    shared = pair_of(tmp_path, MODULE.replace("last == log[n][common]", lets), CONFIGURATION)
    assert shared.differences(60) == []
    assert len(shared.translated.folder.files["spec.py"]) < 400_000


def test_a_shared_code_that_fails_stops_a_step_that_reads_it(tmp_path: Path) -> None:
    failing = MODULE.replace("last == log[n][common]", "last == log[n][IF Cardinality(seen) > 0 THEN 3 ELSE common]")
    with pytest.raises(EvaluationError):
        pair_of(tmp_path, failing, CONFIGURATION).differences(300)
