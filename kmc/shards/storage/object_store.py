"""The files of a sharded search in a storage: an object store, HDFS, or a directory, through pyarrow.

Invariant: a file is in the storage, whole, before any manifest or task names it. Reads go to a copy in a cache of this
machine, mapped from there; its size is compared here, and its reader compares the checksum.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kmc.engine.files.run_manifest import damaged, unread
from kmc.engine.native.memory import WORD_BYTES, MappedFile, Words
from kmc.shards.files.store import FileWords, Output, is_shard_file, word_bytes
from kmc.shards.storage.file_cache import FileCache, NewCopy
from kmc.shards.storage.remote_folder import PART_BYTES, RemoteFolder, inside


class PyarrowStore:
    """The files in `folder`, through `cache`. `before_removal` is called when it is known which files to remove."""

    def __init__(
        self, folder: RemoteFolder, cache: FileCache, before_removal: Callable[[], None] = lambda: None
    ) -> None:
        self._folder = folder
        self._cache = cache
        self._before_removal = before_removal
        self._locks: dict[str, threading.Lock] = {}

    @contextmanager
    def writing(self, name: str) -> Iterator[Output]:
        """See `ShardStore`; SystemFault KMC550 when the disk of the cache refuses it, KMC570 when the storage does."""
        assert is_shard_file(name), name
        with self._cache.adding(name) as copy:
            yield _CopiedWords(copy)
            self._folder.put(name, lambda: copy.parts(PART_BYTES))

    def read(self, name: str, words: int) -> FileWords:
        """See `ShardStore`; SystemFault KMC570 when the storage does not answer."""
        address = inside(self._folder.address, name)
        if not is_shard_file(name):
            raise damaged(address, "it is not a file of a run")
        size = words * WORD_BYTES
        descriptor = self._cache.opened(name, size)
        if descriptor is None:
            # One thread fetches a file that several wait for.
            with self._locks.setdefault(name, threading.Lock()):
                descriptor = self._cache.opened(name, size)
                if descriptor is None:
                    descriptor = self._fetched(name, size)
            self._locks.pop(name, None)
        try:
            return MappedFile(Path(name), descriptor)
        except (OSError, ValueError) as error:
            raise unread(address, error) from None
        finally:
            os.close(descriptor)

    def _fetched(self, name: str, size: int) -> int:
        """A descriptor of a new copy."""
        address = inside(self._folder.address, name)
        try:
            with self._cache.adding(name) as copy:
                for piece in self._folder.parts(name):
                    copy.write(piece)
                if copy.bytes != size:
                    raise damaged(address, "it has another size than it was written with")
                return os.dup(copy.descriptor)
        except FileNotFoundError:
            raise damaged(address, "it is not there") from None

    def remove(self, names: Iterable[str]) -> None:
        """See `ShardStore`."""
        wanted = list(names)
        if wanted:
            self._before_removal()
            self._cache.remove(wanted)
            self._folder.remove(wanted)

    def names(self) -> list[str]:
        """See `ShardStore`."""
        return [name for name in self._folder.names() if is_shard_file(name)]

    def sync(self, names: Iterable[str]) -> None:
        """See `ShardStore`: a file that was written is as durable as the storage keeps it."""

    def free_bytes(self) -> int | None:
        """See `ShardStore`: a storage does not say."""
        return None


class _CopiedWords:
    def __init__(self, copy: NewCopy) -> None:
        self._copy = copy

    def write(self, words: Words) -> None:
        self._copy.write(word_bytes(words))
