"""The folder of a run that can be resumed: a manifest, the files that it speaks of, and a lock.

Invariant: a file that the manifest speaks of is not changed where the manifest speaks of it, and is removed only after
a manifest that does without it is on the disk. So the folder holds a whole level, whenever the process dies; what
else lies there is left over and is removed when the run is resumed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from kmc.engine.files import durable_file
from kmc.engine.files.durable_file import DataFile
from kmc.engine.files.run_manifest import NAME, Manifest, damaged, read_manifest
from kmc.engine.layout.control_words import WORD_BYTES
from kmc.engine.native.memory import MappedFile
from kmc.errors import SystemFault

FOLDER = "checkpoint"
_LOCK = "lock"


class RunDirectory:
    """The folder `checkpoint` in `path`, locked. `resumed` tells whether the search goes on from what is there."""

    def __init__(self, path: Path, manifest: Manifest, *, resumed: bool) -> None:
        self.path = path
        self.folder = path / FOLDER
        self.manifest = manifest
        self.resumed = resumed
        with durable_file.step("create", self.folder):
            self.folder.mkdir(exist_ok=True)
        self._lock = durable_file.lock(self.folder / _LOCK)
        if self._lock is None:
            raise SystemFault(
                "KMC553", f"another process is working on {path}", help="wait until it ends, or stop it with Ctrl-C"
            )

    @classmethod
    def created(cls, path: Path, about: Mapping[str, Any]) -> RunDirectory:
        """A new one in the folder of a run; SystemFault KMC550 if it cannot be written."""
        return cls(path, Manifest(about), resumed=False)

    @classmethod
    def opened(cls, path: Path) -> RunDirectory:
        """The one that was saved there. SystemFault KMC551 to KMC553, and KMC555 when nothing was."""
        manifest = path / FOLDER / NAME
        # An empty one is what a power failure leaves before anything was saved.
        if not manifest.exists() or not manifest.stat().st_size:
            raise SystemFault(
                "KMC555", f"there is no run to resume in {path}", help="see kmc runs: it says which can be resumed"
            )
        found = cls(path, Manifest({}), resumed=True)
        # Read under the lock: a process that ends now may still write.
        try:
            found.manifest = read_manifest(manifest)
            found._check_sizes()
        except SystemFault:
            found.close()
            raise
        found.clean()
        return found

    def begin(self, digests: Mapping[str, str]) -> None:
        """The search begins: note what is searched, or refuse with SystemFault KMC554 if that is something else now."""
        if not self.resumed:
            self.manifest = changed(self.manifest, digests=dict(digests))
            # Not on the disk for sure, and need not be: nothing is lost with it.
            with durable_file.step("create", self.folder / NAME):
                (self.folder / NAME).write_bytes(self.manifest.as_bytes())
            return
        saved = self.manifest.digests
        for name, digest in digests.items():
            if saved.get(name) != digest:
                raise SystemFault(
                    "KMC554",
                    f"the run in {self.path} cannot go on: {name} changed since it began",
                    help="undo the change, take the kmc that began it, or begin a new run",
                )

    def _check_sizes(self) -> None:
        ends: dict[str, int] = {}
        for extent in self.manifest.extents:
            ends[extent.file] = max(ends.get(extent.file, 0), extent.place + extent.words)
        for name, words in ends.items():
            path = self.folder / name
            try:
                size = path.stat().st_size
            except OSError as error:
                raise damaged(path, error.strerror or str(error)) from None
            if size < words * WORD_BYTES:
                raise damaged(path, "it is cut off")

    def file(self, name: str) -> DataFile:
        """A file of the run, to be written."""
        return DataFile(self.folder / name)

    def mapped(self, name: str) -> MappedFile:
        """A file of the run, to be read; SystemFault KMC551 if that fails."""
        path = self.folder / name
        try:
            return MappedFile(path)
        except (OSError, ValueError) as error:
            raise damaged(path, str(error)) from None

    def commit(self, manifest: Manifest) -> None:
        """Make `manifest`, whose files are on the disk, what the folder holds."""
        durable_file.sync_folder(self.folder)
        durable_file.replace(self.folder / NAME, manifest.as_bytes())
        self.manifest = manifest

    def remove(self, name: str) -> None:
        """Remove a file unless the manifest needs it."""
        if name not in self.manifest.files:
            durable_file.remove(self.folder / name)

    def clean(self, keep: frozenset[str] = frozenset()) -> None:
        """Remove what neither the manifest nor `keep` needs."""
        kept = self.manifest.files | keep | {NAME, _LOCK}
        for path in sorted(self.folder.iterdir()):
            if path.name not in kept:
                durable_file.remove(path)

    def discard(self) -> None:
        """There is nothing to resume: remove all, the manifest first."""
        if self._lock is None:
            return
        durable_file.remove(self.folder / NAME)
        for path in sorted(self.folder.iterdir()):
            durable_file.remove(path)
        with suppress(OSError):
            self.folder.rmdir()
        self.close()

    def close(self) -> None:
        """Let other processes have it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def saved_manifest(path: Path) -> Manifest | None:
    """The manifest of a run that can be resumed, without locking it; None if there is none or it is damaged."""
    with suppress(SystemFault):
        return read_manifest(path / FOLDER / NAME)
    return None


def is_locked(path: Path) -> bool:
    """Whether a process works on the run now."""
    if not (path / FOLDER / _LOCK).exists():
        return False
    descriptor = durable_file.lock(path / FOLDER / _LOCK)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False
