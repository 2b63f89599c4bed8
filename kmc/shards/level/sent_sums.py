"""Sums that compare what tasks have sent with what shards have received, without a number for each pair of them.

Each entry counts with a weight of its task and its shard, so sums that are equal mean, except with odds of 2^-64, that
every shard received from every task as many entries as that task sent it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmc.engine.native.memory import Words

_SHARDS_BITS = 16
_SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)
_STIR = np.uint64(0xBF58_476D_1CE4_E5B9)
_HALF = np.uint64(32)


def sent_sum(counts: Words, task: int) -> int:
    """The sum of the entries that a task sent to each shard."""
    return _sum(counts, (task << _SHARDS_BITS) + np.arange(len(counts)))


def received_sum(counts: Words, shard: int) -> int:
    """The sum of the entries that a shard received from each task."""
    return _sum(counts, (np.arange(len(counts)) << _SHARDS_BITS) + shard)


def _sum(counts: Words, pairs: NDArray[np.int64]) -> int:
    weights = (pairs.astype(np.uint64) + np.uint64(1)) * _SPREAD
    weights = (weights ^ weights >> _HALF) * _STIR
    return int((counts.astype(np.uint64) * (weights ^ weights >> _HALF)).sum(dtype=np.uint64))
