"""`kmc check --shards` and `--spark`: what they need, and what they say."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc

from kmc.cli.options import search_choice
from kmc.cli.saved.kept_command import check_about
from kmc.errors import SystemFault


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--engine", "python"], "the interpreter has no shards"),
        (["--no-run-dir"], "shards keep their states in the folder of the run"),
    ],
)
@pytest.mark.parametrize("asked", [["--shards", "4"], ["--spark", "local[1]"]])
def test_shards_need_the_native_engine_and_a_folder(asked: list[str], words: list[str], why: str) -> None:
    found = kmc("check", "die_hard", *asked, *words)
    assert found.exit_code == 2
    assert f"error[KMC616]: {why}" in found.stderr


def test_more_shards_than_a_search_may_have_are_refused_when_asked_for_and_when_saved() -> None:
    found = kmc("check", "die_hard", "--shards", "4097")
    assert (found.exit_code, "4097 is not in the range 1<=x<=4096" in found.stderr) == (2, True)
    about: dict[str, Any] = {"spec": "die_hard", "model": None, "sets": [], "deadlock": None, "keep_going": False}
    about |= {"start": None, "shards": 4096}
    assert check_about(about, "run.json") == about
    with pytest.raises(SystemFault) as caught:
        check_about({**about, "shards": 4097}, "run.json")
    assert caught.value.code == "KMC551"


def test_an_exchange_needs_spark() -> None:
    found = kmc("check", "die_hard", "--shards", "2", "--exchange", "files")
    assert (found.exit_code, "error[KMC616]: only a search on Spark has an exchange" in found.stderr) == (2, True)


def test_without_pyspark_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_choice, "find_spec", lambda name: None)
    found = kmc("check", "die_hard", "--spark", "local[1]")
    assert found.exit_code == 2
    assert "error[KMC618]: PySpark is not installed" in found.stderr
    assert f"install it: {sys.executable} -m pip install 'kraft-model-checker[spark]'" in found.stderr


@pytest.mark.slow
def test_a_run_with_shards_leaves_a_result_and_no_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["check", "kraft", "smoke", "--json"]
    sharded, plain = kmc(*words, "--shards", "3"), kmc(*words)
    assert sharded.exit_code == plain.exit_code == 0
    told = [json.loads(found.stdout) for found in (sharded, plain)]
    same = ("result", "distinct", "generated", "depth", "generated_by_action", "properties")
    assert {key: told[0][key] for key in same} == {key: told[1][key] for key in same}
    (folder, _) = sorted((tmp_path / ".kmc/runs").iterdir())
    assert sorted(path.name for path in folder.iterdir()) == ["model.cfg", "result.json"]


@pytest.mark.slow
def test_a_run_that_was_cut_short_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cut = kmc("check", "kraft", "standard", "--shards", "3", "--max-states", "5000", "--json")
    assert cut.exit_code == 20
    (folder,) = (tmp_path / ".kmc/runs").iterdir()
    went_on = kmc("check", "--resume", str(folder), "--json")
    assert went_on.exit_code == 0
    assert json.loads(went_on.stdout)["distinct"] == 36_862
    assert not (folder / "checkpoint").exists()


def test_a_master_that_does_not_exist_leaves_no_run(tmp_path: Path) -> None:
    found = kmc("check", "die_hard", "--spark", "locl[2]", "--run-dir", str(tmp_path))
    assert (found.exit_code, "error[KMC563]: Spark did not start: there is no master locl[2]" in found.stderr) == (
        153,
        True,
    )
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_has_ended_is_not_resumed_and_says_so(tmp_path: Path) -> None:
    kmc("check", "die_hard", "--continue", "--shards", "2", "--run-dir", str(tmp_path))
    (folder,) = tmp_path.iterdir()
    # As where a process was killed while it removed the files of the run.
    (folder / "checkpoint").mkdir()
    for left in ((folder / "checkpoint"), None):
        found = kmc("check", "--resume", str(folder))
        assert (found.exit_code, f"error[KMC555]: the run in {folder} has ended" in found.stderr) == (153, True)
        assert "result.json" in found.stderr
        if left is not None:
            for file in left.iterdir():
                file.unlink()
            left.rmdir()
