"""A model's bound of levels: --max-depth takes its place, and a run that ended there is told how to go past it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, check_json, kmc


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize("levels", [1, 3])
def test_max_depth_takes_the_place_of_the_bound_of_the_model(engine: str, levels: int) -> None:
    found = check_json(COUNTER, "bounded", "--engine", engine, "--max-depth", str(levels))
    assert len(found["levels"]) == levels


def test_a_run_that_ended_at_the_bound_of_its_model_goes_past_it() -> None:
    shown = kmc("check", COUNTER, "bounded", "--engine", "native").stdout
    (command,) = (line.removeprefix("Resume: ") for line in shown.splitlines() if line.startswith("Resume: "))
    assert "stopped at level 3" in kmc(*shlex.split(command)[1:]).stdout


def test_the_list_of_runs_goes_past_the_bound_of_a_model_too() -> None:
    kmc("check", COUNTER, "bounded", "--engine", "native")
    assert kmc("runs").stdout.splitlines()[-1].endswith(" --max-depth 3")
