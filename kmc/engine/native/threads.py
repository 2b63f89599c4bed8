"""Threads that run native loops, and the main thread that waits for them, awake for progress, limits and Ctrl-C.

Invariant: when `run` returns or raises, all its threads have ended, so memory may be changed between runs. The end of a
thread and the start of the next one order all that they read and write: loops need no ordering of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

_POLL_SECONDS = 0.05
_Answer = TypeVar("_Answer")
_Item = TypeVar("_Item")


class _Job(Generic[_Answer]):
    def __init__(self, task: Callable[[int], _Answer], thread: int, left: threading.Semaphore) -> None:
        self._task = task
        self._number = thread
        self._left = left
        self.answer: list[_Answer] = []
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.answer.append(self._task(self._number))
        # Kept, to be raised in the thread that waits.
        except BaseException as error:
            self.error = error
        finally:
            self._left.release()


class WorkerPool:
    """`size` threads. `poll` is called while they run, about 20 times a second; `stop` must make them end soon."""

    def __init__(self, size: int, poll: Callable[[], None], stop: Callable[[], None]) -> None:
        self.size = size
        self._poll = poll
        self._stop = stop

    def run(self, task: Callable[[int], _Answer], threads: int | None = None) -> list[_Answer]:
        """The results of `task(0)`, `task(1)`, ..., each in a thread; with `threads` 0, of `task(0)` in this one.

        Raises the error of a task, and KeyboardInterrupt, after all have ended.
        """
        if threads == 0:
            return [task(0)]
        left = threading.Semaphore(0)
        jobs = [_Job(task, index, left) for index in range(threads or self.size)]
        workers = [threading.Thread(target=job, name=f"kmc-{index}") for index, job in enumerate(jobs)]
        started: list[threading.Thread] = []
        try:
            for thread in workers:
                thread.start()
                started.append(thread)
            for _ in workers:
                while not left.acquire(timeout=_POLL_SECONDS):
                    self._poll()
        except BaseException:
            self._stop()
            raise
        finally:
            self._join(started)
        for job in jobs:
            if job.error is not None:
                raise job.error
        return [job.answer[0] for job in jobs]

    def _join(self, threads: list[threading.Thread]) -> None:
        interrupted = False
        for thread in threads:
            while thread.is_alive():
                try:
                    thread.join()
                except KeyboardInterrupt:
                    interrupted = True
                    self._stop()
        if interrupted:
            raise KeyboardInterrupt


def each_on(threads: WorkerPool, task: Callable[[_Item], _Answer], items: Sequence[_Item]) -> list[_Answer]:
    """Return the results of `task` for each item, in their order, computed on all threads."""
    answers: dict[int, _Answer] = {}

    def run(thread: int) -> None:
        for index in range(thread, len(items), threads.size):
            answers[index] = task(items[index])

    threads.run(run, 0 if threads.size == 1 or len(items) < 2 else None)
    return [answers[index] for index in range(len(items))]
