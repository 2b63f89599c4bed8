"""Crashes for tests of saved runs: at a chosen step, and what a disk holds after one.

A process that dies leaves its files as it wrote them. A machine that dies leaves what was synced: of each file the
content at its last sync, and in the folder the names at its last sync, or newer ones. `Disk` watches syncs and gives
all three.
"""

from __future__ import annotations

import os
import shutil
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


class Crash(BaseException):
    """The process dies here; not an Exception, so that nothing on the way handles it."""


class Disk:
    """Watches the steps and syncs in `folder`; the step with number `last` raises Crash."""

    def __init__(self, folder: Path, last: int | None = None) -> None:
        self.folder = folder
        self.points: list[str] = []
        self._last = last
        self._contents: dict[int, bytes] = {}
        self._names: dict[str, int] = {}

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Watch until the patch ends."""
        patch.setattr(failpoints, "reach", self.reach)
        patch.setattr(os, "fsync", self.sync)

    def reach(self, point: str) -> None:
        """A step begins or has ended."""
        self.points.append(point)
        if len(self.points) == self._last:
            raise Crash(point)

    def sync(self, descriptor: int) -> None:
        """A file or the folder is synced."""
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path == self.folder:
            self._names = self._present()
        elif path.is_file():
            self._contents[path.stat().st_ino] = path.read_bytes()

    def _present(self) -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in self.folder.iterdir()}

    def after_kill(self, target: Path) -> None:
        """What another process finds."""
        shutil.copytree(self.folder, target)

    def after_power_loss(self, target: Path, *, names_kept: bool) -> None:
        """What the machine finds when it comes back; with `names_kept` the names had reached the disk by themselves."""
        target.mkdir(parents=True)
        for name, inode in (self._present() if names_kept else self._names).items():
            (target / name).write_bytes(self._contents.get(inode, b""))


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
        os.environ[FAILPOINT_VARIABLE] = point

    return patch
