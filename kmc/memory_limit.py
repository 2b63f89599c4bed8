"""A limit of memory: the share that a search may plan with, and the least limit with which it can start.

The limit is for the resident set of the process, whatever its use. So a search stays below the limit by a reserve: for
the memory that its threads allocate before the next measurement, and for a save after the limit has ended the search.
"""

from __future__ import annotations

import math

from kmc.errors import CommandLineError
from kmc.process import give_back_heap, memory_bytes

MEGABYTE = 1024**2
_GIGABYTE = 1024**3

SAVE_SHARE = 64
"""A save holds two buffers, each of at most this part of the table of fingerprints."""

_RESERVE_BYTES = 12 * MEGABYTE
_THREAD_BYTES = 3 * MEGABYTE
_SHARE_LEFT = 1 - 2 / SAVE_SHARE
_SLACK_BYTES = 4 * MEGABYTE
"""The memory by which two processes that do the same may differ."""


def usable_bytes(limit: int, threads: int) -> int:
    """The number of bytes that a search may plan with below a limit."""
    return max(0, int(limit * _SHARE_LEFT) - _reserve(threads))


def limit_for(taken: int, threads: int) -> int:
    """The least limit below which a search may plan with so many bytes."""
    return math.ceil((taken + _reserve(threads)) / _SHARE_LEFT)


def _reserve(threads: int) -> int:
    return _RESERVE_BYTES + threads * _THREAD_BYTES


def refuse_low_limit(limit: int, more_bytes: int, threads: int = 1) -> None:
    """Raise CommandLineError KMC636 if this process is too large now for a search that begins with so many bytes more.

    The limit that the error names is one that suffices, for this process and for another one that comes as far.
    """
    give_back_heap()
    least = limit_for(memory_bytes() + more_bytes, threads)
    if limit < least:
        raise CommandLineError(
            "KMC636",
            f"a limit of {limit // MEGABYTE} MB of memory is too low: this search begins with "
            f"{math.ceil(least / MEGABYTE)} MB",
            help=f"give --memory {size_word(least + _SLACK_BYTES)} or more",
        )


def size_word(count: int) -> str:
    """A size for `--memory` that is not smaller, and easy to type: `350M`, `2.5G`, `11G`."""
    if count <= 950 * MEGABYTE:
        return f"{50 * max(1, math.ceil(count / (50 * MEGABYTE)))}M"
    halves = math.ceil(2 * count / _GIGABYTE)
    return f"{halves / 2:g}G" if halves < 20 else f"{math.ceil(count / _GIGABYTE)}G"
