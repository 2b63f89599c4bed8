"""Runs whose files lie in a storage: a new one, one to be resumed, and the address that a run has saved."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmc.cli.options.check_options import CheckOptions
from kmc.cli.saved.saved_runs import cannot_write
from kmc.errors import CommandLineError, SystemFault

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import RunDirectory

STORAGE = "storage"
"""The key of the run's address in a saved command line; see `kmc.shards.storage`."""


def create_in_storage(path: Path, about: dict[str, Any], options: CheckOptions) -> RunDirectory:
    """A new run directory whose files lie in the storage of the options."""
    from kmc.shards.storage.remote_folder import inside
    from kmc.shards.storage.stored_directories import created

    try:
        return created(path, about, inside(options.storage or "", path.name), options.storage_cache)
    except SystemFault:
        with suppress(OSError):
            path.rmdir()
        raise


def resume_in_storage(directory: RunDirectory, options: CheckOptions) -> None:
    """Let a run directory continue with the levels in its storage, if it has one; SystemFault if that is not
    possible.
    """
    if STORAGE in directory.manifest.about:
        from kmc.shards.storage.stored_directories import continue_in_storage

        continue_in_storage(directory, options.storage_cache)


def run_of(address: str, options: CheckOptions) -> RunDirectory:
    """The run directory, here, of a run in a storage; a new one if there is none yet."""
    from kmc.engine.files.run_directory import FOLDER, RunDirectory
    from kmc.shards.storage.remote_folder import parent_and_name
    from kmc.shards.storage.stored_directories import adopted, storage_of

    path = Path(options.run_dir) / parent_and_name(address)[1]
    if (path / FOLDER).is_dir():
        directory = RunDirectory.opened(path)
        if _without_options(storage_of(directory)) == _without_options(address):
            return directory
        directory.close()
        raise CommandLineError("KMC623", f"{path} is another run", help="give another --run-dir DIR")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        return adopted(path, address)
    except SystemFault:
        with suppress(OSError):
            path.rmdir()
        raise


def _without_options(address: str | None) -> str:
    return str(address).partition("?")[0]


def storage_given(about: Mapping[str, Any]) -> str | None:
    """The value of --storage for a saved run."""
    if about.get(STORAGE) is None:
        return None
    from kmc.shards.storage.remote_folder import parent_and_name

    return parent_and_name(about[STORAGE])[0]
