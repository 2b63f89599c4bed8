"""The start of the installed program: the moment from which a command counts its time, garbage, and idle threads."""

from __future__ import annotations

import gc
import os
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


def keep_blas_alone() -> None:
    """Let numpy's library for linear algebra, which kmc never calls, start no threads, unless the user asks for some.

    It starts one a core when numpy is imported, and each runs idle for a while: a tenth of the CPU time of a small
    check.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
