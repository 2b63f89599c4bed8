r"""`M(n, F(_)) == INSTANCE Cell`: an instance whose variables are parameters, given those of the module."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.three_ways import check_ways

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine

CELL = r"""---- MODULE Cell ----
EXTENDS Naturals
CONSTANT Max, After(_)
VARIABLES n, log
v == <<n, log>>
next == n'
Start == n = 0 /\ log \in {{}, {9}}
Up == n < Max /\ n' = After(n) /\ log' = log \union {n}
Down == n > 0 /\ next = n - 1 /\ UNCHANGED log
Reset == n = Max /\ n' \in 0..1 /\ UNCHANGED <<log>>
Step == Up \/ Down \/ Reset
Spec == Start /\ [][Step]_v /\ WF_v(Step)
Fine == [](n \in 0..Max)
Comes == []<>(n = 0)
Moves == []<>(n # Max)
====
"""
MODULE = r"""---- MODULE Protocol ----
EXTENDS Naturals
VARIABLES y, z
C(n, log, Max, After(_)) == INSTANCE Cell
Inc(k) == k + 1
Spec == C(y, z, 3, Inc)!Spec
Init == C(y, z, 3, Inc)!Start
Next == C(y, z, 3, LAMBDA k : k + 1)!Step
Fine == C(y, z, 3, Inc)!Fine
Low == C(y, z, 2, LAMBDA k : k + 1)!Fine
Comes == C(y, z, 3, Inc)!Comes
Moves == C(y, z, 3, Inc)!Moves
====
"""


@pytest.mark.parametrize("lines", ["SPECIFICATION Spec", "INIT Init NEXT Next"])
def test_such_an_instance_gives_the_behaviours(tmp_path: Path, lines: str) -> None:
    (tmp_path / "Cell.tla").write_text(CELL, encoding="utf-8")
    checked = check_ways(tmp_path, MODULE, f"{lines} CHECK_DEADLOCK FALSE\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [36, 20, 5]


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
@pytest.mark.parametrize(("name", "violated"), [("Fine", None), ("Low", "Low"), ("Comes", "Comes"), ("Moves", None)])
def test_its_properties_are_checked(tmp_path: Path, name: str, violated: str | None, engine: Engine) -> None:
    (tmp_path / "Cell.tla").write_text(CELL, encoding="utf-8")
    path = tmp_path / "Protocol.tla"
    path.write_text(MODULE, encoding="utf-8")
    path.with_suffix(".cfg").write_text(f"SPECIFICATION Spec\nPROPERTY {name}\n", encoding="utf-8")
    result = check_module(ModuleRequest(path, path.with_suffix(".cfg"), engine=engine, threads=1)).result
    assert (result.violation.name if result.violation else None) == violated
