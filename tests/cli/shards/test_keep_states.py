"""`kmc check --shards N --keep-states`: the states of a run stay in its folder, and the run is over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc

from kmc.shards.kept_states import kept_states


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _run() -> Path:
    (found,) = Path(".kmc/runs").iterdir()
    return found


def test_states_stay_and_there_is_nothing_to_resume() -> None:
    assert kmc("check", COUNTER, "--shards", "2", "--keep-states").exit_code == 0
    with kept_states(_run()) as states:
        assert sum(states.levels) > 0
    assert "Can go on" not in kmc("runs").stdout
    assert "KMC555" in kmc("check", "--resume", str(_run())).stderr


def test_without_the_option_nothing_stays() -> None:
    assert kmc("check", COUNTER, "--shards", "2").exit_code == 0
    assert sorted(path.name for path in _run().iterdir()) == ["model.cfg", "result.json"]


def test_a_run_that_was_cut_short_keeps_its_states_when_it_ends() -> None:
    cut = kmc("check", COUNTER, "--shards", "2", "--keep-states", "--max-states", "2")
    assert cut.exit_code == 20
    with kept_states(_run()) as states:
        before = states.levels
    assert kmc("check", "--resume", str(_run())).exit_code == 0
    with kept_states(_run()) as states:
        assert states.levels[: len(before)] == before
        assert len(states.levels) > len(before)
    assert not (_run() / "checkpoint").exists()


@pytest.mark.slow
def test_the_states_behind_a_refuted_property_are_left_out_as_the_result_leaves_them_out() -> None:
    found = kmc("check", "two_phase_commit", "unfair", "--shards", "2", "--keep-states", "--json", "--save-every", "0")
    assert found.exit_code == 13
    levels = json.loads(found.stdout)["levels"]
    with kept_states(_run()) as states:
        assert list(states.levels) == levels
        assert len(states.state.levels) > len(levels), "the search in shards went on"
    written = kmc("states", str(_run()), "--json")
    assert json.loads(written.stdout)["states"] == sum(levels)


def test_a_search_without_shards_has_no_states_to_keep() -> None:
    found = kmc("check", COUNTER, "--keep-states")
    assert (found.exit_code, "KMC616" in found.stderr) == (2, True)
    assert "--shards N" in found.stderr


def test_a_resumed_run_without_shards_keeps_none() -> None:
    kmc("check", COUNTER, "--max-states", "2")
    assert kmc("check", "--resume", str(_run()), "--keep-states").exit_code == 0
    assert sorted(path.name for path in _run().iterdir()) == ["model.cfg", "result.json"]
