"""The start of the installed program: the moment from which a command counts its time, and the collector of garbage."""

from __future__ import annotations

import gc
import time

_started: float | None = None


def mark_start() -> None:
    """Keep the present moment as the start of the program."""
    global _started
    _started = time.monotonic()


def program_start() -> float | None:
    """Return when the program started, by a clock that only rises; None if its commands are called by other code."""
    return _started


def collect_garbage_seldom() -> None:
    """Let Python search for garbage after 50,000 new objects instead of 700.

    Almost all objects that kmc makes live long (modules, syntax trees, states) or end without the collector. Its
    default searches take a tenth of the CPU time of a command.
    """
    gc.set_threshold(50_000, 20, 20)
