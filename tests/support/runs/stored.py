"""Checks whose files lie in a storage, begun and resumed as the command line does it, without its process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.oracles.results import told

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.model_search import SearchMaker
from kmc.frontend.model import Model
from kmc.result import Limits
from kmc.shards.storage import stored_directories
from kmc.shards.storage.remote_folder import RemoteFolder


def begun(folder: Path, address: str, **options: Any) -> RunDirectory:
    """A new run in a folder of this name, and in a storage."""
    folder.mkdir(parents=True)
    return stored_directories.created(folder, {}, address, **options)


def continue_in_storage(folder: Path, address: str) -> RunDirectory:
    """The run of a storage, in a new folder: as on another machine."""
    folder.mkdir(parents=True)
    directory = stored_directories.adopted(folder, address)
    stored_directories.continue_in_storage(directory)
    return directory


def searched(
    model: Model,
    directory: RunDirectory,
    search_of: SearchMaker,
    depth: int | None = None,
    at_end: Callable[[], object] = lambda: None,
) -> dict[str, Any]:
    """What a check finds that saves every level; a run that has ended is removed, after `at_end`."""
    settings = Settings(save_seconds=0.0)
    try:
        found = check_native(model, Limits(depth), settings=settings, directory=directory, search_of=search_of)
        at_end()
        if directory.ended:
            directory.discard()
        return told(found)
    finally:
        directory.close()


def left_in(address: str) -> list[str]:
    """The names of what lies in a storage."""
    folder = RemoteFolder(address)
    return folder.names() + folder.folders()
