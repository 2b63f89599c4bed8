"""Steps whose number of ways, or whose value, kmc cannot know as TLC does: they are refused, and nothing is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.errors import SpecError
from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram

HEAD = r"""EXTENDS Naturals
VARIABLES x, y
F == [i \in 1..3 |-> \E j \in 1..2 : j > x]
First(f) == f[1]
Init == x = 0 /\ y = 0
"""
CHANGED = "the recursive operator R is not supported with a parameter v"
YIELDED = "a function that an expression yields is not supported as a formula with several ways to be true"
WHOLE = "the parameter f is not supported for a function of formulas with several ways to be true"
READ = "the parameter f is not supported for a formula with several ways to be true, since its operator also reads"
STEPS = {
    "changed value of the next state": (
        CHANGED,
        "RECURSIVE R(_, _)\nR(n, v) == IF n = 0 THEN y' = v ELSE R(n - 1, v + 1)\nNext == x' = 1 /\\ R(2, x')",
    ),
    "changed formula": (
        CHANGED,
        "RECURSIVE R(_, _)\nR(v, n) == IF n = 0 THEN v ELSE R(v \\/ x < 9, n - 1)\n"
        "Next == R(x > 9 \\/ x > 8, 2) /\\ x' = 1 /\\ y' = 0",
    ),
    "IF": (YIELDED, "Next == (IF x = 1 THEN F ELSE F)[2] /\\ UNCHANGED <<x, y>>"),
    "IF passed on": (YIELDED, "Next == First(IF x = 1 THEN F ELSE F) /\\ UNCHANGED <<x, y>>"),
    "function of functions": (
        YIELDED,
        "G == [i \\in 1..2 |-> [j \\in 1..2 |-> x < i \\/ x < j]]\nNext == G[1][2] /\\ UNCHANGED <<x, y>>",
    ),
    "EXCEPT": (YIELDED, "Next == [F EXCEPT ![1] = FALSE][2] /\\ UNCHANGED <<x, y>>"),
    "field": (YIELDED, "Next == [a |-> F, b |-> 1].a[1] /\\ UNCHANGED <<x, y>>"),
    "read before": (WHOLE, "P(f) == DOMAIN f # {} /\\ f[1]\nNext == P(F) /\\ UNCHANGED <<x, y>>"),
    "passed to an operator that reads it": (
        WHOLE,
        "Q(g) == g = g\nP(f) == Q(f) /\\ f[1]\nNext == P(F) /\\ UNCHANGED <<x, y>>",
    ),
    "formula that is a condition too": (
        READ,
        "Once(f) == (IF f THEN x' = 1 ELSE x' = 2) /\\ f /\\ y' = y\nNext == Once(x < 3 \\/ x < 4)",
    ),
    "recursion": (
        WHOLE,
        "RECURSIVE R(_, _)\nR(f, n) == IF n = 0 THEN f[1] ELSE f[2] /\\ R(f, n - 1)\n"
        "Next == R(F, 2) /\\ UNCHANGED <<x, y>>",
    ),
}


def program_of(folder: Path, text: str) -> ModuleProgram:
    path = folder / "Ways.tla"
    path.write_text(f"---- MODULE Ways ----\n{HEAD}{text}\n====\n")
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n")
    return ModuleProgram(load_model(path, None))


@pytest.mark.parametrize("name", STEPS)
def test_ways_that_depend_on_how_tlc_runs_are_refused(name: str, tmp_path: Path) -> None:
    message, text = STEPS[name]
    with pytest.raises(SpecError) as caught:
        program_of(tmp_path, text)
    assert (caught.value.code, message in caught.value.message) == ("KMC024", True)


@pytest.mark.parametrize(
    "text",
    [
        "Next == First(F) = TRUE /\\ x' = 1 /\\ y' = 0",
        "P(f) == DOMAIN f # {} /\\ f[1]\nNext == P([i \\in 1..2 |-> x < i]) /\\ x' = 1 /\\ y' = 0",
        "Once(f) == (IF f THEN x' = 1 ELSE x' = 2) /\\ f /\\ y' = y\nNext == Once(x < 3)",
        "RECURSIVE R(_, _)\nR(n, v) == IF n = 0 THEN v' = 1 ELSE R(n - 1, v)\nNext == R(2, x) /\\ y' = 0",
        "RECURSIVE R(_, _)\nR(n, v) == IF n = 0 THEN v ELSE R(n - 1, v - 1)\nNext == x' = 1 /\\ y' = R(1, x')",
        "RECURSIVE R(_, _)\nR(n, v) == IF n = 0 THEN y' = v - 1 ELSE R(n - 1, v)\nNext == x' = 1 /\\ R(2, x')",
        "RECURSIVE R(_, _)\nR(n, v) == IF n = 0 THEN v = 2 ELSE R(n - 1, v + 1)\nNext == R(2, x) /\\ x' = 1 /\\ y' = 0",
    ],
)
def test_what_has_one_way_is_not_refused(text: str, tmp_path: Path) -> None:
    assert [step.state for step in program_of(tmp_path, text).successors((0, 0))] == [(1, 0)]
