"""The exit statuses of failing checks of TLA+ modules are TLC's, by what fails and in which state."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

# Each number below is the status with which TLC ended.
TEXT = r"""---- MODULE Count ----
EXTENDS Naturals, TLC
VARIABLE x
Init == x = 0
Next == x' = x + 1 /\ x < 3
First == x + "a" = 1
Later == x = 0 \/ x + "a" = 1
FirstAssert == Assert(FALSE, "no")
LaterAssert == x = 0 \/ Assert(FALSE, "no")
OfBeginnings == x = 1
FirstStep == [][x' + "a" = 1]_x
LaterStep == [][x = 0 \/ x' + "a" = 1]_x
StepAssert == [][Assert(x' < 2, "no")]_x
Always == [](x = 0)
InitAssert == x = 0 /\ Assert(FALSE, "no")
NextAssert == Assert(FALSE, "no")
Constant == 1 < 2
===="""


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(
    ("model", "status"),
    [
        ("INIT Init NEXT Next INVARIANT First", 75),
        ("INIT Init NEXT Next INVARIANT Later", 76),
        ("INIT Init NEXT Next INVARIANT FirstAssert", 75),
        ("INIT Init NEXT Next INVARIANT LaterAssert", 76),
        ("INIT Init NEXT Next INVARIANT OfBeginnings", 12),
        ("INIT Init NEXT Next PROPERTY OfBeginnings", 13),
        ("INIT Init NEXT Next PROPERTY First", 75),
        ("INIT Init NEXT Next PROPERTY FirstStep", 75),
        ("INIT Init NEXT Next PROPERTY LaterStep", 75),
        ("INIT Init NEXT Next PROPERTY StepAssert", 14),
        ("INIT Init NEXT Next PROPERTY Always", 12),
        ("INIT Init NEXT Next CONSTRAINT First", 75),
        ("INIT Init NEXT Next CONSTRAINT FirstAssert", 75),
        ("INIT Init NEXT Next CONSTRAINT LaterAssert", 14),
        ("INIT InitAssert NEXT Next", 75),
        ("INIT Init NEXT NextAssert", 14),
        ("INIT Constant NEXT Next", 151),
        ("INIT Init NEXT Constant", 151),
        ("INIT Init NEXT Next PROPERTY Next", 151),
        ("INIT Init NEXT Next INVARIANT Next", 76),
    ],
)
def test_a_failure_has_the_status_of_tlc(
    model: str, status: int, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Count.tla").write_text(TEXT, encoding="utf-8")
    Path("Count.cfg").write_text(model, encoding="utf-8")
    assert kmc("check", "Count.tla", "--engine", engine, "--quiet", "--no-run-dir").exit_code == status


def test_a_property_of_initial_states_is_not_called_an_invariant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Count.tla").write_text(TEXT, encoding="utf-8")
    Path("Count.cfg").write_text("INIT Init NEXT Next PROPERTY OfBeginnings", encoding="utf-8")
    checked = kmc("check", "Count.tla", "--engine", "python", "--quiet", "--no-run-dir")
    assert "Error: Property OfBeginnings is violated by the initial state:" in checked.stdout


@pytest.mark.parametrize("section", ["INIT", "NEXT"])
def test_a_constant_predicate_is_an_error_at_its_name_in_the_file(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Count.tla").write_text(TEXT, encoding="utf-8")
    Path("Count.cfg").write_text("INIT Init NEXT Next".replace(section.capitalize(), "Constant"), encoding="utf-8")
    error = kmc("check", "Count.tla", "--quiet", "--no-run-dir").stderr
    assert f"error[KMC371]: {section} cannot be 'Constant': it is TRUE, whatever the variables are" in error
    assert "--> Count.cfg:1:" in error
