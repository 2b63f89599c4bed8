"""What lost, doubled or late attempts of tasks write goes while the search runs, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.oracles.results import told
from support.runs.shards import store_in
from support.specs.shipped import shipped_model

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.result import Limits, Result
from kmc.shards.files.store import FolderStore, new_name
from kmc.shards.level.expander import Expander
from kmc.shards.level.merger import Merger
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

DIVIDED = replace(Sharding(3), segment_rows=64, task_rows=300)
BOUND = Limits(states=4_000)  # it ends a search with the end of a level


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[RunDirectory]:
    """The folder of a run."""
    found = RunDirectory.created(tmp_path, {})
    yield found
    found.discard()


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tasks run twice, and only the second attempt answers."""
    for kind, method in ((Expander, "expand"), (Merger, "answer")):
        once = getattr(kind, method)

        def twice(worker: object, *arguments: object, once: Callable[..., object] = once) -> object:
            once(worker, *arguments)
            return once(worker, *arguments)

        monkeypatch.setattr(kind, method, twice)


def checked(directory: RunDirectory, save_seconds: float) -> Result:
    model, settings = shipped_model("kraft", "smoke"), Settings(save_seconds=save_seconds)
    return check_native(model, BOUND, settings=settings, directory=directory, search_of=sharded(DIVIDED))


@pytest.mark.slow
@pytest.mark.usefixtures("rows")
@pytest.mark.usefixtures("doubled")
def test_a_save_removes_what_lost_attempts_wrote(directory: RunDirectory) -> None:
    found = checked(directory, save_seconds=0.0)
    assert told(found) == told(check_native(shipped_model("kraft", "smoke"), BOUND))
    assert set(FolderStore(directory.files).names()) == directory.manifest.files


@pytest.mark.slow
@pytest.mark.usefixtures("doubled")
def test_between_saves_they_stay(directory: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise the test above shows nothing.
    listed: list[int] = []
    names = FolderStore.names

    def counted(store: FolderStore) -> list[str]:
        listed.append(len(names(store)))
        return names(store)

    monkeypatch.setattr(FolderStore, "names", counted)
    checked(directory, save_seconds=1e9)
    (before,) = listed  # the save at the end, since a bound cut the search short
    assert before > len(directory.manifest.files) + 2 * directory.manifest.levels


def test_an_attempt_that_still_writes_is_not_disturbed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    name = new_name("rows", 3, 1)
    with store.writing(name) as out:
        out.write(np.arange(1_000))
        store.remove([name])
        out.write(np.arange(1_000))
    assert store.names() == []
