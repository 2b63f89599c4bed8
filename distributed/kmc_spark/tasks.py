"""The code that runs in the Python workers of executors. Nothing of a task remains but kernels, buffers and its
files.
"""

from __future__ import annotations

import gc
import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import wraps
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np
from pyspark import Accumulator, AccumulatorParam, Broadcast

from kmc.engine.native.memory import Words
from kmc.errors import KmcError
from kmc.shards.executors.exchange import read_sent, write_sent
from kmc.shards.executors.travel import ShardJob, ShardWorker
from kmc.shards.files.range_files import RangeBlock
from kmc.shards.files.store_task import StoreTask
from kmc.shards.level.level_watch import EndedTask
from kmc.shards.level.tasks import (
    Checked,
    Expanded,
    ExpandTask,
    LevelSource,
    Merged,
    MergeTask,
    RowsTask,
    SeekTask,
)
from kmc_spark.facts import Facts
from kmc_spark.faults import TaskFault, described

SentByFiles = tuple[Expanded, RangeBlock | None]
"""The result of a task, and the file with the entries for each shard."""

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
_held: dict[str, list[ShardWorker]] = {}
_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class SparkJob:
    """A search, the facts of its driver, and the number of threads of a Spark task."""

    job: ShardJob
    facts: Facts
    threads: int = 1


def workers_of(job: Broadcast[SparkJob], count: int) -> list[ShardWorker]:
    """Workers of a job in this process, kept from task to task. SystemFault KMC561 in a process of another kmc."""
    search = job.value.job
    key = hashlib.sha256(search.spec).hexdigest() + repr(search.sharding) + repr(search.place)
    if key not in _held:
        job.value.facts.require_here()
        _held.clear()
        _held[key] = []
    held = _held[key]
    if len(held) < count:
        held += [search.worker() for _ in range(count - len(held))]
        # Spark's workers collect garbage after every task; the objects made so far stay anyway.
        gc.freeze()
    return held[:count]


def each(
    job: Broadcast[SparkJob], tasks: Iterable[_Task], function: Callable[[ShardWorker, _Task], _Answer]
) -> Iterator[tuple[_Task, _Answer]]:
    """Each task with `function` of a worker and it, in as many threads as a task of Spark has; in their order."""
    threads = job.value.threads
    workers = workers_of(job, threads)
    if threads == 1:
        for task in tasks:
            yield task, function(workers[0], task)
        return
    free: SimpleQueue[ShardWorker] = SimpleQueue()
    for worker in workers:
        free.put(worker)

    def run(task: _Task) -> _Answer:
        worker = free.get()
        try:
            return function(worker, task)
        finally:
            free.put(worker)

    running: deque[tuple[_Task, Future[_Answer]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for task in tasks:
            # Answers wait for those before them, and take memory.
            if len(running) > threads:
                first, answer = running.popleft()
                yield first, answer.result()
            running.append((task, pool.submit(run, task)))
        for first, answer in running:
            yield first, answer.result()


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
def expand(
    job: Broadcast[SparkJob], ended: Ended, source: LevelSource, tasks: Iterable[ExpandTask]
) -> Iterator[tuple[int, Any]]:
    """Expand tasks: pairs of a shard and what it gets, the number of a task with entries; and the answers."""
    shards = job.value.job.sharding.shards
    for task, (answer, outboxes) in each(job, tasks, lambda worker, task: worker.expand(source, task)):
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
    """Merge the entries of so many tasks for the shards of one part; the answers of tasks that came here are passed
    on.
    """
    sent: dict[int, list[Words]] = {}
    for shard, record in records:
        if isinstance(record, Expanded):
            yield record
        else:
            number, entries = record
            sent.setdefault(shard, [_NONE] * tasks)[number] = np.frombuffer(entries, np.int64)

    def run(worker: ShardWorker, task: MergeTask) -> Merged:
        return worker.merge(task, sent.pop(task.shard, [_NONE] * tasks))

    for task, merged in each(job, merges[part], run):
        ended.add([EndedTask.merging(task.level, merged)])
        yield merged


@told
def expand_to_files(
    job: Broadcast[SparkJob], ended: Ended, source: LevelSource, tasks: Iterable[ExpandTask]
) -> Iterator[SentByFiles]:
    """Expand tasks; their entries for shards go to files."""

    def run(worker: ShardWorker, task: ExpandTask) -> SentByFiles:
        answer, outboxes = worker.expand(source, task)
        return answer, write_sent(worker.store, task.rows.level, task.rows.number, outboxes)

    for task, found in each(job, tasks, run):
        ended.add([EndedTask.expanding(task.rows.level, found[0])])
        yield found


@told
def merge_files(
    job: Broadcast[SparkJob], ended: Ended, sent: Sequence[RangeBlock | None], merges: Iterable[MergeTask]
) -> Iterator[Merged]:
    """Merge the entries for shards that are in files, one of each task."""

    def run(worker: ShardWorker, task: MergeTask) -> Merged:
        return worker.merge(task, read_sent(worker.store, sent, task.shard))

    for task, merged in each(job, merges, run):
        ended.add([EndedTask.merging(task.level, merged)])
        yield merged


@told
def check(job: Broadcast[SparkJob], source: LevelSource, stored: bool, tasks: Iterable[RowsTask]) -> Iterator[Checked]:
    """Check the accepted rows of tasks."""
    for _, found in each(job, tasks, lambda worker, task: worker.check(source, task, stored=stored)):
        yield found


@told
def seek(job: Broadcast[SparkJob], source: LevelSource, tasks: Iterable[SeekTask]) -> Iterator[tuple[int, Any]]:
    """Find rows; with the number of the task."""
    for task, found in each(job, tasks, lambda worker, task: worker.seek(source, task)):
        yield task.rows.number, found


@told
def run(
    job: Broadcast[SparkJob], ended: Ended, tasks: Iterable[tuple[int, StoreTask[Any]]]
) -> Iterator[tuple[int, Any]]:
    """Run numbered tasks of the store; with their numbers."""
    for (number, _), found in each(job, tasks, lambda worker, task: task[1].run(worker.store)):
        ended.add([EndedTask.storing(number)])
        yield number, found
