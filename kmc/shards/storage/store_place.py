"""The place of a sharded search's files, as plain data that travels: a folder, or a storage and a cache."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kmc.engine.files.durable_folder import DurableFolder
from kmc.shards.files.store import FolderStore, ShardStore
from kmc.shards.storage.file_cache import FileCache
from kmc.shards.storage.object_store import PyarrowStore
from kmc.shards.storage.remote_folder import RemoteFolder

CACHE_BYTES = 10 << 30
"""The default size of the cache that a machine keeps of the files in a storage, in bytes."""

_OF_EXECUTOR = "SPARK_LOCAL_DIRS"
"""Folders of a Spark executor, which Spark removes with it; its Python workers have this variable."""


@dataclass(frozen=True, slots=True)
class StorePlace:
    """`folder` has the files; with the address `storage`, it only caches them, and "" means a folder of the host's
    choice.
    """

    folder: str
    storage: str | None = None
    cache_bytes: int = CACHE_BYTES

    @classmethod
    def at(cls, folder: Path) -> StorePlace:
        """A folder."""
        return cls(str(folder.resolve()))

    @property
    def elsewhere(self) -> StorePlace:
        """The place for processes of other machines: copies of files lie in a folder of each."""
        return self if self.storage is None else replace(self, folder="")

    @contextmanager
    def opened(self) -> Iterator[ShardStore]:
        """The store during a block."""
        if self.storage is not None:
            yield self.store()
            return
        with DurableFolder(Path(self.folder)) as folder:
            yield FolderStore(folder)

    def store(self) -> ShardStore:
        """The store for the rest of this process."""
        if self.storage is None:
            return FolderStore(DurableFolder(Path(self.folder)))
        cache = FileCache(Path(self.folder) if self.folder else _folder_here(), self.cache_bytes)
        return PyarrowStore(RemoteFolder(self.storage), cache)

    def __str__(self) -> str:
        return self.storage or self.folder


def _folder_here() -> Path:
    """A folder for copies that ends with the executor, or with this process where there is none."""
    of_executor = os.environ.get(_OF_EXECUTOR, "").split(",")[0]
    if of_executor:
        return Path(of_executor) / "kmc"
    made = Path(tempfile.mkdtemp(prefix="kmc-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made
