"""The start of the installed program, from which the progress of a command counts its time."""

from __future__ import annotations

import time

_started: float | None = None


def mark_start() -> None:
    """Keep the present moment as the start of the program."""
    global _started
    _started = time.monotonic()


def program_start() -> float | None:
    """Return when the program started, by a clock that only rises; None if its commands are called by other code."""
    return _started
