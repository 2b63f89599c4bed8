r"""Specifications that operators make of their parts: `Fairly(Init /\ [][Next]_x, WF_x(Next))`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.three_ways import check_ways

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine

MODULE = r"""---- MODULE Protocol ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % 3
Same(F) == F
Both(F, G) == F /\ G
From(I, F) == I /\ F /\ x < 2
Always(A) == [][A]_x
Whole == Same(Init /\ [][Next]_x)
Parts == Both(Same(Init), Both([][Next]_x, WF_x(Next)))
Local == LET Id(F) == F IN Id(From(x = 1, [][Next]_x) /\ SF_x(Next))
Made == Both(Same(Init), Same(Always(Same(Next)))) /\ Same(WF_x(Same(Next)))
Comes == []<>(x = 2)
====
"""


@pytest.mark.parametrize("name", ["Whole", "Parts", "Local", "Made"])
def test_a_specification_may_pass_its_parts_on(tmp_path: Path, name: str) -> None:
    checked = check_ways(tmp_path, MODULE, f"SPECIFICATION {name}\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [4, 3, 3]


@pytest.mark.parametrize("engine", [Engine.PYTHON, Engine.NATIVE])
@pytest.mark.parametrize(("name", "violated"), [("Whole", "Comes"), ("Parts", None), ("Local", None), ("Made", None)])
def test_fairness_that_is_passed_on_is_assumed(tmp_path: Path, name: str, violated: str | None, engine: Engine) -> None:
    path = tmp_path / "Protocol.tla"
    path.write_text(MODULE, encoding="utf-8")
    path.with_suffix(".cfg").write_text(f"SPECIFICATION {name}\nPROPERTY Comes\n", encoding="utf-8")
    result = check_module(ModuleRequest(path, path.with_suffix(".cfg"), engine=engine, threads=1)).result
    assert (result.violation.name if result.violation else None) == violated
