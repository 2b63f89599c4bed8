"""A CHOOSE with several solutions is warned of once, however often its place is evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest

import kmc

MODULE = r"""---- MODULE Seeded ----
EXTENDS Naturals, FiniteSets
CONSTANT Host
VARIABLES first, others
Some == CHOOSE s \in SUBSET Host : Cardinality(s) = 2
Init == first = Some /\ others = Host \ Some
Next == first' = Some \union others /\ others' = Some
====
"""


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_choice_is_said_once(engine: str, tmp_path: Path) -> None:
    (tmp_path / "Seeded.tla").write_text(MODULE, "utf-8")
    (tmp_path / "Seeded.cfg").write_text("CONSTANT Host = {h1, h2, h3}\nINIT Init\nNEXT Next\n", "utf-8")
    result = kmc.check_module(tmp_path / "Seeded.tla", engine=engine)
    assert ["CHOOSE has a choice" in warning for warning in result.warnings].count(True) == 1
