"""The states of a run in shards that is over or cut short, to be read: `kmc check --keep-states` keeps them.

Invariant: nothing here changes a run. Its folder is locked while it is open, since a process that resumes the run
removes files. A storage has no lock: if another process resumes the run there meanwhile, files may be gone, which is an
error.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmc.engine.files.run_directory import FOLDER, KEPT_FOLDER, RunDirectory
from kmc.engine.files.run_manifest import NAME, RunManifest, damaged
from kmc.errors import SystemFault
from kmc.shards.files.store import FolderStore, ShardStore
from kmc.shards.level.run_state import RunState, restored_state
from kmc.shards.level.segment_groups import segment_groups, segments_of
from kmc.shards.level.tasks import LevelSource, RowsTask
from kmc.shards.storage.run_in_storage import StoredRun
from kmc.shards.storage.store_place import StorePlace
from kmc.shards.storage.stored_directories import storage_of


@dataclass(frozen=True, slots=True)
class KeptStates:
    """The files of all levels of a run, at `place`; `levels` counts the states of each, the first level first.

    Levels that the search made, and its result does not count, are not among `levels`.

    `about` and `digests` identify the check, as in `RunManifest`.
    """

    place: StorePlace
    store: ShardStore
    state: RunState
    levels: tuple[int, ...]
    about: Mapping[str, Any]
    digests: Mapping[str, str]
    fingerprint_bits: int

    def tasks(self, level: int, rows_max: int) -> list[RowsTask]:
        """Tasks that together read all states of a level, in the order that they have for good.

        A task has segments of consecutive rows until it has `rows_max`, refused rows among them.
        """
        groups = segment_groups(segments_of(self.state.levels[level].rows), rows_max)
        return [RowsTask(level, index, group) for index, group in enumerate(groups)]

    def source(self, level: int) -> LevelSource:
        """The part that the tasks of a level share."""
        return LevelSource(self.state.levels[level].bits, self.state.dictionary)


@contextmanager
def kept_states(path: Path) -> Iterator[KeptStates]:
    """The states that are kept in a run's folder. Raises SystemFault KMC557 if there are none, and the errors of
    `RunDirectory`.
    """
    name = KEPT_FOLDER if (path / KEPT_FOLDER).is_dir() else FOLDER
    if not (path / name / NAME).is_file():
        raise _nothing_kept(path)
    directory = RunDirectory.opened(path, name)
    try:
        address = storage_of(directory)
        if address is None:
            place = StorePlace.at(directory.folder)
            yield _states_in(directory.manifest, place, FolderStore(directory.files), path)
        else:
            with _states_at(address, path) as kept:
                yield kept
    finally:
        directory.close()


@contextmanager
def kept_in_storage(address: str) -> Iterator[KeptStates]:
    """The states that a storage keeps at the address of a run. Raises SystemFault KMC557 if there are none."""
    with tempfile.TemporaryDirectory(prefix="kmc-") as folder, _states_at(address, Path(folder)) as kept:
        yield kept


@contextmanager
def _states_at(address: str, folder: Path) -> Iterator[KeptStates]:
    """The states that the storage keeps; copies of its files lie in a folder meanwhile. The storage is not locked."""
    stored = StoredRun(address)
    manifest = stored.manifest()
    if manifest is None:
        raise _nothing_kept(address)
    with tempfile.TemporaryDirectory(prefix="copies-", dir=folder) as copies:
        place = StorePlace(copies, stored.files().address)
        yield _states_in(manifest, place, place.store(), address)


def _states_in(manifest: RunManifest, place: StorePlace, store: ShardStore, run: Path | str) -> KeptStates:
    if manifest.snapshot is None or manifest.sharded is None:
        raise _nothing_kept(run)
    try:
        state = restored_state(manifest.sharded, manifest.snapshot)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise damaged(run, "it does not say which files hold the states") from None
    levels = manifest.snapshot.levels[: state.counted_levels]
    require_kept(state, len(levels), run)
    return KeptStates(place, store, state, levels, manifest.about, manifest.digests, manifest.fingerprint_bits)


def require_kept(state: RunState, levels: int, path: Path | str) -> None:
    """SystemFault KMC557 unless the run in `path` keeps the rows of all of so many levels."""
    if not all(depth in state.levels for depth in range(1, levels + 1)):
        raise _nothing_kept(path)


def _nothing_kept(path: Path | str) -> SystemFault:
    return SystemFault(
        "KMC557",
        f"the states of the run in {path} are not kept",
        help="keep them from the start: kmc check SPEC --shards N --keep-states",
    )
