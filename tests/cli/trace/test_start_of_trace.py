"""`--from` without SPEC and MODEL: they are those of the trace."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc

QUICK = ("--engine", "python", "--no-run-dir")


@pytest.fixture(autouse=True)
def _beside_a_run_of_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(COUNTER, tmp_path / "specs" / "counter")
    monkeypatch.chdir(tmp_path)
    kmc("check", "specs/counter", "two", "--engine", "python")


def test_spec_and_model_are_taken_from_the_trace_and_said() -> None:
    ran = kmc("check", "--from", "last#2", *QUICK)
    assert ran.exit_code == 12
    assert "last#2 is a trace of specs/counter two, which is checked.\n" in ran.stderr
    assert ran.stdout.splitlines()[-1] == "VIOLATION counter two: BelowTwo fails, a trace of 2 states"
    assert "is a trace of" not in kmc("check", "--from", "last#2", *QUICK, "--quiet").stderr


def test_a_simulation_takes_them_too() -> None:
    ran = kmc("simulate", "--from", "last#2", "--no-run-dir", "--seed", "1", "--json")
    found = json.loads(ran.stdout)
    assert (found["spec"], found["model"]) == ("counter", "two")


def test_what_is_typed_counts() -> None:
    ran = kmc("check", "specs/counter", "smoke", "--from", "last#2", *QUICK)
    assert ran.stdout.splitlines()[-1].startswith("BOUND counter smoke: ")


def test_the_constants_of_a_changed_model_are_those_of_its_run() -> None:
    kmc("check", "specs/counter", "two", "--set", "Top=2", "--engine", "python")
    ran = kmc("check", "--from", "last#2", *QUICK)
    assert "Top = 2" in ran.stdout


def test_a_trace_that_names_no_spec_says_what_to_type(tmp_path: Path) -> None:
    (trace,) = Path(".kmc").rglob("trace.itf.json")
    data = json.loads(trace.read_text(encoding="utf-8"))
    data["#meta"] = {"format": "ITF"}
    (tmp_path / "alone.json").write_text(json.dumps(data), encoding="utf-8")
    ran = kmc("check", "--from", "alone.json", *QUICK)
    assert ran.exit_code == 2
    assert ran.stderr.splitlines() == [
        "error[KMC660]: 'alone.json' does not say which spec it is a trace of",
        "  = help: name the spec before --from alone.json",
    ]


@pytest.mark.parametrize("command", ["check", "simulate"])
def test_without_a_trace_a_spec_must_be_named(command: str) -> None:
    assert "missing argument 'SPEC'" in kmc(command).stderr
