"""A search that loses its executors in the middle of a level saves the level before, and a resume begins there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import told
from support.specs.small import RIVER, model_of

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory, saved_manifest
from kmc.engine.layout.search_outcome import Settings
from kmc.errors import SystemFault
from kmc.frontend.model import Model
from kmc.result import Limits, Result
from kmc.shards import known_runs
from kmc.shards.executors.executor import ThreadExecutor
from kmc.shards.files.store import FolderStore
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.redivide import NewShard

TINY = Sharding(
    9, shards_first=2, shard_states=2, shard_states_max=2, task_rows=2, segment_rows=1, slice_chunks=1, slots_min=8
)
LOST = ("KMC560", *(pytest.param(code, marks=pytest.mark.slow) for code in ("KMC530", "KMC532", "KMC573")))
LEVEL = 4


@pytest.fixture
def river(tmp_path: Path, compiled_once: None) -> Model:
    """A model of some levels."""
    (tmp_path / "spec").mkdir()
    return model_of(tmp_path / "spec", RIVER, "CHECK_DEADLOCK FALSE")


def searched(model: Model, folder: Path) -> Result:
    """The result of a search that saves nothing before its end, or that goes on where one was saved."""
    folder.mkdir(exist_ok=True)
    saved = saved_manifest(folder) is not None
    directory = RunDirectory.opened(folder) if saved else RunDirectory.created(folder, {})
    settings = Settings(save_seconds=1e9)
    try:
        return check_native(model, Limits(), settings=settings, directory=directory, search_of=sharded(TINY))
    finally:
        directory.close()


def made_levels(patch: pytest.MonkeyPatch, fault: SystemFault | None = None) -> list[int]:
    """The levels that executors begin to make; that of number `LEVEL` ends with a fault, if there is one."""
    made: list[int] = []
    level = ThreadExecutor.level

    def watched(self: ThreadExecutor, source: Any, tasks: Any, merges: Any, ended: Any) -> Any:
        made.append(merges[0].level)
        found = level(self, source, tasks, merges, ended)
        if fault is not None and made[-1] == LEVEL:
            raise fault  # with all files of the level there
        return found

    patch.setattr(ThreadExecutor, "level", watched)
    return made


@pytest.mark.parametrize("code", LOST)
def test_the_last_whole_level_is_saved_when_executors_are_lost(
    code: str, river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = told(check_native(river, Limits()))
    with monkeypatch.context() as patch:
        made_levels(patch, SystemFault(code, "the executors are gone"))
        with pytest.raises(SystemFault, match="are gone"):
            searched(river, tmp_path / "run")
    manifest = saved_manifest(tmp_path / "run")
    assert manifest is not None
    assert manifest.levels == LEVEL - 1
    made = made_levels(monkeypatch)
    assert told(searched(river, tmp_path / "run")) == wanted
    assert made[0] == LEVEL


def test_a_damaged_level_is_not_saved(river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = told(check_native(river, Limits()))
    with monkeypatch.context() as patch:
        made_levels(patch, SystemFault("KMC551", "the last level is damaged"))
        with pytest.raises(SystemFault, match="is damaged"):
            searched(river, tmp_path / "run")
    manifest = saved_manifest(tmp_path / "run")
    assert manifest is not None
    assert manifest.levels == 0, "what was saved before is whole, and stays"
    assert told(searched(river, tmp_path / "run")) == wanted


def test_a_whole_level_is_saved_when_executors_are_lost_while_they_divide_it(
    river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> Any:
        raise SystemFault("KMC560", "the executors are gone")

    wanted = told(check_native(river, Limits()))
    with monkeypatch.context() as patch:
        patch.setattr(NewShard, "run", lost)
        # Nor do tasks remove the files of the level: the save is whole without that.
        patch.setattr(known_runs, "REMOVED_HERE_MAX", 0)
        patch.setattr(known_runs.RemovedFiles, "run", lost)
        made = made_levels(patch)
        with pytest.raises(SystemFault, match="are gone"):
            searched(river, tmp_path / "run")
    manifest = saved_manifest(tmp_path / "run")
    assert manifest is not None
    assert manifest.levels == made[-1]
    assert told(searched(river, tmp_path / "run")) == wanted


def test_a_save_that_fails_too_leaves_the_error_of_the_level(
    river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise SystemFault("KMC550", "cannot save the run")

    made_levels(monkeypatch, SystemFault("KMC560", "the executors are gone"))
    monkeypatch.setattr(FolderStore, "sync", refused)
    with pytest.raises(SystemFault, match="are gone"):
        searched(river, tmp_path / "run")
