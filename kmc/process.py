"""The resources that this process has used so far, CPU time and memory, and those that it may use."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_PROCESS = psutil.Process()
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_STATUS = Path("/proc/self/status")
_CGROUP_USED = Path("/sys/fs/cgroup/memory.current")


def cpu_seconds() -> float:
    """CPU seconds of this process, user and system."""
    return time.process_time()


def memory_bytes() -> int:
    """Resident memory now, in bytes."""
    return int(_PROCESS.memory_info().rss)


def peak_memory_bytes() -> int:
    """The largest resident memory so far, in bytes."""
    try:
        # The figure of `getrusage` for a process that was just started is at least the memory of its parent.
        return int(_STATUS.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def give_back_heap() -> None:
    """Give free memory of the heap back to the system, if the system's library can: it keeps the memory of
    compiling.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def usable_cpus() -> int:
    """The number of processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def uncollected() -> Iterator[None]:
    """A block whose garbage is collected after it: code that makes a million small objects that live is a tenth
    faster.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def available_bytes() -> int:
    """The available memory, within the limit of a container if there is one."""
    free = int(psutil.virtual_memory().available)
    try:
        limit = int(_CGROUP_LIMIT.read_text()) - int(_CGROUP_USED.read_text())
    except (OSError, ValueError):
        return free
    return max(0, min(free, limit))
