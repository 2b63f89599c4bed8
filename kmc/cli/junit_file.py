"""The file of a JUnit report."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kmc.engine.files import durable_folder
from kmc.errors import SystemFault


def refuse_unwritable(path: str | None) -> None:
    """Raise SystemFault for a report that cannot be written, before a check that may take hours."""
    if path is None:
        return
    try:
        with Path(path).open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str, error: OSError) -> SystemFault:
    return SystemFault("KMC503", f"cannot write {path}: {error.strerror}", help="give another --junit FILE")


def write_junit(path: str, text: str) -> None:
    """Write a report, and wait until it is on the disk where it is a file."""
    durable_folder.reach("before write junit")
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                durable_folder.reach("before sync junit")
                os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(path, error) from None
    durable_folder.reach("after write junit")
