"""The store of a sharded search's files: each is written once under a name of its own, then only read or removed.

Invariant: a file is never changed. Its name holds a random part. So the files of a lost, repeated or late attempt of a
task have names that no manifest contains, and are removed at the next save, or when the run is resumed. Whenever a file
is read, its content is checked against its writer's description of it.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np

from kmc.engine.files.durable_folder import DurableFolder, step
from kmc.engine.files.run_manifest import SHARD_FILE, damaged, unread
from kmc.engine.native.memory import WORD_BYTES, MappedFile, Words

_DATA_FILE = re.compile(SHARD_FILE)


def new_name(kind: str, level: int, ordinal: int) -> str:
    """A name that no other file has: of a `kind`, written for task or shard `ordinal` of a level."""
    return f"{kind}-{level}-{ordinal}-{secrets.token_hex(8)}"


def is_shard_file(name: str) -> bool:
    """Whether a sharded search may have a file of this name: never a path that leads out of its folder."""
    return _DATA_FILE.fullmatch(name) is not None


class FileWords(Protocol):
    """All words of a file, to be read at `address` as long as this object lives."""

    address: int
    words: int

    @property
    def array(self) -> Words:
        """The words, as an array that shares them."""


class Output(Protocol):
    """A file that is being written."""

    def write(self, words: Words) -> None:
        """Append words."""


class ShardStore(Protocol):
    """Files by name. Several processes, on several machines, may use one store at the same time."""

    def writing(self, name: str) -> AbstractContextManager[Output]:
        """A context in which a new file is written; it is there when the context ends."""

    def read(self, name: str, words: int) -> FileWords:
        """All of a file that should have so many words; SystemFault KMC551 if it has not."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, if they are there."""

    def names(self) -> list[str]:
        """The names of all files of sharded searches."""

    def sync(self, names: Iterable[str]) -> None:
        """Wait until these files outlive a crash of the machine."""

    def free_bytes(self) -> int | None:
        """The number of bytes that can still be written; None if that is not known."""


# Few words are copied: there may be none, of which there is no view.
_FEW_WORDS = 64


def word_bytes(words: Words) -> bytes | memoryview:
    """The bytes of words, of many without a copy."""
    return np.ascontiguousarray(words).tobytes() if len(words) < _FEW_WORDS else words.data.cast("B")


class _FolderOutput:
    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path

    def write(self, words: Words) -> None:
        data = word_bytes(words)
        with step("write", self._path):
            done = 0
            while done < len(data):
                done += os.write(self._descriptor, data[done:])


class FolderStore:
    """A folder of this machine, or one that all machines see under the same path."""

    def __init__(self, folder: DurableFolder) -> None:
        self._folder = folder

    @contextmanager
    def writing(self, name: str) -> Iterator[Output]:
        """See `ShardStore`; SystemFault KMC550 when the disk refuses it."""
        assert is_shard_file(name), name
        descriptor = self._folder.open(name)
        try:
            yield _FolderOutput(descriptor, self._folder.path / name)
        finally:
            os.close(descriptor)

    def read(self, name: str, words: int) -> FileWords:
        """See `ShardStore`."""
        path = self._folder.path / name
        if not is_shard_file(name):
            raise damaged(path, "it is not a file of a run")
        try:
            descriptor = self._folder.open_to_read(name)
        except OSError as error:
            raise unread(path, error) from None
        try:
            if os.fstat(descriptor).st_size != words * WORD_BYTES:
                raise damaged(path, "it has another size than it was written with")
            return MappedFile(path, descriptor)
        except (OSError, ValueError) as error:
            raise unread(path, error) from None
        finally:
            os.close(descriptor)

    def remove(self, names: Iterable[str]) -> None:
        """See `ShardStore`."""
        for name in names:
            self._folder.remove(name)

    def names(self) -> list[str]:
        """See `ShardStore`."""
        return [name for name in self._folder.names() if is_shard_file(name)]

    def sync(self, names: Iterable[str]) -> None:
        """See `ShardStore`."""
        for name in names:
            descriptor = self._folder.open_to_read(name)
            try:
                with step("sync", self._folder.path / name):
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        self._folder.sync()

    def free_bytes(self) -> int | None:
        """See `ShardStore`."""
        return self._folder.free_bytes
