"""The executor of a sharded search whose tasks are Spark's: one job of two stages a level."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from pyspark import RDD, SparkContext

from kmc.engine.layout.frontier import PackedState
from kmc.shards.executors.exchange import names_of
from kmc.shards.executors.executor import Executor
from kmc.shards.executors.parts import in_parts, tasks_of_a_part_max
from kmc.shards.executors.travel import ShardJob
from kmc.shards.files.store import ShardStore
from kmc.shards.files.store_task import StoreTask
from kmc.shards.level.level_watch import ClusterUse, EndedTask
from kmc.shards.level.sharding import THIN_ROWS
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
from kmc_spark import tasks as remote
from kmc_spark.application import ExecutorCount
from kmc_spark.facts import Facts
from kmc_spark.faults import OF_SPARK, meant
from kmc_spark.jobs import Jobs, stage_named

_FEW_TASKS = 4
"""Fewer tasks that only read and write files are run in the driver."""

_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")

TASK_CPUS = "spark.task.cpus"
"""The number of cores of a Spark task: each runs so many of our tasks at the same time, in threads."""


class SparkExecutor:
    """Runs tasks as jobs of a context, and those of thin levels with `local`, in the driver.

    `poll` is called while a job runs, about 20 times a second. A job that has had no executor for `wait_seconds` fails
    with SystemFault KMC565; None: it waits for one. The entries that tasks send to shards go through Spark's
    shuffle, or `by_files` of the store, which needs less CPU time if all executors see a fast disk.
    """

    def __init__(
        self,
        context: SparkContext,
        job: ShardJob,
        local: Executor,
        store: ShardStore,
        poll: Callable[[], None],
        *,
        by_files: bool = False,
        thin_rows: int = THIN_ROWS,
        wait_seconds: float | None = None,
    ) -> None:
        self._context = context
        self._threads = int(context.getConf().get(TASK_CPUS) or 1)
        self._job = context.broadcast(remote.SparkJob(job, Facts.here(), self._threads))
        self._ended: remote.Ended = context.accumulator([], remote.EndedTasks())
        self._tell: Callable[[EndedTask], None] = lambda _: None
        self._jobs = Jobs(context, self._listen)
        self._poll = poll
        self._local = local
        self._store = store
        self._by_files = by_files
        self._executors = ExecutorCount(context, wait_seconds)
        self.cluster = ClusterUse(thin_rows)

    @property
    def slots(self) -> int:
        """See `Executor`; SystemFault KMC560 if the application is over."""
        try:
            return max(1, self._context.defaultParallelism)
        except OF_SPARK as error:
            raise meant(error) from None

    def level(
        self,
        source: LevelSource,
        tasks: Sequence[ExpandTask],
        merges: Sequence[MergeTask],
        ended: Callable[[EndedTask], None],
    ) -> tuple[list[Expanded], list[Merged]]:
        """See `Executor`."""
        self.cluster.is_job = not self._is_thin([task.rows for task in tasks])
        try:
            if not self.cluster.is_job:
                return self._local.level(source, tasks, merges, ended)
            return self._level_as_job(source, tasks, merges, ended)
        finally:
            self.cluster.is_job = None

    def _level_as_job(
        self,
        source: LevelSource,
        tasks: Sequence[ExpandTask],
        merges: Sequence[MergeTask],
        ended: Callable[[EndedTask], None],
    ) -> tuple[list[Expanded], list[Merged]]:
        make = self._made_by_files if self._by_files else self._made_by_shuffle
        self._tell = ended
        try:
            with self._on_spark():
                made = make(source, tasks, merges)
        finally:
            self._hear()
        self.cluster.job_levels.append(merges[0].level)
        return made

    @contextmanager
    def _on_spark(self) -> Iterator[None]:
        """A block that makes a job and runs it; raises the error of kmc that `faults.meant` makes.

        Executors are counted meanwhile, and no longer: what the driver does itself waits for none.
        """
        try:
            yield
        except OF_SPARK as error:  # of calls beside the job
            raise meant(error) from None
        finally:
            self._executors.end_job()
            self.cluster.executors = None

    def _listen(self) -> None:
        self._hear()
        self._executors.update()
        self.cluster.executors = self._executors.now
        self._poll()

    def _hear(self) -> None:
        """Pass on the reports of tasks."""
        told = self._ended.value
        while told:  # entries appended meanwhile follow these
            self._tell(told.pop(0))

    def _made_by_shuffle(
        self, source: LevelSource, tasks: Sequence[ExpandTask], merges: Sequence[MergeTask]
    ) -> tuple[list[Expanded], list[Merged]]:
        """One job of two stages: Spark moves the entries from tasks to shards."""
        rows = _rows_of([task.rows for task in tasks])
        parts = min(len(merges), 2 * self.slots)
        level = merges[0].level
        names = f"level {level}: expand {len(tasks)} tasks", f"level {level}: merge {len(merges)} shards"
        with stage_named(self._context, names[0]):
            expanded = self._rdd(tasks, rows).mapPartitions(partial(remote.expand, self._job, self._ended, source))
            moved = expanded.partitionBy(parts, _identity)
        merged = moved.mapPartitionsWithIndex(
            partial(remote.merge, self._job, self._ended, [merges[part::parts] for part in range(parts)], len(tasks))
        )
        found = self._jobs.run(f"{names[0]}, merge {len(merges)} shards", merged.collect, names[1])
        answers = [answer for answer in found if isinstance(answer, Expanded)]
        shards = [answer for answer in found if isinstance(answer, Merged)]
        return sorted(answers, key=lambda answer: answer.number), sorted(shards, key=lambda answer: answer.shard)

    def _made_by_files(
        self, source: LevelSource, tasks: Sequence[ExpandTask], merges: Sequence[MergeTask]
    ) -> tuple[list[Expanded], list[Merged]]:
        """Two jobs of one stage: entries for shards go through files of the store."""
        level = merges[0].level
        sent: list[remote.SentByFiles] = []
        try:
            rows = _rows_of([task.rows for task in tasks])
            expanded = self._rdd(tasks, rows).mapPartitions(
                partial(remote.expand_to_files, self._job, self._ended, source)
            )
            sent += self._jobs.run(f"level {level}: expand {len(tasks)} tasks", expanded.collect)
            by_task = [block for _, block in sent]
            merged = self._rdd(merges, rows).mapPartitions(partial(remote.merge_files, self._job, self._ended, by_task))
            found = self._jobs.run(f"level {level}: merge {len(merges)} shards", merged.collect)
            return [answer for answer, _ in sent], found
        finally:
            self._store.remove(names_of([block for _, block in sent]))

    def check(self, source: LevelSource, tasks: Sequence[RowsTask], *, stored: bool) -> list[Checked]:
        """See `Executor`."""
        if self._is_thin(tasks):
            return self._local.check(source, tasks, stored=stored)
        with self._on_spark():
            checked = self._rdd(tasks, _rows_of(tasks)).mapPartitions(partial(remote.check, self._job, source, stored))
            return self._jobs.run(f"level {tasks[0].level - 1}: check properties", checked.collect)

    def seek(self, source: LevelSource, tasks: Sequence[SeekTask]) -> list[list[PackedState]]:
        """See `Executor`."""
        if self._is_thin([task.rows for task in tasks]):
            return self._local.seek(source, tasks)
        with self._on_spark():
            lookups = self._rdd(tasks, _rows_of([task.rows for task in tasks])).mapPartitions(
                partial(remote.seek, self._job, source)
            )
            found = self._jobs.run(f"level {tasks[0].rows.level - 1}: find states", lookups.collect)
        return [records for _, records in sorted(found, key=lambda pair: pair[0])]

    def each(self, tasks: Sequence[StoreTask[_Answer]], ended: Callable[[int], None] = lambda _: None) -> list[_Answer]:
        """See `Executor`."""
        if len(tasks) < _FEW_TASKS:
            return self._local.each(tasks, ended)
        # A task of a level may report late.
        self._tell = lambda task: None if task.level else ended(task.number)
        with self._on_spark():
            done = self._rdd(list(enumerate(tasks)), 0).mapPartitions(partial(remote.run, self._job, self._ended))
            found = self._jobs.run(f"{type(tasks[0]).__name__}: {len(tasks)} tasks", done.collect)
        return [answer for _, answer in sorted(found, key=lambda pair: pair[0])]

    def _is_thin(self, tasks: Sequence[RowsTask]) -> bool:
        return _rows_of(tasks) < self.cluster.thin_rows

    def _rdd(self, tasks: Sequence[Any], rows: int) -> RDD[Any]:
        """The tasks as those of Spark's: each of them runs a part, which are several of ours."""
        most = tasks_of_a_part_max(len(tasks), rows)
        parts = in_parts(tasks, max(1, self.slots // self._threads), self._threads, most)
        return self._context.parallelize(parts, len(parts)).flatMap(_members)

    def stop(self) -> None:
        """See `Executor`; a signal handler may call it."""
        self._jobs.stop()
        self._local.stop()

    def restart(self) -> None:
        """See `Executor`."""
        self._jobs.restart()
        self._local.restart()

    def close(self) -> None:
        """See `Executor`."""
        with suppress(*OF_SPARK):  # the application may be over
            self._job.unpersist()
        self._local.close()


def _members(part: Sequence[_Task]) -> Sequence[_Task]:
    """The tasks of a part."""
    return part


def _rows_of(tasks: Sequence[RowsTask]) -> int:
    return sum(segment.rows for task in tasks for segment in task.segments)


def _identity(shard: int) -> int:
    """The partition of a shard; PySpark reduces it modulo the number of partitions."""
    return shard
