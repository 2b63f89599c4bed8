"""Ctrl-C, SIGTERM and SIGHUP as requests: the search stops between two batches, where it loses nothing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def calling_on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Meanwhile the first of these signals calls `stop`, and every further one raises KeyboardInterrupt.

    A signal that is ignored stays ignored; outside of the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = False

    def handle(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        stop()

    before = {signum: signal.getsignal(signum) for signum in _SIGNALS}
    replaced = [signum for signum, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    for signum in replaced:
        signal.signal(signum, handle)
    try:
        yield
    finally:
        for signum in replaced:
            signal.signal(signum, before[signum])
