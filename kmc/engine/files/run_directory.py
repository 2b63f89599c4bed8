"""The folder of a run that can be resumed: a manifest, the files that it speaks of, and a lock.

Invariants: a part of a file that a manifest names is never changed, and the file is removed only after a manifest
without it is on disk. So the folder holds a whole level, whenever the process dies; files left over otherwise are
removed when the run is resumed. Only files with kmc's names are ever removed: any other file in the folder stays, and
then the folder does too.

The run's own folder may be given through a symbolic link, as a place on another disk often is. The folder `checkpoint`
in it and its files may not be links. A manifest says which spec is loaded, and loading a spec runs its code, so one
that belongs to another user is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace as changed
from pathlib import Path
from typing import Any, Protocol

from kmc.engine.files.durable_file import DataFile
from kmc.engine.files.durable_folder import DurableFolder, foreign
from kmc.engine.files.run_manifest import NAME, RunManifest, damaged, is_data_file, parse_manifest, unread
from kmc.engine.layout.control_words import WORD_BYTES
from kmc.engine.native.memory import MappedFile
from kmc.errors import SystemFault

FOLDER = "checkpoint"
KEPT_FOLDER = "states"
SPEC_DIGEST = "the spec or its model"
_LOCK = "lock"
_RESERVE = "reserve"
RESERVE_BYTES = 1 << 20
"""The disk space that a run reserves when it begins, for its manifest once the disk is full."""

_TRANSLATION = "translation.json"

_OWN = frozenset({NAME, f"{NAME}.new", _LOCK, _RESERVE, _TRANSLATION, f"{_TRANSLATION}.new"})
_ROOT = 0


class ManifestCopy(Protocol):
    """Another place that holds the files of the run and its manifest. The copy, not the local folder, is
    authoritative.
    """

    def require_owned(self) -> None:
        """Raise SystemFault KMC571 if another process works on the run."""

    def commit(self, manifest: RunManifest) -> None:
        """Make `manifest`, whose files are there, the manifest of this place."""

    def publish(self, files: Mapping[str, str]) -> None:
        """Write the texts of a result there, by name."""

    def restart(self) -> None:
        """Remove all levels that were saved, since the search begins again."""

    def keep(self) -> None:
        """End the run, so that nothing can be resumed, and keep its files."""

    def discard(self) -> None:
        """End the run, so that nothing can be resumed, and remove its files."""


class RunDirectory:
    """The folder `checkpoint` in `path`, locked.

    `resumed` is whether the search continues from the saved files. `ended` is whether it came to its end, so that none
    of these files is needed once its result is on disk. With `copy`, the files lie in the copy.
    """

    def __init__(self, path: Path, manifest: RunManifest, files: DurableFolder, *, resumed: bool) -> None:
        self.path = path
        self.folder = files.path
        self.manifest = manifest
        self.resumed = resumed
        self.ended = False
        self.copy: ManifestCopy | None = None
        self._files = files
        self._written: dict[str, DataFile] = {}
        self._level_files: frozenset[str] = frozenset()
        self._lock = files.lock(_LOCK)
        if self._lock is None:
            files.close()
            raise SystemFault(
                "KMC553", f"another process is working on {path}", help="wait until it ends, or stop it with Ctrl-C"
            )

    @classmethod
    def created(cls, path: Path, about: Mapping[str, Any]) -> RunDirectory:
        """A new one in the folder of a run; SystemFault KMC550 if it cannot be written."""
        return cls(path, RunManifest(about), DurableFolder.inside(path / FOLDER, create=True), resumed=False)

    @classmethod
    def opened(cls, path: Path, folder: str = FOLDER) -> RunDirectory:
        """The one that was saved there. SystemFault KMC551 to KMC553 and KMC556, and KMC555 when nothing was.

        With another `folder` it is what `keep` left, to be read.
        """
        files = _opened_folder(path, folder)
        if files is None:
            raise nothing_to_resume(path)
        try:
            # An empty one is what a power failure leaves before anything was saved.
            if not _manifest_bytes(files):
                raise nothing_to_resume(path)
            directory = cls(path, RunManifest({}), files, resumed=True)
        except SystemFault:
            files.close()
            raise
        # Read under the lock: a process that ends now may still write, or have removed it.
        try:
            directory.manifest, directory._level_files = _read_manifest(path, files)
            directory._check_sizes()
        except SystemFault:
            directory.close()
            raise
        directory.clean()
        return directory

    @classmethod
    def adopted(cls, path: Path, manifest: RunManifest) -> RunDirectory:
        """A new one that goes on with a run whose files lie elsewhere: give it a `copy`."""
        directory = cls(path, manifest, DurableFolder.inside(path / FOLDER, create=True), resumed=True)
        text, levels = manifest.as_files()
        directory._write_levels(levels)
        directory._files.write(NAME, text)
        return directory

    @property
    def files(self) -> DurableFolder:
        """The folder of its files, for a search that names them itself; they are swept like all others."""
        return self._files

    def begin(self, digests: Mapping[str, str]) -> None:
        """The search begins: record what is searched, or refuse with SystemFault KMC554 if that is something else now.

        SystemFault KMC550 if the disk has no room for the reserve: better now than after hours.
        """
        self._files.write(_RESERVE, bytes(RESERVE_BYTES))
        if not self.resumed:
            self.manifest = changed(self.manifest, digests=dict(digests))
            # Not on the disk for sure, and need not be: nothing is lost with it.
            self._files.write(NAME, self.manifest.as_bytes())
            return
        refuse_changed(self.path, self.manifest.digests, digests)

    def restart(self) -> None:
        """Remove the levels that were saved, the manifest first, since the search begins again with other rows."""
        if self.copy is not None:
            self.copy.restart()
        self.resumed = False
        # With the digests, so that the run can be resumed before the new search has written its own.
        self.manifest = RunManifest(self.manifest.about, self.manifest.digests, self.manifest.fingerprint_bits)
        self._files.replace(NAME, self.manifest.as_bytes())
        for file in self._written.values():
            file.close()
        self._written, self._level_files = {}, frozenset()
        self.clean()

    def save_translation(self, text: bytes) -> None:
        """Keep the translation that is searched, of a TLA+ module: a resumed run goes on with the same one."""
        self._files.replace(_TRANSLATION, text)

    @property
    def translation(self) -> bytes | None:
        """The translation that was saved, None if there is none or it cannot be read."""
        try:
            return self._files.read(_TRANSLATION)
        except (OSError, SystemFault):
            return None

    @property
    def free_bytes(self) -> int:
        """The number of bytes that the disk of the run has free."""
        return self._files.free_bytes

    def spend_reserve(self) -> None:
        """Give the reserve back to a disk that is full, so that a last save has room."""
        self._files.remove(_RESERVE)

    def _check_sizes(self) -> None:
        ends: dict[str, int] = {}
        for extent in self.manifest.extents:
            ends[extent.file] = max(ends.get(extent.file, 0), extent.place + extent.words)
        for name, words in ends.items():
            with self._read_only(name) as descriptor:
                size = os.fstat(descriptor).st_size
            if size < words * WORD_BYTES:
                raise damaged(self.folder / name, "it is cut off")

    @contextmanager
    def _read_only(self, name: str) -> Iterator[int]:
        """A descriptor of a file that the manifest speaks of; SystemFault KMC551 or KMC556 where there is none."""
        if not is_data_file(name):
            raise damaged(self.folder / name, "it is not a file of a run")
        try:
            descriptor = self._files.open_to_read(name)
        except OSError as error:
            raise unread(self.folder / name, error) from None
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def file(self, name: str) -> DataFile:
        """A file of the run, to be written until the directory is closed."""
        assert is_data_file(name), name
        self._written[name] = DataFile(self._files, name)
        return self._written[name]

    def mapped(self, name: str) -> MappedFile:
        """A file of the run, to be read; SystemFault KMC551 if that fails."""
        path = self.folder / name
        with self._read_only(name) as descriptor:
            try:
                return MappedFile(path, descriptor)
            except (OSError, ValueError) as error:
                raise unread(path, error) from None

    def _write_levels(self, levels: Mapping[str, bytes]) -> None:
        for name in levels.keys() - self._level_files:
            self._files.write(name, levels[name], synced=True)
        self._level_files = frozenset(levels)

    def commit(self, manifest: RunManifest) -> None:
        """Make `manifest`, whose files are on the disk, the manifest of the folder."""
        if not self.manifest.levels:
            # The names of the folders themselves, which nothing else syncs.
            for outer in (self.path, self.path.parent):
                with DurableFolder(outer) as folder:
                    folder.sync()
        if self.copy is not None:
            self.copy.commit(manifest)
        text, levels = manifest.as_files()
        self._write_levels(levels)
        self._files.sync()
        self._files.replace(NAME, text)
        self.manifest = manifest

    def remove(self, name: str) -> None:
        """Remove a file, which nothing writes any more, unless the manifest needs it."""
        self._written.pop(name, None)
        if name not in self.manifest.files:
            self._files.remove(name)

    def clean(self, keep: frozenset[str] = frozenset()) -> None:
        """Remove the files of kmc that neither the manifest nor `keep` needs."""
        self._sweep(self.manifest.files | self._level_files | keep | {NAME, _LOCK, _RESERVE, _TRANSLATION})

    def discard(self) -> None:
        """End the run, and remove all files that kmc made, the manifest first."""
        if self._lock is None:
            return
        if self.copy is not None:
            self.copy.discard()
        self._files.remove(NAME)
        self._sweep(frozenset())
        self._files.remove_folder()
        self._release()

    def keep(self) -> None:
        """End the run, and keep the files of the search in the folder `states`, which nothing changes."""
        if self.copy is not None:
            self.copy.keep()
        self.spend_reserve()
        self._files.sync()
        self._files.rename(KEPT_FOLDER)
        self._release()

    def _sweep(self, kept: frozenset[str]) -> None:
        _sweep(self._files, kept)

    def close(self) -> None:
        """Let other processes have it."""
        if self._lock is not None:
            # A run that is stopped needs no reserve, and what was saved is whole.
            with suppress(SystemFault):
                self.spend_reserve()
            self._release()

    def _release(self) -> None:
        assert self._lock is not None
        os.close(self._lock)
        self._lock = None
        for file in self._written.values():
            file.close()
        self._files.close()


def refuse_changed(path: Path, saved: Mapping[str, str], digests: Mapping[str, str]) -> None:
    """Raise SystemFault KMC554 unless a run was begun with code and a model of these digests."""
    for name, digest in digests.items():
        if saved.get(name) != digest:
            raise SystemFault(
                "KMC554",
                f"the run in {path} cannot go on: {name} changed since it began",
                help="undo the change, take the kmc that began it, or begin a new run",
            )


def _opened_folder(path: Path, folder: str = FOLDER) -> DurableFolder | None:
    """The folder of a run's checkpoint, None if there is none."""
    if not os.path.lexists(path / folder):
        return None
    files = DurableFolder.inside(path / folder, fault=_cannot_read)
    if files.owner not in (os.geteuid(), _ROOT):
        files.close()
        raise foreign(path / folder, "it belongs to another user")
    return files


