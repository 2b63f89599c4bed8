"""Copies of files of a storage in a folder of this machine, which its processes share.

Invariant: a copy is whole when it has its name, and its file never changes, so it is right as long as it exists. A
process that adds a copy removes the least recently used ones if all copies together exceed the limit. A file that is
open or mapped may be removed: it stays until it is closed. The limit is approximate, because processes do not count
each other's files.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kmc.engine.files.durable_folder import step

_UNFINISHED = ".part"
_OFTEN = 8
"""The folder is measured when a part of the limit was added: so many parts."""


class NewCopy:
    """A copy that is being written, or was just written."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self.descriptor = descriptor
        self.bytes = 0

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes; SystemFault KMC550 when the disk refuses it."""
        with step("write", self._path):
            done = 0
            while done < len(data):
                done += os.write(self.descriptor, data[done:])
        self.bytes += len(data)

    def parts(self, size: int) -> Iterator[bytes]:
        """The bytes written so far, in parts of `size`."""
        for offset in range(0, self.bytes, size):
            with step("read", self._path):
                yield os.pread(self.descriptor, size, offset)


def _mark_used(descriptor: int) -> None:
    # Finer than the time that the system itself sets.
    now = time.time_ns()
    with suppress(OSError):
        os.utime(descriptor, ns=(now, now))


class FileCache:
    """The copies in `folder`, which is created; they use about `bytes_max` bytes at most."""

    def __init__(self, folder: Path, bytes_max: int) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._added = 0
        with step("create", folder):
            folder.mkdir(parents=True, exist_ok=True)

    def opened(self, name: str, size: int) -> int | None:
        """A descriptor of a copy that has this size; None if there is none."""
        path = self._folder / name
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            if os.fstat(descriptor).st_size == size:
                _mark_used(descriptor)
                return descriptor
            os.close(descriptor)
        return None

    @contextmanager
    def adding(self, name: str) -> Iterator[NewCopy]:
        """A context in which a copy is written; it has its name when the context ends without an error."""
        path = self._folder / name
        unfinished = self._folder / f"{_UNFINISHED}-{name}-{secrets.token_hex(4)}"
        with step("create", path):
            descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            new = NewCopy(path, descriptor)
            yield new
            _mark_used(descriptor)
            # Another process may have removed it as the oldest.
            with suppress(FileNotFoundError), step("rename", path):
                unfinished.rename(path)
            self._count(new.bytes)
        finally:
            os.close(descriptor)
            with suppress(OSError):
                unfinished.unlink()

    def remove(self, names: Iterable[str]) -> None:
        """Remove copies, if they are there."""
        for name in names:
            with suppress(OSError):
                (self._folder / name).unlink()

    def empty(self) -> None:
        """Remove all copies."""
        self.remove([name for _, _, name in self._copies()])

    def remove_folder(self) -> None:
        """Remove all copies and the folder; nothing can be added afterwards."""
        self.empty()
        with suppress(OSError):
            self._folder.rmdir()

    def _count(self, size: int) -> None:
        self._added += size
        if self._added * _OFTEN < self._bytes_max:
            return
        self._added = 0
        copies = sorted(self._copies())
        total = sum(size for _, size, _ in copies)
        for _, size, name in copies:
            if total <= self._bytes_max:
                break
            self.remove([name])
            total -= size

    def _copies(self) -> Iterator[tuple[int, int, str]]:
        """When each copy was used, its size and its name."""
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_mtime_ns, status.st_size, entry.name
