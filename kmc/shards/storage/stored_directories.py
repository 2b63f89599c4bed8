"""Run directories whose files lie in a storage: begun, resumed, or taken over on another machine.

Invariant: the storage is authoritative. The manifest of the folder names the storage, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kmc.engine.files.run_directory import RunDirectory, nothing_to_resume
from kmc.shards.storage.run_in_storage import RunInStorage, StoredRun
from kmc.shards.storage.store_place import CACHE_BYTES

STORAGE = "storage"
"""The key of the run's address in the `about` of a manifest."""

_CACHE = "cache"


def storage_of(directory: RunDirectory) -> str | None:
    """The address of the run in its storage; None for one whose files lie in its folder."""
    address = directory.manifest.about.get(STORAGE)
    return None if address is None else str(address)


def created(path: Path, about: Mapping[str, Any], address: str, cache_bytes: int = CACHE_BYTES) -> RunDirectory:
    """A new run in the folder `path`, with its files at an address that no other run has; SystemFault KMC576 if one
    has it.
    """
    directory = RunDirectory.created(path, {**about, STORAGE: address})
    try:
        run = RunInStorage(address, path / _CACHE, cache_bytes)
        run.require_new()
        directory.copy = run
    # Ctrl-C too leaves no empty run behind.
    except BaseException:
        directory.discard()
        raise
    return directory


def continue_in_storage(directory: RunDirectory, cache_bytes: int = CACHE_BYTES) -> None:
    """Let a run that is resumed continue with the levels in its storage; SystemFault KMC555 if there are none."""
    address = storage_of(directory)
    if address is None:
        return
    run = RunInStorage(address, directory.path / _CACHE, cache_bytes)
    manifest = run.resumed()
    if manifest is not None:
        # The address may have other options now.
        directory.manifest = replace(manifest, about={**manifest.about, STORAGE: address})
    elif directory.manifest.levels:
        run.leave()
        raise nothing_to_resume(address)
    directory.copy = run


def adopted(path: Path, address: str) -> RunDirectory:
    """A new folder for the run at an address, which no folder here has; `continue_in_storage` comes next."""
    stored = StoredRun(address)
    if stored.is_removed:
        # The process that removed it may have ended before it was done.
        RunInStorage(address, path / _CACHE).resumed()
    manifest = None if stored.ended else stored.manifest()
    if manifest is None:
        raise nothing_to_resume(address)
    return RunDirectory.adopted(path, replace(manifest, about={**manifest.about, STORAGE: address}))
