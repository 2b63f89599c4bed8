"""Running kmc: in this process for searches, in another for what is killed. The only place here that knows kmc."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from click.testing import CliRunner

from kmc.cli.program import cli
from kmc.engine.layout import search_outcome

_ENVIRONMENT = {"COLUMNS": "100", "FORCE_COLOR": None, "NO_COLOR": None, "TTY_COMPATIBLE": None}

INTERRUPTED = 130

HISTORY = "ATTACK_HISTORY_BYTES"
"""The environment variable that says to a process of `python -m attack.kmc_runs` how many bytes of older rows stay."""


@dataclass(frozen=True)
class Run:
    """What a run of kmc said."""

    words: tuple[str, ...]
    status: int
    out: str
    err: str

    @property
    def is_broken(self) -> bool:
        """Whether kmc, and not its user, made a mistake."""
        text = self.out + self.err
        return (
            self.status in (255, 1)
            or self.status < 0
            or "Traceback (most recent call last)" in text
            or "KMC900" in text
        )

    @property
    def result(self) -> dict[str, Any] | None:
        """The object that `--json` prints, or None where there is none."""
        try:
            found = json.loads(self.out)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


@contextmanager
def history_of(size: int | None) -> Iterator[None]:
    """Searches in this block keep so many bytes of the rows of earlier levels; None: as many as ever."""
    if size is None:
        yield
        return
    settings = search_outcome.Settings
    with mock.patch.object(
        search_outcome, "Settings", lambda *a, **named: settings(*a, **{**named, "history_bytes": size})
    ):
        yield


def run_here(*words: str, history: int | None = None) -> Run:
    """Run `kmc` with these words in this process. Raises KeyboardInterrupt if Ctrl-C has ended it."""
    with history_of(history):
        found = CliRunner().invoke(cli, list(words), env=_ENVIRONMENT)
    if found.exit_code == INTERRUPTED:
        raise KeyboardInterrupt
    err = found.stderr
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        err += f"\n{type(found.exception).__name__} left the command: {found.exception}"
        return Run(words, 255, found.stdout, err)
    return Run(words, found.exit_code, found.stdout, err)


MANIFEST = Path("checkpoint", "run.json")
"""Where the manifest lies in the folder of a run that can be resumed."""


def resumable(runs: Path) -> list[Path]:
    """Return the runs in a folder that can be resumed."""
    return sorted(path for path in runs.glob("*") if (path / MANIFEST).exists())


def started(*words: str, folder: Path, history: int | None = None) -> subprocess.Popen[str]:
    """Start `kmc` in a process of its own, as the leader of a group that can be killed."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    environment |= {HISTORY: str(history)} if history is not None else {}
    return subprocess.Popen(
        [sys.executable, "-m", "attack.kmc_runs", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str], words: tuple[str, ...]) -> Run:
    """Wait for a process that was started here."""
    out, err = process.communicate()
    return Run(words, process.returncode, out, err)


def main() -> None:
    """Run the command line of kmc, with the history that the environment asks for."""
    size = os.environ.get(HISTORY)
    with history_of(None if size is None else int(size)):
        from kmc.cli.main import main as command

        sys.exit(command())


if __name__ == "__main__":
    main()
