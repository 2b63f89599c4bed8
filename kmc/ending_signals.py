"""The signals that end a command as Ctrl-C does: with its counts, and with its results saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""The signals by which a job system, or a terminal that is closed, ends a command."""
INTERRUPTED = "Interrupted before there was a result."


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """During the block, SIGTERM acts as Ctrl-C, unless it is ignored: a search ends with its counts and saves them.

    So is SIGHUP.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(signal_number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {signal_number: signal.getsignal(signal_number) for signal_number in ENDING_SIGNALS}
    heard = [signal_number for signal_number in ENDING_SIGNALS if before[signal_number] is not signal.SIG_IGN]
    for signal_number in heard:
        signal.signal(signal_number, interrupt)
    try:
        yield
    finally:
        for signal_number in heard:
            signal.signal(signal_number, before[signal_number])
