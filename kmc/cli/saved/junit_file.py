"""The file of a JUnit report.

Invariant: a reader finds a whole report, whenever the process dies. It is never one of a run before: a check that
begins puts one there that says so, which stays if the process is killed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from kmc import failpoints
from kmc.errors import SystemFault


def refuse_unwritable(path: str | None) -> None:
    """Raise SystemFault for a report that cannot be written, before a check that may take hours."""
    if path is None:
        return
    if not os.path.isdir(os.path.dirname(path) or "."):
        message = f"cannot write {path}: the folder {os.path.dirname(path)} does not exist"
        raise SystemFault("KMC503", message, help="make the folder, or give another --junit FILE")
    try:
        if _is_written_in_place(Path(path)):
            with Path(path).open("a", encoding="utf-8"):
                pass
        else:
            unfinished = _unfinished(Path(path))
            unfinished.touch()
            unfinished.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


def write_unfinished(path: str, text: str) -> None:
    """Write a report of a check that has not ended, if a whole report can replace it later. That one reports a full
    disk.
    """
    if not _is_written_in_place(Path(path)):
        with suppress(SystemFault):
            write_junit(path, text)


def write_junit(path: str, text: str) -> None:
    """Write a report, and wait until it is on the disk where it is a file."""
    failpoints.reach("before write junit")
    try:
        if _is_written_in_place(Path(path)):
            Path(path).write_text(text, encoding="utf-8")
        else:
            _replace(_real(Path(path)), text)
    except OSError as error:
        raise _unwritable(path, error) from None
    failpoints.reach("after write junit")


def _is_written_in_place(path: Path) -> bool:
    """Whether no other file can take its place: a device, a pipe, or a file in a folder that is not ours to change."""
    return path.exists() and not (path.is_file() and os.access(_real(path).parent, os.W_OK))


def _real(path: Path) -> Path:
    """Follow links; a circle of them ends where it began, and `Path.resolve` has an error for it in old Pythons."""
    return Path(os.path.realpath(path))


def _unfinished(path: Path) -> Path:
    """The path of a report before it has its name, in the same folder; a link is followed."""
    whole = _real(path)
    return whole.with_name(f"{whole.name}.new")


def _replace(path: Path, text: str) -> None:
    unfinished = _unfinished(path)
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            failpoints.reach("before sync junit")
            os.fsync(file.fileno())
        unfinished.replace(path)
        _sync_names(path.parent)
    # Ctrl-C too leaves no half of a report behind.
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def _sync_names(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: str, error: OSError) -> SystemFault:
    return SystemFault("KMC503", f"cannot write {path}: {error.strerror}", help="give another --junit FILE")