def _cannot_read(what: str, path: Path, error: OSError) -> SystemFault:
    """The fault of a step on the folder of a run."""
    return unread(path, error)


def _manifest_bytes(files: DurableFolder) -> bytes:
    """The content of the manifest's file; empty if there is none."""
    try:
        return files.read(NAME)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise unread(files.path / NAME, error) from None


def _read_manifest(path: Path, files: DurableFolder) -> tuple[RunManifest, frozenset[str]]:
    """The manifest, and the names of the files of recorded levels that belong to it."""
    names = set[str]()
    data = _manifest_bytes(files)
    if not data:
        raise nothing_to_resume(path)

    def read(name: str) -> bytes:
        names.add(name)
        try:
            return files.read(name)
        except OSError as error:
            raise unread(files.path / name, error) from None

    return parse_manifest(data, files.path / NAME, read), frozenset(names)


def nothing_to_resume(path: Path | str, *, has_ended: bool = False) -> SystemFault:
    """KMC555: no level was saved there, or the run has ended; with `has_ended`, its folder has the result."""
    if has_ended:
        return SystemFault(
            "KMC555", f"the run in {path} has ended", help="its result is in result.json there; begin a new run"
        )
    return SystemFault(
        "KMC555", f"there is no run to resume in {path}", help="see kmc runs: it says which can be resumed"
    )


def saved_manifest(path: Path) -> RunManifest | None:
    """The manifest of a run that can be resumed, without locking it; None if there is none or it is damaged."""
    with suppress(SystemFault):
        if (files := _opened_folder(path)) is not None:
            with files:
                return _read_manifest(path, files)[0]
    return None


def is_locked(path: Path) -> bool:
    """Whether a process works on the run now."""
    with suppress(SystemFault):
        if (files := _opened_folder(path)) is not None:
            with files:
                return files.is_locked(_LOCK)
    return False


def remove_saved(path: Path, folder: str) -> bool:
    """Remove kmc's files in a folder of a run, whole or damaged; False if a process works on it.

    SystemFault KMC550 or KMC556 where that is refused.
    """
    files = _opened_folder(path, folder)
    if files is None:
        return True
    with files:
        lock = files.lock(_LOCK)
        if lock is None:
            return False
        try:
            files.remove(NAME)
            _sweep(files, frozenset())
            files.remove_folder()
        finally:
            os.close(lock)
    return True


def _sweep(files: DurableFolder, kept: frozenset[str]) -> None:
    """Remove the files of kmc that are not `kept`."""
    for name in files.names():
        if name not in kept and (is_data_file(name) or name in _OWN):
            files.remove(name)
