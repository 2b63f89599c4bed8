"""A run whose files lie in a storage: the process that owns it, and the manifest that counts.

    RUN/data/       the files of the search
    RUN/control/    owner-EPOCH-TOKEN       a process that took the run over: it owns the run until a greater epoch
                    manifest-EPOCH-LEVELS   the last one by epoch and level counts; an owner that saves a level once
                                            more adds a number: manifest-EPOCH-LEVELS-1
                    level-DEPTH-HASH        a recorded level of a manifest, for temporal properties
                    ended                   there is nothing to resume; it says whether the files are kept

Invariants: none of these files ever gets another content; the name of a level has the hash of its content. A manifest
is written when its files are there. Then older manifests are removed, and then the files that only they need. So the
manifest that counts names files that are there, whenever a process dies.

A process removes files only if it still owns the run after it has listed them. Every file that existed before a
successor came is either in the manifest that the successor took over, or the successor does not need it. A save by a
former owner that comes too late has an old epoch, and does not count.

Two processes that take a run over at the same moment may refuse each other. All this needs lists that show files
written before, as those of S3, Google Cloud Storage, Azure and HDFS do.
"""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kmc.engine.files.run_directory import RunDirectory, nothing_to_resume
from kmc.engine.files.run_manifest import RunManifest, damaged, is_level_file, parse_manifest
from kmc.errors import SystemFault
from kmc.shards.files.store import FolderStore, ShardStore, is_shard_file
from kmc.shards.storage.file_cache import FileCache
from kmc.shards.storage.object_store import PyarrowStore
from kmc.shards.storage.remote_folder import RemoteFolder, inside
from kmc.shards.storage.storage_faults import lists_that_lag
from kmc.shards.storage.store_place import CACHE_BYTES, StorePlace

_CONTROL, _DATA = "control", "data"
_ENDED = "ended"
_KEPT, _REMOVED = b"kept", b"removed"
_OWNER = re.compile(r"owner-(?P<epoch>[0-9]{6})-(?P<token>[0-9a-f]{16})")
_MANIFEST = re.compile(r"manifest-(?P<epoch>[0-9]{6})-(?P<levels>[0-9]{9})(-[0-9]{6})?")


@dataclass(frozen=True, slots=True, order=True)
class _Owner:
    epoch: int
    token: str

    @property
    def name(self) -> str:
        return f"owner-{self.epoch:06}-{self.token}"


