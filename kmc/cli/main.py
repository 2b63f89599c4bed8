"""The entry point of the installed program. It handles signals from the start, while everything else is imported."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from kmc.errors import ExitStatus

INTERRUPTED = "Interrupted before there was a result."
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""What a job, and a terminal that is closed, tell a command to end with."""


def main() -> NoReturn:
    """Run the command line of this process and exit; see `kmc.cli.program`."""
    _occupy_missing_streams()
    # As Ctrl-C: a command that is told to end does so by itself, with its own words and exit status.
    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    try:
        # Imported here: click and rich take a tenth of a second, a command up to half a second.
        from kmc.cli.program import cli
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
        sys.exit(ExitStatus.INTERRUPTED)
    cli.main()


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _occupy_missing_streams() -> None:
    """Put nothing in the place of a standard stream that is closed: else the next file that is opened takes it."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
