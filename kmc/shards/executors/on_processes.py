"""Sharded searches on processes of this machine: their tasks survive the loss of one.

Invariant: a process is needed for nothing but the results of its tasks and the files that they wrote. So the tasks of a
process that died are run again in another, and the files of the first attempt have names that are never used.

The processes hold one end of a pipe, the lifeline. They end at once when it is closed: to stop running tasks, and when
the process of the search dies, however it does.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from kmc.engine.layout.frontier import PackedState
from kmc.errors import SystemFault
from kmc.shards.executors.exchange import SENT, names_of, read_sent, write_sent
from kmc.shards.executors.job_file import JobFile
from kmc.shards.executors.shared_data import SharedData
from kmc.shards.executors.travel import ShardJob, ShardWorker
from kmc.shards.files.range_files import RangeBlock
from kmc.shards.files.store import ShardStore
from kmc.shards.files.store_task import StoreTask
from kmc.shards.level.expander import Stopped
from kmc.shards.level.level_watch import ClusterUse, EndedTask
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

_POLL_SECONDS = 0.05
_ATTEMPTS = 3
"""The number of times in a row that processes may die without any task having been finished."""

Answer = TypeVar("Answer")


class ProcessExecutor:
    """Runs tasks in processes, which start with the first tasks. `poll` is called while they run."""

    cluster: ClusterUse | None = None

    def __init__(
        self, job: ShardJob, store: ShardStore, *, processes: int, poll: Callable[[], None] = lambda: None
    ) -> None:
        self.slots = processes
        self._job = JobFile(job)
        self._store = store
        self._poll = poll
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None
        self._stopping = False
        self._lost = False

    def level(
        self,
        source: LevelSource,
        tasks: Sequence[ExpandTask],
        merges: Sequence[MergeTask],
        ended: Callable[[EndedTask], None],
    ) -> tuple[list[Expanded], list[Merged]]:
        """See `Executor`."""
        sent: list[RangeBlock | None] = []
        level, shared = merges[0].level, SharedData.of(source)

        def keep(answer: tuple[Expanded, RangeBlock | None]) -> None:
            sent.append(answer[1])
            ended(EndedTask.expanding(level, answer[0]))

        def tell(answer: Merged) -> None:
            ended(EndedTask.merging(level, answer))

        try:
            expanded = self._each(_expand, [(shared, task) for task in tasks], keep)
            by_task = SharedData.of(tuple(block for _, block in expanded))
            return [answer for answer, _ in expanded], self._each(_merge, [(by_task, merge) for merge in merges], tell)
        finally:
            self._store.remove(names_of(sent))
            if self._lost:
                # The files that lost attempts sent have no other name than their kind; nothing is sent between levels.
                self._store.remove(name for name in self._store.names() if name.startswith(SENT))
                self._lost = False

    def check(self, source: LevelSource, tasks: Sequence[RowsTask], *, stored: bool) -> list[Checked]:
        """See `Executor`."""
        shared = SharedData.of(source)
        return self._each(_check, [(shared, task, stored) for task in tasks])

    def seek(self, source: LevelSource, tasks: Sequence[SeekTask]) -> list[list[PackedState]]:
        """See `Executor`."""
        shared = SharedData.of(source)
        return self._each(_seek, [(shared, task) for task in tasks])

    def each(self, tasks: Sequence[StoreTask[Answer]], ended: Callable[[int], None] = lambda _: None) -> list[Answer]:
        """See `Executor`."""
        found = self._each(_run, list(enumerate(tasks)), lambda numbered: ended(numbered[0]))
        return [answer for _, answer in found]

    def _each(
        self,
        function: Callable[..., Answer],
        tasks: Sequence[tuple[Any, ...]],
        done: Callable[[Answer], None] = lambda _: None,
    ) -> list[Answer]:
        """`function` of each task, in some process; those of a process that died are run again."""
        answers: dict[int, Answer] = {}
        attempts = 0
        while len(answers) < len(tasks):
            before = len(answers)
            try:
                self._attempt(function, tasks, answers, done)
            except BrokenProcessPool:
                self._end()
                self._lost = True
                attempts = 1 if len(answers) > before else attempts + 1
                if self._stopping:
                    raise Stopped from None
                if attempts == _ATTEMPTS:
                    raise _keep_dying() from None
            except BaseException:
                self._end()
                raise
        return [answers[index] for index in range(len(tasks))]

    def _attempt(
        self,
        function: Callable[..., Answer],
        tasks: Sequence[tuple[Any, ...]],
        answers: dict[int, Answer],
        done: Callable[[Answer], None],
    ) -> None:
        """Run the tasks without an answer, and add theirs; BrokenProcessPool after a process died."""
        if self._stopping:
            raise Stopped
        pool = self._started()
        waiting: dict[Future[Answer], int] = {}
        # Processes that start now inherit the blocked signal.
        with _sigint_blocked():
            for index, task in enumerate(tasks):
                if index not in answers:
                    waiting[pool.submit(function, *task)] = index
        broken: BrokenProcessPool | None = None
        while waiting:
            for future in wait(waiting, _POLL_SECONDS, FIRST_COMPLETED).done:
                index = waiting.pop(future)
                try:
                    answers[index] = future.result()
                except BrokenProcessPool as error:
                    broken = error
                else:
                    done(answers[index])
            self._poll()
        if broken is not None:
            raise broken

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Not forked: a lock that a thread holds at that moment would stay held in the child for ever.
            context = get_context("spawn")
            ours, self._lifeline = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self.slots, context, _begin, (self._job.argument, ours))
        return self._pool

    def _cut_lifeline(self) -> None:
        lifeline, self._lifeline = self._lifeline, None
        if lifeline is not None:
            lifeline.close()

    def _end(self) -> None:
        """Wait until no process writes any more."""
        self._cut_lifeline()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def stop(self) -> None:
        """See `Executor`."""
        self._stopping = True
        self._cut_lifeline()

    def restart(self) -> None:
        """See `Executor`."""
        self._end()
        self._stopping = False

    def close(self) -> None:
        """See `Executor`."""
        self._end()
        self._job.close()


def _keep_dying() -> SystemFault:
    return SystemFault(
        "KMC532",
        f"processes of the search died {_ATTEMPTS} times in a row",
        help="give fewer --processes if the system ended them for their memory (dmesg says so), or --threads",
    )


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Meanwhile Ctrl-C waits. It reaches all processes of a terminal, but only that of the search may hear it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_jobs: list[ShardJob] = []
_workers: list[ShardWorker] = []


def _begin(job: ShardJob, lifeline: Connection) -> None:
    """Begin as a process of a pool."""
    # A caller may have closed it.
    if sys.stderr is not None:
        faulthandler.enable()
    threading.Thread(target=_end_with, args=(lifeline,), name="kmc-lifeline", daemon=True).start()
    _jobs.append(job)


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _worker() -> ShardWorker:
    """The worker that runs the tasks of this process; made for the first of them, so that an error is the task's."""
    if not _workers:
        _workers.append(_jobs[0].worker())
    return _workers[0]


def _expand(source: SharedData[LevelSource], task: ExpandTask) -> tuple[Expanded, RangeBlock | None]:
    worker = _worker()
    expanded, outboxes = worker.expand(source.value, task)
    return expanded, write_sent(worker.store, task.rows.level, task.rows.number, outboxes)


def _merge(sent: SharedData[tuple[RangeBlock | None, ...]], task: MergeTask) -> Merged:
    worker = _worker()
    return worker.merge(task, read_sent(worker.store, sent.value, task.shard))


def _check(source: SharedData[LevelSource], task: RowsTask, stored: bool) -> Checked:
    return _worker().check(source.value, task, stored=stored)


def _seek(source: SharedData[LevelSource], task: SeekTask) -> list[PackedState]:
    return _worker().seek(source.value, task)


def _run(number: int, task: StoreTask[Answer]) -> tuple[int, Answer]:
    return number, task.run(_worker().store)
