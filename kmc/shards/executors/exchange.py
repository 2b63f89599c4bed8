"""Entries on their way from tasks to shards by files of the store: one file a task, with a range for each shard.

Invariant: a range that is read is the one that was written, by its seal. The files are needed within a level only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from kmc.engine.native.memory import Words
from kmc.shards.files.range_files import RangeBlock, UnwrittenBlock, read_range, write_blocks
from kmc.shards.files.store import ShardStore, new_name

SENT = "sent"
"""The kind of these files, with which their names begin."""


def write_sent(store: ShardStore, level: int, task: int, outboxes: Sequence[Words]) -> RangeBlock | None:
    """Write the entries for each shard; None if there are none."""
    if not any(map(len, outboxes)):
        return None
    starts = np.array([0, *accumulate(map(len, outboxes))], np.int64)
    block = UnwrittenBlock(task, starts, np.concatenate(outboxes))
    return write_blocks(store, new_name(SENT, level, task), [block])[0]


def read_sent(store: ShardStore, sent: Sequence[RangeBlock | None], shard: int) -> list[Words]:
    """The entries for a shard by task, of tasks 0, 1, ...; SystemFault KMC551 if they differ from what was written."""
    return [
        np.zeros(0, np.int64) if block is None else read_range(store, block, task, shard)
        for task, block in enumerate(sent)
    ]


def names_of(sent: Sequence[RangeBlock | None]) -> Iterator[str]:
    """The names of the files."""
    return (block.name for block in sent if block is not None)