class StoredRun:
    """A run in a storage, for readers."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.control = RemoteFolder(inside(address, _CONTROL))

    @property
    def ended(self) -> bool:
        """Whether there is nothing to resume."""
        return _ENDED in self.control.names()

    @property
    def is_removed(self) -> bool:
        """Return whether the run has ended, and a process has removed its files or begun to."""
        return self.ended and self.control.read(_ENDED) == _REMOVED

    def manifest(self) -> RunManifest | None:
        """The manifest that counts, None if no level was saved; SystemFault KMC551 if none is whole."""
        names = [name for name in self.control.names() if _MANIFEST.fullmatch(name)]
        fault = None
        # One that was cut off when its writer died is the last, and the one before is still there, with its files.
        for name in reversed(names):
            try:
                place = inside(self.control.address, name)
                return parse_manifest(self.control.read(name), place, self._read_level)
            except SystemFault as error:
                if error.code != "KMC551":
                    raise
                fault = fault or error
            except FileNotFoundError:
                continue
        if fault is not None:
            raise fault
        return None

    def _read_level(self, name: str) -> bytes:
        try:
            return self.control.read(name)
        except FileNotFoundError:
            raise damaged(inside(self.control.address, name), "it is not there") from None

    def files(self) -> RemoteFolder:
        """The folder of the files of the search."""
        return RemoteFolder(inside(self.address, _DATA))

    @property
    def levels(self) -> int | None:
        """The number of levels of the run; None if it cannot be resumed."""
        with suppress(SystemFault):
            manifest = None if self.ended else self.manifest()
            return None if manifest is None else manifest.levels
        return None

    def read(self, name: str) -> bytes | None:
        """A file of the result, None if there is none."""
        with suppress(FileNotFoundError):
            return RemoteFolder(self.address).read(name)
        return None


class RunInStorage(StoredRun):
    """The run at an address, which this process owns; `cache` is a folder for copies. See `RunDirectory.copy`."""

    def __init__(self, address: str, cache: Path, cache_bytes: int = CACHE_BYTES) -> None:
        super().__init__(address)
        self._files = self.files()
        self._saves: Counter[int] = Counter()
        self._level_files: frozenset[str] = frozenset()
        self._owner = self._take()
        self._cache = FileCache(cache, cache_bytes)
        # A copy that this disk damaged would be found again and again.
        self._cache.empty()
        self.place = StorePlace(str(cache.resolve()), self._files.address, cache_bytes)
        self.store = PyarrowStore(self._files, self._cache, self.require_owned)

    def _take(self) -> _Owner:
        """Become the owner, whether or not the run has one."""
        epoch = max((owner.epoch for owner in _owners_in(self.control.names())), default=0) + 1
        mine = _Owner(epoch, secrets.token_hex(8))
        about = {"host": platform.node(), "process": os.getpid()}
        self.control.write(mine.name, json.dumps(about).encode())
        others = [owner for owner in _owners_in(self.control.names()) if owner.epoch >= epoch and owner != mine]
        if others:
            self.control.remove([mine.name])
            raise self._taken_over(max(others))
        return mine

    def require_owned(self) -> None:
        """Raise SystemFault KMC571 if another process owns the run, or it is gone."""
        self._require_owned_by(self.control.names())

    def _require_owned_by(self, names: Iterable[str]) -> None:
        last = max(_owners_in(names), default=None)
        if last is None or last.epoch < self._owner.epoch:
            raise SystemFault(
                "KMC571",
                f"this process lost the run in {self.address}: somebody removed what says that it owns it",
                help="resume the run if it is still there, or begin it anew",
            )
        if last != self._owner:
            raise self._taken_over(last)

    def _taken_over(self, owner: _Owner) -> SystemFault:
        who = "another process has taken it over"
        with suppress(ValueError, KeyError, FileNotFoundError):
            about = json.loads(self.control.read(owner.name))
            who = f"process {about['process']} of {about['host']} has taken it over"
        return SystemFault(
            "KMC571",
            f"this process lost the run in {self.address}: {who}",
            help="the run is whole: let the other process go on, or stop it and resume the run",
        )

    def resumed(self) -> RunManifest | None:
        """The manifest that counts now, which becomes this owner's; files that it does not need are removed.

        If one of its files is missing, nothing is changed before the search has saved a level: the list may show less
        than there is, and another manifest may count. SystemFault KMC555 if the run has ended.
        """
        if self.ended:
            if self.is_removed:
                self.discard()
            else:
                self.leave()
            raise nothing_to_resume(self.address)
        manifest = self.manifest()
        needed = manifest.files if manifest is not None else frozenset()
        names = self.store.names()
        if needed <= set(names):
            if manifest is not None:
                self.commit(manifest)
            self.store.remove(name for name in names if name not in needed)
        return manifest

    def require_new(self) -> None:
        """Raise SystemFault KMC576, and own the run no longer, if something lay at its address before."""
        others = [name for name in self.control.names() if name != self._owner.name]
        if others or self._files.names():
            self.leave()
            raise SystemFault(
                "KMC576",
                f"another run lies in {self.address}",
                help="begin again: two runs began in the same second, and the next one has another name",
            )

    def leave(self) -> None:
        """Own the run no longer."""
        self.control.remove([self._owner.name])

    def commit(self, manifest: RunManifest) -> None:
        """See `ManifestCopy`; SystemFault KMC571 if another process owns the run, which then goes on without this."""
        name = self._new_name(manifest.levels)
        text, levels = manifest.as_files()
        # Those of another owner may be cut off.
        for each in levels.keys() - self._level_files:
            self.control.write(each, levels[each])
        self._level_files = frozenset(levels)
        self.control.write(name, text)
        known = self.control.names()
        self._require_owned_by(known)
        if name not in known:
            raise lists_that_lag(self.control.address, name)
        self.control.remove(each for each in known if self._is_past(each, name))

    def _new_name(self, levels: int) -> str:
        name = f"manifest-{self._owner.epoch:06}-{levels:09}"
        again = self._saves[levels]
        self._saves[levels] += 1
        return f"{name}-{again:06}" if again else name

    def _is_past(self, name: str, manifest: str) -> bool:
        is_manifest, is_owner = _MANIFEST.fullmatch(name), _OWNER.fullmatch(name)
        return (is_manifest is not None and name < manifest) or (is_owner is not None and name < self._owner.name)

    def restart(self) -> None:
        """See `ManifestCopy`. Files of the new search have other names, so that no cache confuses them."""
        self.require_owned()
        control = self.control.names()
        self.control.remove(name for name in control if _MANIFEST.fullmatch(name))
        self.control.remove(filter(is_level_file, control))
        self._level_files = frozenset()
        self.store.remove(self.store.names())

    def publish(self, files: Mapping[str, str]) -> None:
        """See `ManifestCopy`."""
        self.require_owned()
        folder = RemoteFolder(self.address)
        for name, text in files.items():
            folder.write(name, text.encode())

    def keep(self) -> None:
        """See `ManifestCopy`."""
        self.require_owned()
        self.control.write(_ENDED, _KEPT)
        self._cache.remove_folder()

    def discard(self) -> None:
        """See `ManifestCopy`."""
        self.require_owned()
        self.control.write(_ENDED, _REMOVED)
        _remove_all(self._files, is_shard_file)
        control = self.control.names()
        self.control.remove(name for name in control if _OWNER.fullmatch(name) or _MANIFEST.fullmatch(name))
        self.control.remove(filter(is_level_file, control))
        _remove_all(self.control, lambda name: name == _ENDED)
        outer = RemoteFolder(self.address)
        if not outer.names() and not outer.folders():
            outer.remove_folder()
        self._cache.remove_folder()


def _owners_in(names: Iterable[str]) -> list[_Owner]:
    matches = (_OWNER.fullmatch(name) for name in names)
    return [_Owner(int(match["epoch"]), match["token"]) for match in matches if match]


def _remove_all(folder: RemoteFolder, is_ours: Callable[[str], bool]) -> None:
    """Remove kmc's files in a folder, and the folder if nothing else lies in it."""
    names = folder.names()
    if all(map(is_ours, names)) and not folder.folders():
        folder.remove_folder()
    else:
        folder.remove(filter(is_ours, names))


def store_of(directory: RunDirectory) -> ShardStore:
    """The store of a run's files, for the process that works on the run."""
    copy = directory.copy
    return copy.store if isinstance(copy, RunInStorage) else FolderStore(directory.files)


def place_of(directory: RunDirectory) -> StorePlace:
    """The place of a run's files, for other processes of this machine."""
    copy = directory.copy
    return copy.place if isinstance(copy, RunInStorage) else StorePlace.at(directory.folder)
