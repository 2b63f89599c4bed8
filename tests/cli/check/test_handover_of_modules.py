"""`kmc check X.tla` without an engine: what is shown, saved and resumed where the native engine takes over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

import kmc as library
from kmc.checking.modules import handover
from kmc.errors import ExitStatus

GRID = """---- MODULE Walk ----
EXTENDS Naturals
CONSTANT Size
VARIABLES x, y
Init == x = 0 /\\ y = 0
Next == \\/ x < Size /\\ x' = x + 1 /\\ y' = y
        \\/ y < Size /\\ y' = y + 1 /\\ x' = x
====
"""


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(handover, "HANDOVER_STATES", 50)
    monkeypatch.chdir(tmp_path)
    Path("Walk.tla").write_text(GRID)
    Path("Walk.cfg").write_text("INIT Init\nNEXT Next\nCONSTANT Size = 20\nCHECK_DEADLOCK FALSE\n")
    return "Walk.tla"


def test_the_engine_is_in_the_result(walk: str) -> None:
    found = json.loads(kmc("check", walk, "--json").stdout)
    assert (found["engine"], found["distinct"], found["generated"]) == ("native", 441, 841)
    found = json.loads(kmc("check", walk, "--json", "--engine", "python").stdout)
    assert (found["engine"], found["distinct"], found["generated"]) == ("python", 441, 841)
    small = json.loads(kmc("check", walk, "--set", "Size=3", "--json").stdout)
    assert (small["engine"], small["distinct"]) == ("python", 16)


@pytest.mark.slow
def test_options_of_the_native_engine_wait_for_it(walk: str) -> None:
    found = json.loads(kmc("check", walk, "--threads", "2", "--fingerprint-bits", "128", "--json").stdout)
    assert (found["engine"], found["fingerprint_bits"]) == ("native", 128)
    refused = kmc("check", walk, "--engine", "python", "--threads", "2")
    assert "error[KMC697]: --threads cannot be used" in refused.stderr


@pytest.mark.slow
def test_a_run_that_was_handed_over_is_resumed(walk: str) -> None:
    bounded = kmc("check", walk, "--max-depth", "30", "--run-dir", "runs")
    assert bounded.exit_code == ExitStatus.BOUND_REACHED
    assert "kmc check --resume" in bounded.stdout + bounded.stderr
    (run,) = Path("runs").iterdir()
    resumed = kmc("check", "--resume", str(run), "--json")
    assert json.loads(resumed.stdout)["distinct"] == 441


def test_a_run_that_could_not_be_handed_over_leaves_nothing_to_resume(
    walk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(walk).write_text(
        GRID.replace("VARIABLES x, y", "VARIABLES x, y, f")
        .replace("Init ==", "Init == f = [i \\in {1, 100000} |-> 0] /\\")
        .replace("Next ==", "Step ==")
        .replace("====", "Next == Step /\\ UNCHANGED f\n====")
    )
    ended = kmc("check", walk, "--max-depth", "30", "--run-dir", "runs")
    assert ended.exit_code == ExitStatus.BOUND_REACHED
    assert "The interpreter goes on" in ended.stderr
    assert "--resume" not in ended.stdout + ended.stderr
    (run,) = Path("runs").iterdir()
    assert not list(run.glob("**/run.json"))


def test_the_library_hands_over_too(walk: str) -> None:
    assert library.check_module(walk).details.engine == "native"
    assert library.check_module(walk, engine="python").details.engine == "python"
