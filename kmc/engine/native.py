"""The native loops, compiled: once per machine, then read from numba's cache in milliseconds.

Nothing is compiled on import, and each loop only when it is first needed. numba notices a change of a loop's own file
only: whoever changes `intrinsics.py`, `probing.py` or `fields.py` while developing touches `loops.py` too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit

from kmc.engine import loops, probing

Loop = Callable[[int, int], int]
Move = Callable[[int, int, int, int, int, int], int]


def _compiled(function: Callable[..., int], parameters: int) -> Any:
    signature = f"int64({', '.join(['int64'] * parameters)})"
    return njit(signature, cache=True, nogil=True)(function)


@cache
def work_loop() -> Loop:
    """`loops.work`, compiled; it runs without the interpreter lock, as all of these do."""
    loop: Loop = _compiled(loops.work, 2)
    return loop


@cache
def crown_loop() -> Loop:
    """`loops.crown`, compiled."""
    loop: Loop = _compiled(loops.crown, 2)
    return loop


@cache
def seek_loop() -> Loop:
    """`loops.seek`, compiled."""
    loop: Loop = _compiled(loops.seek, 2)
    return loop


@cache
def move_loop(ranked: bool) -> Move:
    """`probing.move` or `probing.move_ranked`, compiled."""
    loop: Move = _compiled(probing.move_ranked if ranked else probing.move, 6)
    return loop
