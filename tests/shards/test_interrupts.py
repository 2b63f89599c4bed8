"""Ctrl-C in each phase of a search in shards: what was saved goes on, with exact results."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import told
from support.runs.shards import drop_rows
from support.specs.small import RIVER, model_of

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory, saved_manifest
from kmc.engine.layout.search_outcome import Settings
from kmc.frontend.model import Model
from kmc.result import Limits, Result, Verdict
from kmc.shards import sharded_search
from kmc.shards.files.store import FolderStore
from kmc.shards.known_runs import CheckedRuns
from kmc.shards.level.expander import Expander
from kmc.shards.level.merger import Merger
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.redivide import NewShard
from kmc.shards.sharded_search import ShardedSearch

TINY = Sharding(
    9, shards_first=2, shard_states=2, shard_states_max=2, task_rows=2, segment_rows=1, slice_chunks=1, slots_min=8
)

PHASES = {
    "the first level is expanded": (Expander, "expand", 1),
    "a level is expanded": (Expander, "expand", 4),
    "a level is merged": (Merger, "answer", 5),
    "shards are divided": (NewShard, "run", 1),
    "a level is saved": (FolderStore, "sync", 2),
    "files are removed": (FolderStore, "remove", 3),
    "the accepted states are checked": (Expander, "check", 1),
    "the known states are checked": (CheckedRuns, "run", 1),
    "the trace is looked up": (Expander, "seek", 1),
    "another search looks for the trace": (ShardedSearch, "go_to", 1),
}


@pytest.fixture
def river(tmp_path: Path, compiled_once: None) -> Model:
    """A model with a violation in its last level but one."""
    (tmp_path / "spec").mkdir()
    return model_of(tmp_path / "spec", RIVER, "INVARIANT NotAcross CHECK_DEADLOCK FALSE")


def searched(model: Model, folder: Path) -> Result:
    """The result of a search that saves each level, or that goes on where one was saved."""
    folder.mkdir(exist_ok=True)
    saved = saved_manifest(folder) is not None
    directory = RunDirectory.opened(folder) if saved else RunDirectory.created(folder, {})
    settings = Settings(save_seconds=0.0)
    try:
        return check_native(model, Limits(), settings=settings, directory=directory, search_of=sharded(TINY))
    finally:
        directory.close()


def press(patch: pytest.MonkeyPatch, place: Any, name: str, number: int) -> list[int]:
    """Press Ctrl-C at the begin of a call, the one of this number; the calls so far."""
    function, calls = getattr(place, name), list[int]()

    def pressing(*given: Any, **named: Any) -> Any:
        calls.append(len(calls) + 1)
        if calls[-1] == number:
            signal.raise_signal(signal.SIGINT)
        return function(*given, **named)

    patch.setattr(place, name, pressing)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_in_any_phase_leaves_a_run_that_goes_on(
    phase: str, river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop_rows(monkeypatch)
    wanted = told(check_native(river, Limits()))
    (place, name, number), found = PHASES[phase], phase == "the known states are checked"
    with monkeypatch.context() as patch:
        calls = press(patch, place, name, number)
        # After the search, Ctrl-C is an exception as everywhere in Python. A violation that was found is a result.
        with suppress(KeyboardInterrupt):
            assert searched(river, tmp_path / "run").verdict is (Verdict.VIOLATION if found else Verdict.INTERRUPTED)
    assert len(calls) >= number
    assert told(searched(river, tmp_path / "run")) == wanted


def test_ctrl_c_while_a_saved_run_is_read_leaves_it_as_it_was(
    river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = told(check_native(river, Limits()))
    with monkeypatch.context() as patch:
        press(patch, Expander, "expand", 6)
        searched(river, tmp_path / "run")
    before = saved_manifest(tmp_path / "run")
    with monkeypatch.context() as patch:
        press(patch, sharded_search, "restored_state", 1)
        assert searched(river, tmp_path / "run").verdict is Verdict.INTERRUPTED
    assert saved_manifest(tmp_path / "run") == before
    assert told(searched(river, tmp_path / "run")) == wanted
