"""The answers of tasks and shards that never ran, with the sizes that real ones have.

Every task has a full share of rows, sends an entry for each, and every entry is a new state. A shard has a few runs,
and replaces the last one. Answers share no objects, since pickle writes an object once for each message. The sums that
compare what was sent with what was received are simple numbers that agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kmc.engine.layout.record_structs import FindingEntry
from kmc.shards.files.frontier_file import FrontierFile
from kmc.shards.files.range_files import RangeBlock
from kmc.shards.files.store import new_name
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import Effort, Expanded, Merged, MergeTask, SortedRun

ACTIONS = 20
_RUNS = 5
_UNCODED = 16
_WORDS_OF_A_ROW = 4
_CHECKSUM = 0x1234_5678_9ABC_DEF0
_TASKS_OF_A_SLOT = 8


@dataclass(frozen=True, slots=True)
class ClusterSize:
    """A level of so many tasks and shards."""

    tasks: int
    shards: int

    @property
    def slots(self) -> int:
        """The number of tasks that run at the same time."""
        return max(1, self.tasks // _TASKS_OF_A_SLOT)


class MadeUpAnswers:
    """The answers of a search with this division; `wrote` is called with the names of files that tasks wrote."""

    def __init__(self, size: ClusterSize, sharding: Sharding, wrote: Callable[[Iterable[str]], None]) -> None:
        self.size = size
        self._wrote = wrote
        segments = sharding.task_rows // sharding.segment_rows
        self._segments = [sharding.segment_rows] * segments
        self._rows = sharding.segment_rows * segments
        by_shard = np.diff(np.arange(size.shards + 1) * self._rows // size.shards)
        self._by_shard: list[int] = by_shard.tolist()

    def expanded(self, level: int, *, is_last: bool) -> Iterator[Expanded]:
        """The answers of all tasks of a level; those of the last one wrote no rows."""
        for task in range(self.size.tasks):
            yield self._of_task(level, task, is_last=is_last)

    def _of_task(self, level: int, task: int, *, is_last: bool) -> Expanded:
        name = new_name("rows", level, task)
        self._wrote([] if is_last else [name])
        words = self._rows * _WORDS_OF_A_ROW
        file = FrontierFile(name, task, words + 100, words, 600, tuple(self._segments), _CHECKSUM + task)
        return Expanded(
            number=task,
            file=None if is_last else file,
            sent=0 if is_last else self._rows,
            sent_sum=0 if is_last else self._rows,
            generated=tuple(range(10_000 + task, 10_000 + task + ACTIONS + 1)),
            expanded=self._rows if level > 1 else 0,
            refused=self._rows // 3,
            cut=0,
            reached=0,
            steps_failed=(),
            violating=False,
            findings=np.zeros((0, FindingEntry.source + 1), np.int64),
            uncoded=tuple(range(level * 1000, level * 1000 + _UNCODED)),
            effort=Effort(0.3, 0.3, ("host", task % self.size.slots)),
        )

    def merged(self, merges: Sequence[MergeTask], *, is_last: bool) -> Iterator[Merged]:
        """The answers of all shards; those of the last level found nothing new."""
        for task in merges:
            yield _nothing(task) if is_last else self._of_shard(task)

    def _of_shard(self, task: MergeTask) -> Merged:
        received = self._by_shard[task.shard] * self.size.tasks
        kept = task.runs[:-1] if len(task.runs) == _RUNS else task.runs
        run = SortedRun(new_name("run", task.level, task.shard), 0, received, 1, 0)
        words = received // 64 + 3 * self.size.tasks
        bits = RangeBlock(new_name("bits", task.level, task.shard), words, 0, words)
        self._wrote([run.name, bits.name])
        return Merged(
            shard=task.shard,
            bits=bits,
            new=received,
            received=received,
            received_sum=received,
            distinct=received,
            digest=_CHECKSUM,
            runs=(*kept, run),
            replaced=tuple(old.name for old in task.runs[len(kept) :]),
            written_bytes=8 * received,
            effort=Effort(0.3, 0.3, ("host", task.shard)),
        )


def _nothing(task: MergeTask) -> Merged:
    return Merged(task.shard, None, 0, 0, 0, 0, 0, task.runs, (), 0, Effort(0.0, 0.0, ("host", 0)))
