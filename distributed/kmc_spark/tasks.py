"""What runs in the Python workers of executors. Nothing of a task stays but kernels, buffers and its files."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.core.broadcast import Broadcast

from kmc.engine.native.memory import Words
from kmc.errors import KmcError
from kmc.shards.exchange import SentPart, read_sent, write_sent
from kmc.shards.level_watch import EndedTask
from kmc.shards.tasks import Checked, Expanded, ExpandTask, Merged, MergeTask, RowsTask, SeekTask
from kmc.shards.travel import ShardJob, ShardWorker
from kmc_spark.facts import Facts
from kmc_spark.faults import TaskFault, described

SentByFiles = tuple[Expanded, tuple[SentPart, ...]]
"""What a task answers, and where the entries for each shard lie."""

Ended = Accumulator[list[EndedTask]]
"""Through it the driver hears of each task as soon as it has ended."""


class EndedTasks(AccumulatorParam[list[EndedTask]]):
    """Lists of tasks, one behind the other."""

    def zero(self, value: list[EndedTask]) -> list[EndedTask]:
        """None."""
        return []

    def addInPlace(self, value1: list[EndedTask], value2: list[EndedTask]) -> list[EndedTask]:
        """All of them."""
        value1 += value2
        return value1


_NONE = np.zeros(0, np.int64)
_held: dict[str, ShardWorker] = {}
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class SparkJob:
    """A search, and what its driver runs on."""

    job: ShardJob
    facts: Facts


def worker_of(job: Broadcast[SparkJob]) -> ShardWorker:
    """The worker of a job in this process, made by its first task. SystemFault KMC561 in a process of another kmc."""
    search = job.value.job
    key = hashlib.sha256(search.spec).hexdigest() + repr(search.sharding) + search.folder
    if key not in _held:
        job.value.facts.require_here()
        _held.clear()
        _held[key] = search.worker()
        # Spark's workers collect garbage after every task; what is there now stays anyway.
        gc.freeze()
    return _held[key]


def told(function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Let an error of kmc end a task with a text that the driver understands."""

    @wraps(function)
    def wrapped(*arguments: Any) -> Iterator[Any]:
        try:
            yield from function(*arguments)
        except KmcError as error:
            raise TaskFault(described(error)) from error

    return wrapped


@told
def expand(job: Broadcast[SparkJob], ended: Ended, tasks: Iterable[ExpandTask]) -> Iterator[tuple[int, Any]]:
    """Expand tasks: pairs of a shard and what it gets, the number of a task with entries; and the answers."""
    worker = worker_of(job)
    shards = job.value.job.sharding.shards
    for task in tasks:
        answer, outboxes = worker.expand(task)
        ended.add([EndedTask.expanding(task.rows.level, answer)])
        for shard, entries in enumerate(outboxes):
            if len(entries):
                yield shard, (task.rows.number, entries.tobytes())
        yield task.rows.number % shards, answer


@told
def merge(
    job: Broadcast[SparkJob],
    ended: Ended,
    merges: Sequence[Sequence[MergeTask]],
    tasks: int,
    part: int,
    records: Iterable[tuple[int, Any]],
) -> Iterator[Expanded | Merged]:
    """Merge what so many tasks sent to the shards of one part; the answers of tasks that came here are passed on."""
    sent: dict[int, list[Words]] = {}
    for shard, record in records:
        if isinstance(record, Expanded):
            yield record
        else:
            number, entries = record
            sent.setdefault(shard, [_NONE] * tasks)[number] = np.frombuffer(entries, np.int64)
    for merge_task in merges[part]:
        merged = worker_of(job).merge(merge_task, sent.pop(merge_task.shard, [_NONE] * tasks))
        ended.add([EndedTask.merging(merge_task.level, merged)])
        yield merged


@told
def expand_to_files(job: Broadcast[SparkJob], ended: Ended, tasks: Iterable[ExpandTask]) -> Iterator[SentByFiles]:
    """Expand tasks; what they send to shards goes to files."""
    worker = worker_of(job)
    for task in tasks:
        answer, outboxes = worker.expand(task)
        ended.add([EndedTask.expanding(task.rows.level, answer)])
        yield answer, write_sent(worker.store, task.rows.level, task.rows.number, outboxes)


@told
def merge_files(
    job: Broadcast[SparkJob], ended: Ended, merges: Iterable[tuple[MergeTask, tuple[SentPart, ...]]]
) -> Iterator[Merged]:
    """Merge what was sent to shards in files."""
    worker = worker_of(job)
    for merge_task, parts in merges:
        merged = worker.merge(merge_task, [read_sent(worker.store, part) for part in parts])
        ended.add([EndedTask.merging(merge_task.level, merged)])
        yield merged


@told
def check(job: Broadcast[SparkJob], stored: bool, tasks: Iterable[RowsTask]) -> Iterator[Checked]:
    """Check the accepted rows of tasks."""
    for task in tasks:
        yield worker_of(job).check(task, stored=stored)


@told
def seek(job: Broadcast[SparkJob], tasks: Iterable[SeekTask]) -> Iterator[tuple[int, Any]]:
    """Find rows; with the number of the task."""
    for task in tasks:
        yield task.rows.number, worker_of(job).seek(task)
