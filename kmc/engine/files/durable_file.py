"""Files that outlive a crash: words at places, syncs, and a file that is replaced whole.

Invariant: a file that `replace` wrote holds the old bytes or the new ones, whenever the process dies. Each step stands
between two failpoints: with `KMC_FAILPOINT="after sync known:2"` in its environment, the process is killed as it comes
there for the second time. So a test can die at every place where a crash could matter.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kmc.engine.layout.control_words import WORD_BYTES
from kmc.errors import SystemFault

FAILPOINT_VARIABLE = "KMC_FAILPOINT"

_passed: Counter[str] = Counter()


def reach(point: str) -> None:
    """Die here, by a signal that nobody can catch, if the environment says so."""
    wanted = os.environ.get(FAILPOINT_VARIABLE)
    if wanted is None:
        return
    _passed[point] += 1
    if wanted in (point, f"{point}:{_passed[point]}"):
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def step(what: str, path: Path) -> Iterator[None]:
    """A step on a file, between its failpoints; SystemFault KMC550 if the system refuses it."""
    kind = path.name.split("-")[0]
    reach(f"before {what} {kind}")
    try:
        yield
    except OSError as error:
        raise SystemFault(
            "KMC550",
            f"cannot save the run: {what} of {path}: {error.strerror or error}",
            help="free space there, or begin elsewhere with --run-dir DIR; what was saved before is whole",
        ) from None
    reach(f"after {what} {kind}")


class DataFile:
    """A file of words that are written once; threads may write at places of their own at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with step("create", path):
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def write(self, address: int, words: int, place: int) -> None:
        """Write `words` words that lie at `address`, from word `place` of the file on."""
        with step("write", self.path):
            data = memoryview((ctypes.c_char * (words * WORD_BYTES)).from_address(address))
            done = 0
            while done < len(data):
                done += os.pwrite(self.descriptor, data[done:], place * WORD_BYTES + done)

    def sync(self) -> None:
        """Wait until everything that was written is on the disk."""
        with step("sync", self.path):
            os.fsync(self.descriptor)

    def close(self) -> None:
        """Give the descriptor back."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def replace(path: Path, data: bytes) -> None:
    """Make `data` the content of a file, on the disk, all of it or nothing."""
    temporary = path.with_name(f"{path.name}.new")
    with step("write", path):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            done = 0
            while done < len(data):
                done += os.write(descriptor, data[done:])
            reach(f"before sync {path.name}")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    with step("rename", path):
        os.replace(temporary, path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    with step("sync", path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    with step("remove", path):
        path.unlink(missing_ok=True)


def lock(path: Path) -> int | None:
    """Lock a file for this process until it ends or the descriptor is closed; None if another one has it."""
    with step("create", path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
