"""Placeholders for constants without a value, so that a spec can be described without a model.

The least values often fail: `Int(1, N)` is empty if N is 0, `N < M` is an assumption. So others are tried, the same
ones every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from kmc.lang.constants import Share

_FIXED = (0.0, 1.0, 0.5)
_DRAWN = 29


def placeholder_shares() -> Iterator[Share]:
    """The position of each constant's placeholder in its domain: first the same for all constants, then drawn for
    each.
    """
    for share in _FIXED:
        yield partial(_same, share)
    for attempt in range(_DRAWN):
        yield partial(_drawn, attempt)


def _same(share: float, name: str) -> float:
    return share


def _drawn(attempt: int, name: str) -> float:
    return Random(f"{attempt} {name}").random()
