"""`kmc runs --prune`: which saved runs to remove, and removing them.

Invariants: a run that a process works on stays, and so does every file that kmc did not write there. The lock of the
run is held while its files go, the manifest first, so it is either whole or cannot be resumed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from kmc.cli.saved.saved_runs import CACHE_NAME, CHECKPOINT_NAME, FILE_NAMES, STATES_NAME, SavedRun, disk_bytes
from kmc.cli.saved.storage_choice import STORAGE
from kmc.engine.files.durable_folder import DurableFolder
from kmc.errors import SystemFault

_UNFINISHED_COPY = ".part-"


@dataclass(frozen=True, slots=True)
class Selection:
    """The runs to remove: those that meet all of these conditions; None sets none.

    `keep`: all but this many of the newest. `older_than`: in seconds. `finished`: runs that have a result and cannot be
    resumed.
    """

    older_than: float | None = None
    keep: int | None = None
    finished: bool = False

    @property
    def is_given(self) -> bool:
        """Whether there is any condition."""
        return self.finished or self.older_than is not None or self.keep is not None

    def of(self, runs: Sequence[SavedRun], now: datetime) -> list[SavedRun]:
        """The runs to remove among `runs`, which are sorted with the oldest first; never one that is still going on."""
        old = runs[: max(0, len(runs) - self.keep)] if self.keep is not None else runs
        return [run for run in old if not run.is_running and self._allows(run, now)]

    def _allows(self, run: SavedRun, now: datetime) -> bool:
        if self.older_than is not None and now - run.began < timedelta(seconds=self.older_than):
            return False
        return not self.finished or (run.result is not None and run.levels is None)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The outcome of removing a run: the bytes freed, the files left in its folder, and why.

    `storage` is the address where the rest of it stays, for a run that keeps its files there.
    """

    run: SavedRun
    freed_bytes: int = 0
    left: tuple[str, ...] = ()
    fault: SystemFault | None = None
    is_running: bool = False
    storage: str | None = None

    @property
    def is_gone(self) -> bool:
        """Whether its folder is gone."""
        return not self.left and self.fault is None and not self.is_running


def removed(run: SavedRun) -> Pruned:
    """Remove the files of a saved run, and its folder if nothing else lies there."""
    path = Path(run.path)
    before, storage = disk_bytes(path), storage_of_run(path)
    try:
        with DurableFolder.inside(path) as folder:
            if not folder.hold(alone=True) or not _without_states(path):
                return Pruned(run, is_running=True)
            _remove_copies(path / CACHE_NAME)
            for name in FILE_NAMES:
                folder.remove(name)
                folder.remove(f"{name}.new")
            folder.remove_folder()
    except SystemFault as fault:
        return Pruned(run, max(0, before - disk_bytes(path)), fault=fault)
    left: list[str] = []
    with suppress(FileNotFoundError):
        left = sorted(os.listdir(path))
    return Pruned(run, max(0, before - disk_bytes(path)), tuple(left), storage=storage)


def storage_of_run(path: Path) -> str | None:
    """The address where a run that can be resumed keeps its files; None for one that keeps them in its folder."""
    # Imported here, because numpy takes a tenth of a second.
    from kmc.engine.files.run_directory import saved_manifest

    manifest = saved_manifest(path)
    storage = None if manifest is None else manifest.about.get(STORAGE)
    return None if storage is None else str(storage)


def _remove_copies(path: Path) -> None:
    """Remove the copies of files of a storage, and their folder if nothing else lies there."""
    if path.is_symlink() or not path.is_dir():
        return
    # Imported here, because numpy takes a tenth of a second.
    from kmc.shards.files.store import is_shard_file

    with DurableFolder.inside(path) as folder:
        for name in folder.names():
            if is_shard_file(name) or name.startswith(_UNFINISHED_COPY):
                folder.remove(name)
        folder.remove_folder()


def _without_states(path: Path) -> bool:
    """Remove the files that a search saved; False if a process works on it."""
    # Imported here, because numpy takes a tenth of a second.
    from kmc.engine.files.run_directory import remove_saved

    return all(remove_saved(path, name) for name in (CHECKPOINT_NAME, STATES_NAME))
