"""Crashes for tests of saved runs: at a chosen step, and what a disk holds after one.

A process that dies leaves its files as it wrote them. A machine that dies leaves what was synced: of each file the
content at its last sync, and in the folder the names at its last sync, or newer ones. `Disk` watches syncs and gives
all three, at every step of one run.
"""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from kmc import failpoints
from kmc.cli.program import cli
from kmc.failpoints import FAILPOINT_VARIABLE

KILLED = -signal.SIGKILL


Files = dict[str, bytes | None]
"""What lies below a folder, by its path there: the content of a file, None for a folder."""


def files_below(folder: Path) -> Files:
    """Read all files below a folder: a process that is killed now leaves them."""
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")}


def write_files(files: Files, folder: Path) -> None:
    """Write them into a new folder."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class Disk:
    """Watches the steps and syncs in `folder`, and calls `watch` at each step."""

    def __init__(self, folder: Path, watch: Callable[[], None] = lambda: None) -> None:
        self.folder = folder
        self.points: list[str] = []
        self._watch = watch
        self._contents: dict[int, bytes] = {}
        self._names: dict[str, int] = {}

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Watch until the patch ends."""
        patch.setattr(failpoints, "reach", self.reach)
        patch.setattr(os, "fsync", self.sync)

    def reach(self, point: str) -> None:
        """A step begins or has ended."""
        self.points.append(point)
        self._watch()

    def sync(self, descriptor: int) -> None:
        """A file or the folder is synced."""
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path == self.folder:
            self._names = self._present()
        elif path.is_file():
            self._contents[path.stat().st_ino] = path.read_bytes()

    def _present(self) -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in self.folder.iterdir()}

    def after_kill(self) -> Files:
        """What another process finds if this one dies now."""
        return files_below(self.folder)

    def after_power_loss(self, *, names_kept: bool) -> Files:
        """What the machine finds when it comes back; with `names_kept` the names had reached the disk by themselves."""
        names = self._present() if names_kept else self._names
        return {name: self._contents.get(inode, b"") for name, inode in names.items()}


def in_child(patch: Callable[[], None], *words: str) -> int:
    """The status of `kmc` with these words in a child of this process, which has all loaded; < 0 for a signal."""
    with warnings.catch_warnings():
        # The thread that pytest-xdist has beside this one holds nothing that the child uses.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 99
        try:
            patch()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            cli.main(list(words))
        except SystemExit as ended:
            status = int(ended.code or 0)
        except BaseException:  # a forked child: nothing may go back into pytest
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def dying_at(point: str) -> Callable[[], None]:
    """What makes a child die at a failpoint."""

    def patch() -> None:
        failpoints._passed.clear()  # points that another test passed in this process
        os.environ[FAILPOINT_VARIABLE] = point

    return patch
