"""A check in a process of its own: its memory and its crashes concern no other check.

Invariant: the process has ended when `check_apart` returns or raises. Ctrl-C reaches it through this one, since it
has a process group of its own: it ends with its counts, unless a second one kills it. On Linux, it also ends when this
process dies.
"""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmc.cli.text.junit import verdict_and_failures

_LAST_LINES = 6
_PR_SET_PDEATHSIG = 1
# Loaded here: between fork and exec nothing may be.
_LIBC = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class ChildCheck:
    """The outcome of a check in a process of its own: exit status, the object of `--json`, the verdict in one line, and
    its output.

    `result` is None if the process died. `text` is the failure, expected or not, with the trace.
    """

    status: int
    result: Mapping[str, Any] | None
    verdict: str
    text: str
    stderr: str

    @property
    def last_lines(self) -> list[str]:
        """The last lines on stderr."""
        return self.stderr.strip().splitlines()[-_LAST_LINES:]


def check_apart(words: Sequence[str]) -> ChildCheck:
    """Run `kmc check` with these words. KeyboardInterrupt once it has ended, if Ctrl-C came meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        status, stdout, stderr = run([*words, "--json", "--quiet", "--junit", str(report)])
        try:
            result = json.loads(stdout)
            verdict, text = verdict_and_failures(report.read_text(encoding="utf-8"))
        # These errors are of JSON and of XML: the process died while it wrote, or before.
        except (OSError, ValueError, SyntaxError):
            died = f"ended with status {status}"
            return ChildCheck(
                status, None, died, "\n".join([died, *stderr.strip().splitlines()[-_LAST_LINES:]]), stderr
            )
        return ChildCheck(status, result, verdict, text, stderr)


def run(words: Sequence[str]) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of `kmc` with these words, in a process of its own."""
    command, pipe = [sys.executable, "-m", "kmc", *words], subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        encoding="utf-8",
        process_group=0,
        preexec_fn=_end_with_the_caller if sys.platform == "linux" else None,
    ) as child:
        try:
            stdout, stderr = child.communicate()
        except KeyboardInterrupt:
            # Not SIGINT, which a process in the background of a shell ignores.
            child.terminate()
            try:
                child.communicate()
            except KeyboardInterrupt:
                child.kill()
            raise
        # No child stays, whatever ends this; the exception is raised again.
        except BaseException:
            child.kill()
            raise
    return child.returncode, stdout, stderr


def _end_with_the_caller() -> None:
    """Let the child get SIGTERM when the process that began it dies; runs in the child, before its program."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
