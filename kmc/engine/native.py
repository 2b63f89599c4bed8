"""The native loops, compiled: once per machine, then read from numba's cache in milliseconds.

Nothing is compiled on import, and each loop only when it is first needed. numba notices a change of a loop's own file
only, and a loop holds code and numbers of several: so its cache lies in a folder named by a digest of all files here.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit

from kmc.engine import loops, probing, probing_wide, storing
from kmc.kernels.cache import KernelCache

Loop = Callable[[int, int], int]


def _compiled(function: Loop) -> Any:
    chosen = vars(config)["CACHE_DIR"]
    vars(config)["CACHE_DIR"] = _cache_folder(chosen)
    try:
        return njit("int64(int64, int64)", cache=True, nogil=True)(function)
    finally:
        vars(config)["CACHE_DIR"] = chosen


def _cache_folder(chosen: str) -> str:
    """Where these very loops are kept: below NUMBA_CACHE_DIR, or else beside the kernels; "" leaves it to numba."""
    kernels = KernelCache.of_environment().folder
    if chosen:
        folder = Path(chosen)
    elif kernels is not None:
        folder = kernels.parent / "loops"
    else:
        return ""
    return str(folder / digest_of(Path(__file__).parent))


@cache
def digest_of(folder: Path) -> str:
    """A short digest of the Python files of a folder: their names and what stands in them."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.py")):
        digest.update(f"{file.name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def yield_address() -> int:
    """Where the system call lies that lets another thread run."""
    return ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0


@cache
def work_loop() -> Loop:
    """`loops.work`, compiled; it runs without the interpreter lock, as all of these do."""
    loop: Loop = _compiled(loops.work)
    return loop


@cache
def crown_loop() -> Loop:
    """`loops.crown`, compiled."""
    loop: Loop = _compiled(loops.crown)
    return loop


@cache
def seek_loop() -> Loop:
    """`loops.seek`, compiled."""
    loop: Loop = _compiled(loops.seek)
    return loop


@cache
def move_loop(ranked: bool, wide: bool) -> Loop:
    """`probing.move` or its like for ranks or for fingerprints of two words, compiled."""
    if wide:
        loop: Loop = _compiled(probing_wide.move_ranked_wide if ranked else probing_wide.move_wide)
    else:
        loop = _compiled(probing.move_ranked if ranked else probing.move)
    return loop


@cache
def settle_loop(ranked: bool, wide: bool) -> Loop:
    """`probing.settle` or its like for ranks or for fingerprints of two words, compiled."""
    if wide:
        loop: Loop = _compiled(probing_wide.settle_ranked_wide if ranked else probing_wide.settle_wide)
    else:
        loop = _compiled(probing.settle_ranked if ranked else probing.settle)
    return loop


@cache
def storing_loop(name: str) -> Loop:
    """A loop of `storing` by name, compiled."""
    loop: Loop = _compiled(getattr(storing, name))
    return loop
