"""Failpoints: places in the code at which a test lets the process die as by a power cut, to see which files are left.

With `KMC_FAILPOINT="after sync known:2"` in its environment, a process is killed when it comes to that point a second
time; without `:N`, the first time. Without the variable a point costs one lookup in the environment.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

FAILPOINT_VARIABLE = "KMC_FAILPOINT"

_passed: Counter[str] = Counter()


def reach(point: str) -> None:
    """Die here, by a signal that cannot be caught, if the environment says so."""
    wanted = os.environ.get(FAILPOINT_VARIABLE)
    if wanted is None:
        return
    _passed[point] += 1
    if wanted in (point, f"{point}:{_passed[point]}"):
        os.kill(os.getpid(), signal.SIGKILL)
