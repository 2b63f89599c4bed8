"""A folder held open, and its files by name: written so that they outlive a crash, and never through a link.

Invariants: a file that `replace` wrote holds the old bytes or the new ones, whenever the process dies. Nothing outside
the folder is read, written or removed, whatever lies under a name: files are found from the folder's descriptor, which
stays the same when somebody moves the folder, and are opened without following symbolic links.

Each step lies between two failpoints: with `KMC_FAILPOINT="after sync known:2"` in its environment, the process is
killed when it reaches that failpoint for the second time. So a test can kill the process at every point where a crash
could matter.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from kmc import failpoints
from kmc.errors import SystemFault

# Without a wait for the other end of a FIFO.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE_MODE = 0o644

_LINK = "it is a symbolic link"
_NOT_REGULAR = "it is not a regular file"


def cannot_save(what: str, path: Path, error: OSError) -> SystemFault:
    """KMC550: the system refuses a step on a file of a run."""
    return SystemFault(
        "KMC550",
        f"cannot save the run: {what} of {path}: {error.strerror or error}",
        help="free space there, or begin elsewhere with --run-dir DIR; what was saved before is whole",
    )


def is_unsaved(fault: SystemFault) -> bool:
    """Return whether the disk refused a step on a file of a run, as a full one does."""
    return fault.code == "KMC550"


def foreign(path: Path, why: str) -> SystemFault:
    """KMC556: something lies where a file of a run belongs that kmc did not put there."""
    return SystemFault(
        "KMC556",
        f"{path} is not what kmc wrote: {why}",
        help="kmc neither reads nor writes it: put the original back, or begin a new run",
    )


Fault = Callable[[str, Path, OSError], SystemFault]


@contextmanager
def step(what: str, path: Path, fault: Fault = cannot_save) -> Iterator[None]:
    """A step on a file, between its failpoints; `fault` (KMC550) if the system refuses it, KMC556 at a link."""
    kind = path.name.split("-")[0]
    failpoints.reach(f"before {what} {kind}")
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise foreign(path, _LINK) from None
        raise fault(what, path, error) from None
    failpoints.reach(f"after {what} {kind}")


class DurableFolder:
    """The folder `path`; symbolic links on the way there are the caller's wish, and are followed now and not again."""

    def __init__(self, path: Path, fault: Fault = cannot_save) -> None:
        self.path = path
        self._fault = fault
        with step("open", path, fault):
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    @classmethod
    def inside(cls, path: Path, *, create: bool = False, fault: Fault = cannot_save) -> Self:
        """The folder `path`, which must not be a link itself, made if it is not there and `create` says so.

        `fault` makes the error if the system cannot open the folder; files in it are opened for writing, so a later
        fault is KMC550.
        """
        with cls(path.parent, fault) as outer:
            return outer._folder(path.name, create=create)

    def _folder(self, name: str, *, create: bool) -> Self:
        path = self.path / name
        with step("create" if create else "open", path, self._fault):
            if create:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=self._descriptor)
            flags = os.O_RDONLY | os.O_DIRECTORY | _SAFELY
            try:
                descriptor = os.open(name, flags, dir_fd=self._descriptor)
            except NotADirectoryError:
                raise foreign(path, "it is not a folder") from None
        folder = object.__new__(type(self))
        folder.path, folder._fault, folder._descriptor = path, cannot_save, descriptor
        return folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def owner(self) -> int:
        """The user that the folder belongs to."""
        return os.fstat(self._descriptor).st_uid

    def names(self) -> list[str]:
        """The names of the folder's files, sorted."""
        return sorted(os.listdir(self._descriptor))

    def is_file(self, name: str) -> bool:
        """Whether a regular file lies under this name: not a link to one."""
        try:
            status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode)

    def open(self, name: str) -> int:
        """A descriptor to read and write a file, which is made if it is not there."""
        with step("create", self.path / name, self._fault):
            return self._opened(name, os.O_RDWR | os.O_CREAT)

    @property
    def free_bytes(self) -> int:
        """The number of bytes that its disk has free."""
        status = os.fstatvfs(self._descriptor)
        return status.f_bavail * status.f_frsize

    def open_to_read(self, name: str) -> int:
        """A descriptor to read a file; OSError if there is none, KMC556 if it is not a file."""
        try:
            return self._opened(name, os.O_RDONLY)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise foreign(self.path / name, _LINK) from None
            if error.errno == errno.ENXIO:
                raise foreign(self.path / name, _NOT_REGULAR) from None
            raise

    def read(self, name: str) -> bytes:
        """The bytes of a file; OSError if there is none, KMC556 if it is not a file."""
        with open(self.open_to_read(name), "rb") as file:
            return file.read()

    def _opened(self, name: str, flags: int) -> int:
        descriptor = os.open(name, flags | _SAFELY, _FILE_MODE, dir_fd=self._descriptor)
        status = os.fstat(descriptor)
        why = None
        if not stat.S_ISREG(status.st_mode):
            why = _NOT_REGULAR
        elif status.st_nlink > 1 and flags & os.O_ACCMODE != os.O_RDONLY:
            why = "the file has another name, elsewhere (a hard link)"
        if why is not None:
            os.close(descriptor)
            raise foreign(self.path / name, why)
        return descriptor

    def write(self, name: str, data: bytes, *, synced: bool = False) -> None:
        """Make `data` the content of a file. With `synced` it is on the disk on return, else some time later."""
        with step("create", self.path / name, self._fault):
            descriptor = self._opened(name, os.O_WRONLY | os.O_CREAT)
            try:
                os.ftruncate(descriptor, 0)
                _write_all(descriptor, data)
                if synced:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def replace(self, name: str, data: bytes) -> None:
        """Make `data` the content of a file, on the disk, all of it or nothing."""
        path, temporary = self.path / name, f"{name}.new"
        self._refuse_foreign(name)
        self._refuse_foreign(temporary)
        with step("write", path, self._fault):
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=self._descriptor)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            descriptor = self._opened(temporary, flags)
            try:
                _write_all(descriptor, data)
                failpoints.reach(f"before sync {name}")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        with step("rename", path, self._fault):
            os.replace(temporary, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        self.sync()

    def _refuse_foreign(self, name: str) -> None:
        """A rename would put a file into the place of what lies there; it does not follow it, but it is not ours."""
        try:
            status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except OSError:
            return
        if not stat.S_ISREG(status.st_mode):
            is_link = stat.S_ISLNK(status.st_mode)
            raise foreign(self.path / name, _LINK if is_link else _NOT_REGULAR)

    def sync(self) -> None:
        """Wait until the names in the folder are on the disk."""
        with step("sync", self.path, self._fault):
            os.fsync(self._descriptor)

    def remove(self, name: str) -> None:
        """Remove a regular file, if it is there."""
        with step("remove", self.path / name, self._fault):
            if self.is_file(name):
                os.unlink(name, dir_fd=self._descriptor)

    def rename(self, name: str) -> None:
        """Give the folder itself another name beside the one it has, on the disk."""
        with step("rename", self.path, self._fault):
            os.rename(self.path, self.path.with_name(name))
        self.path = self.path.with_name(name)
        with DurableFolder(self.path.parent, self._fault) as outer:
            outer.sync()

    def remove_folder(self) -> None:
        """Remove the folder itself if it is empty and still lies under its path; a stranger's files keep it there."""
        name = self.path.name
        with suppress(OSError):
            outer = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                there = os.stat(name, dir_fd=outer, follow_symlinks=False)
                if os.path.samestat(there, os.fstat(self._descriptor)):
                    os.rmdir(name, dir_fd=outer)
            finally:
                os.close(outer)

    def lock(self, name: str) -> int | None:
        """Lock a file for this process until it ends or the descriptor is closed; None if another one has it."""
        descriptor = self.open(name)
        if not _is_locked_by(descriptor, fcntl.LOCK_EX):
            os.close(descriptor)
            return None
        return descriptor

    def hold(self, *, alone: bool) -> bool:
        """Lock the folder itself until this object is closed, shared or `alone`; False if that is refused now."""
        return _is_locked_by(self._descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)

    def is_locked(self, name: str) -> bool:
        """Whether another process holds the lock; nothing is written."""
        try:
            descriptor = self.open_to_read(name)
        except (OSError, SystemFault):
            return False
        try:
            return not _is_locked_by(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)


def _is_locked_by(descriptor: int, kind: int) -> bool:
    """Try to lock a file in a way, without waiting."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _write_all(descriptor: int, data: bytes) -> None:
    done = 0
    while done < len(data):
        done += os.write(descriptor, data[done:])
