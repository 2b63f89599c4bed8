"""The entry point of the installed program. It handles signals from the start, while everything else is imported."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from kmc.cli.running.program_start import collect_garbage_seldom, keep_blas_alone, mark_start
from kmc.ending_signals import ENDING_SIGNALS, INTERRUPTED
from kmc.errors import ExitStatus


def main() -> NoReturn:
    """Run the command line of this process and exit; see `kmc.cli.program`."""
    mark_start()
    collect_garbage_seldom()
    keep_blas_alone()
    _occupy_missing_streams()
    # As Ctrl-C: a command that gets such a signal ends by itself, with its own words and exit status.
    for signum in ENDING_SIGNALS:
        if signal.getsignal(signum) is signal.SIG_DFL:
            signal.signal(signum, _interrupt)
    try:
        # Imported here: click and rich take a tenth of a second, a command up to half a second.
        from kmc.process import uncollected

        with uncollected():
            from kmc.cli.program import cli
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
        sys.exit(ExitStatus.INTERRUPTED)
    cli.main()


def _interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _occupy_missing_streams() -> None:
    """Open the null device in the place of a standard stream that is closed: else the next file would get its
    descriptor.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
