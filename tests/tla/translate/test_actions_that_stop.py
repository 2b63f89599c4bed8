r"""Actions without a step that stop where they are tried: a forgotten UNCHANGED, a variable without a value, Assert."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.result import Verdict

MODULE = r"""---- MODULE Stops ----
EXTENDS Integers, TLC
VARIABLES x, y
Init == x = 0 /\ y = 0
Up == x < 3 /\ x' = x + 1 /\ UNCHANGED y
Stop == x > 1 /\ LET z == x + y IN LINE
Next == Up \/ Stop
====
"""
LINES = {
    "a tuple without UNCHANGED": (r"x' = z /\ <<y>>", Verdict.ERROR),
    "a variable without a value": (r"x' = z", Verdict.ERROR),
    "Assert that fails": (r'Assert(z < 2, "large") /\ x > 5 /\ UNCHANGED <<x, y>>', Verdict.ASSERTION),
    "a value before a test that is false": (r"x > 2 /\ x' = (CASE z = 0 -> 1) /\ x > 5 /\ UNCHANGED y", Verdict.ERROR),
    "a value before FALSE": (r"x > 2 /\ x' = (CASE z = 0 -> 1) /\ FALSE /\ UNCHANGED y", Verdict.ERROR),
    "a test before FALSE": (r"x > 2 /\ (CASE z = 0 -> 1) = 1 /\ FALSE /\ UNCHANGED <<x, y>>", Verdict.ERROR),
    "a value of a branch": (
        r"x > 2 /\ (IF z > 1 THEN x' = (CASE z = 0 -> 1) ELSE x' = 1) /\ x > 5 /\ UNCHANGED y",
        Verdict.ERROR,
    ),
    "a loop without a step": (
        r"\E i \in 1..2 : (i = z /\ UNCHANGED <<x, y>>) \/ \E j \in 1..2 : (j > z /\ FALSE /\ UNCHANGED <<x, y>>)",
        Verdict.DEADLOCK,
    ),
    "no element behind a test": (r"z > 9 /\ \E i \in {} : x' = i /\ UNCHANGED y", Verdict.DEADLOCK),
    "a value of no element behind a test": (
        r"\E i \in 1..2 : (i = z /\ UNCHANGED <<x, y>>) \/ (i > z /\ x' \in {} /\ UNCHANGED y)",
        Verdict.DEADLOCK,
    ),
    "no step at all": (r"x' = z /\ y' = z /\ FALSE", Verdict.DEADLOCK),
}


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
@pytest.mark.parametrize("name", LINES)
def test_an_action_without_a_step_stops_both_engines(name: str, engine: Engine, tmp_path: Path) -> None:
    line, verdict = LINES[name]
    (tmp_path / "Stops.tla").write_text(MODULE.replace("LINE", line), encoding="utf-8")
    (tmp_path / "Stops.cfg").write_text("INIT Init\nNEXT Next\n")
    result = check_module(ModuleRequest(tmp_path / "Stops.tla", engine=engine, threads=1)).result
    assert result.verdict is verdict
