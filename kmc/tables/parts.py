"""Parts of the states of a run: the content of one file of a table, and the work of one task of any executor.

Invariant: a state has its number for good. States are numbered from 0 on, level by level, and within a level in the
order of its segments, whichever process reads them. The division of a run into parts depends on its segments alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kmc.engine.native.memory import Words
from kmc.errors import InternalError
from kmc.shards.files.frontier_file import FrontierReader, require_answers
from kmc.shards.files.range_files import BlockReader
from kmc.shards.files.store import ShardStore
from kmc.shards.kept_states import KeptStates
from kmc.shards.level.run_state import LevelFiles
from kmc.shards.level.tasks import LevelSource, RowsTask, SegmentRef

_BITS = 64


@dataclass(frozen=True, slots=True)
class LevelPart:
    """Some segments of a level, to be read; its first state has the number `first`."""

    source: LevelSource
    task: RowsTask
    first: int


@dataclass(frozen=True, slots=True)
class TablePart:
    """Some segments of one level, or all of several thin ones. `number` counts parts."""

    number: int
    levels: tuple[LevelPart, ...]


def parts_of(states: KeptStates, rows_max: int) -> Iterator[TablePart]:
    """All states of a run, in parts that are full when they have `rows_max` states or more."""
    number = first = rows = 0
    waiting: list[LevelPart] = []
    for level, count in enumerate(states.levels, 1):
        before = first
        counts, source = accepted_rows(states.store, states.state.levels[level]), states.source(level)
        for task in states.tasks(level, rows_max):
            held = sum(counts[segment] for segment in task.segments)
            waiting.append(LevelPart(source, task, first))
            first += held
            rows += held
            if rows >= rows_max:
                yield TablePart(number, tuple(waiting))
                number, rows, waiting = number + 1, 0, []
        if first - before != count:
            raise InternalError("KMC929", f"level {level} has {first - before:,} rows for its {count:,} states")
    if waiting:
        yield TablePart(number, tuple(waiting))


def accepted_rows(store: ShardStore, files: LevelFiles) -> dict[SegmentRef, int]:
    """The number of rows of each segment of a level that are its states."""
    bits, answered = BlockReader(store, files.bits), [block is not None for block in files.bits]
    accepted = {}
    for file in files.rows:
        reader = FrontierReader(store, file)
        words: list[Words] = []
        for index in range(len(file.segments)):
            segment = reader.segment(index)
            require_answers(segment, file.name, answered)
            words = words or bits.ranges(file.task, -(-segment.sent // _BITS))
            bounds = zip(segment.sent_before.tolist(), segment.sent_until.tolist(), strict=True)
            accepted[SegmentRef(file, index)] = sum(
                _ones(found, low, high) for found, (low, high) in zip(words, bounds, strict=True)
            )
    return accepted


def _ones(words: Words, low: int, high: int) -> int:
    """The number of bits from `low` to `high` that are set."""
    if low == high:
        return 0
    some = words[low >> 6 : (high - 1 >> 6) + 1].view(np.uint64).copy()
    some[0] &= np.uint64((1 << 64) - (1 << (low & 63)))
    some[-1] &= np.uint64((1 << ((high - 1 & 63) + 1)) - 1)
    return int(np.bitwise_count(some).sum())
