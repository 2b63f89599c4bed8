"""A run that is reopened finds its spec, whatever the working directory is now."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc

from kmc.engine.files.run_manifest import _checksum

BOUND = ("smoke", "--max-depth", "2", "--shards", "2", "--keep-states", "--quiet")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the spec `ours`, which is the working directory."""
    folder = tmp_path / "home"
    shutil.copytree(COUNTER, folder / "ours")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(folder)
    return folder


def begun(spec: str) -> Path:
    """A run that a bound ended."""
    assert kmc("check", spec, *BOUND).exit_code == 20
    (run,) = Path(".kmc/runs").iterdir()
    return run.resolve()


def reopened(run: Path, *words: str) -> list[tuple[int, str]]:
    """The exit status and the errors of the commands that need the spec of a run."""
    states = kmc("states", str(run), "--out", f"{run}-tables", "--quiet")
    shutil.rmtree(f"{run}-tables", ignore_errors=True)
    resumed = kmc("check", *words, "--resume", str(run), "--max-depth", "10", "--quiet")
    return [(states.exit_code, states.stderr), (resumed.exit_code, resumed.stderr)]


@pytest.mark.parametrize(("inside", "spec"), [("ours", "."), (".", "ours"), (".", "./ours"), ("ours", "../ours")])
def test_a_run_goes_on_from_any_folder(home: Path, monkeypatch: pytest.MonkeyPatch, inside: str, spec: str) -> None:
    monkeypatch.chdir(home / inside)
    run = begun(spec)
    monkeypatch.chdir(home.parent / "elsewhere")
    assert reopened(run) == [(0, ""), (0, "")]


def test_a_shipped_spec_stays_one_by_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kmc("check", "die_hard", "smoke", "--max-depth", "2", "--quiet").exit_code == 20
    (run,) = Path(".kmc/runs").iterdir()
    about = json.loads((run / "checkpoint/run.json").read_text())["run"]["about"]
    assert (about["spec"], about["spec_path"]) == ("die_hard", None)


def test_a_run_that_is_copied_with_its_spec_goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begun("./ours").relative_to(home)
    home.rename(home.parent / "copied")
    monkeypatch.chdir(home.parent / "elsewhere")
    assert reopened(home.parent / "copied" / run) == [(0, ""), (0, "")]


def test_a_run_of_an_older_kmc_has_the_typed_path_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "ours")
    run = begun(".")
    file = run / "checkpoint/run.json"
    found = json.loads(file.read_text())
    del found["run"]["about"]["spec_path"]
    file.write_text(json.dumps({**found, "checksum": _checksum(found["run"])}))
    monkeypatch.chdir(home.parent / "elsewhere")
    assert reopened(run) == [(0, ""), (0, "")]


def test_a_spec_that_moved_is_named_and_can_be_named_anew(home: Path) -> None:
    run = begun("./ours")
    Path("moved").mkdir()
    Path("ours").rename("moved/ours")
    for status, text in reopened(run):
        assert status == 2
        assert text.splitlines()[0] == f"error[KMC609]: the spec of the run {run} is not at {home}/ours"
        assert "kmc check SPEC [MODEL] --resume" in text
    assert kmc("states", str(run), "--spec", "moved/ours").exit_code == 0
    assert kmc("check", "moved/ours", "smoke", "--resume", str(run), "--max-depth", "10", "--quiet").exit_code == 0
