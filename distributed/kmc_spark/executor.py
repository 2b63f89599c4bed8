"""The executor of a sharded search whose tasks are Spark's: one job of two stages a level."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from py4j.protocol import Py4JError
from pyspark import RDD, SparkContext

from kmc import errors
from kmc.engine.layout.frontier import PackedState
from kmc.errors import KmcError, SystemFault
from kmc.shards.executors import Executor
from kmc.shards.expander import Stopped
from kmc.shards.tasks import Checked, Expanded, ExpandTask, Merged, MergeTask, RowsTask, SeekTask
from kmc.shards.travel import ShardJob
from kmc_spark import tasks as remote

THIN_ROWS = 50_000
"""A level of fewer rows is made in the driver: a job would take longer."""

_GROUP = "kmc"
_POLL_SECONDS = 0.05
_REASON = re.compile(r"^[\w.]+(?:Error|Exit|Fault|Exception): .+$", re.MULTILINE)
_Answer = TypeVar("_Answer")


class SparkExecutor:
    """Runs tasks as jobs of a context, and those of thin levels with `local`, in the driver.

    `poll` is called while a job runs, about 20 times a second.
    """

    def __init__(
        self,
        context: SparkContext,
        job: ShardJob,
        local: Executor,
        poll: Callable[[], None],
        *,
        thin_rows: int = THIN_ROWS,
    ) -> None:
        self.slots = max(1, context.defaultParallelism)
        self._context = context
        self._job = context.broadcast(job)
        self._local = local
        self._poll = poll
        self._thin_rows = thin_rows
        self._stopping = False

    def level(
        self, tasks: Sequence[ExpandTask], merges: Sequence[MergeTask], done: Callable[[Expanded], None]
    ) -> tuple[list[Expanded], list[Merged]]:
        """See `Executor`."""
        if self._is_thin([task.rows for task in tasks]):
            return self._local.level(tasks, merges, done)
        shards = len(merges)
        expanded = self._rdd(tasks).mapPartitions(partial(remote.expand, self._job))
        merged = expanded.partitionBy(shards, _identity).mapPartitionsWithIndex(
            partial(remote.merge, self._job, list(merges), len(tasks))
        )
        level = merges[0].level
        found = self._run(f"level {level}: expand {len(tasks)} tasks, merge {shards} shards", merged.collect)
        answers = sorted((answer for part, _ in found for answer in part), key=lambda answer: answer.number)
        for answer in answers:
            done(answer)
        return answers, [part for _, part in found]

    def check(self, tasks: Sequence[RowsTask], *, stored: bool) -> list[Checked]:
        """See `Executor`."""
        if self._is_thin(tasks):
            return self._local.check(tasks, stored=stored)
        checked = self._rdd(tasks).mapPartitions(partial(remote.check, self._job, stored))
        return self._run(f"level {tasks[0].level - 1}: check properties", checked.collect)

    def seek(self, tasks: Sequence[SeekTask]) -> list[list[PackedState]]:
        """See `Executor`."""
        if self._is_thin([task.rows for task in tasks]):
            return self._local.seek(tasks)
        sought = self._rdd(tasks).mapPartitions(partial(remote.seek, self._job))
        found = self._run(f"level {tasks[0].rows.level - 1}: find states", sought.collect)
        return [rows for _, rows in sorted(found, key=lambda pair: pair[0])]

    def _is_thin(self, tasks: Sequence[RowsTask]) -> bool:
        return sum(segment.rows for task in tasks for segment in task.segments) < self._thin_rows

    def _rdd(self, tasks: Sequence[Any]) -> RDD[Any]:
        return self._context.parallelize(tasks, len(tasks))

    def _run(self, name: str, action: Callable[[], list[_Answer]]) -> list[_Answer]:
        """Run a job in a thread, so that this one stays awake for limits and Ctrl-C."""
        answers: list[list[_Answer]] = []
        failures: list[BaseException] = []

        def work() -> None:
            try:
                self._context.setJobGroup(_GROUP, name, interruptOnCancel=False)
                answers.append(action())
            except BaseException as error:  # raised in the thread that waits
                failures.append(error)

        thread = threading.Thread(target=work, name="kmc-job", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(_POLL_SECONDS)
            self._poll()
        if self._stopping:
            raise Stopped
        if failures:
            raise _meant(failures[0])
        return answers[0]

    def stop(self) -> None:
        """See `Executor`."""
        self._stopping = True
        self._local.stop()
        self._context.cancelJobGroup(_GROUP)

    def restart(self) -> None:
        """See `Executor`."""
        self._stopping = False
        self._local.restart()

    def close(self) -> None:
        """See `Executor`."""
        self._job.unpersist()
        self._local.close()


def _identity(shard: int) -> int:
    return shard


def _meant(error: BaseException) -> BaseException:
    """The error of kmc that made a job fail, where its text holds one."""
    if not isinstance(error, Py4JError):
        return error
    text = str(error)
    found = fault_in(text)
    if found is not None:
        return found
    # The last line of a Python traceback, or what Spark says first.
    reasons = _REASON.findall(text) or [line for line in text.splitlines() if "failure" in line] or [text]
    return SystemFault("KMC560", f"a Spark job failed: {reasons[-1].strip()}", help="see the logs of the executors")


def fault_in(text: str) -> KmcError | None:
    """The error that a task described in a text; None if there is none."""
    place = text.find(remote.FAULT)
    if place < 0:
        return None
    try:
        (name, code, message, advice), _ = json.JSONDecoder().raw_decode(text[place + len(remote.FAULT) :])
        kind = getattr(errors, name)
    except (ValueError, AttributeError):
        return None
    error: KmcError = kind(code, message, help=advice)
    return error
