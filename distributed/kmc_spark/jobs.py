"""Jobs of a context, with names, run so that the thread that waits for them hears of limits and Ctrl-C."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from pyspark import SparkContext
from pyspark.traceback_utils import SCCallSiteSync

from kmc.shards.level.expander import Stopped
from kmc_spark.faults import OF_SPARK, meant

_GROUP = "kmc"
_POLL_SECONDS = 0.05
_CANCEL_SECONDS = 0.5
_Answer = TypeVar("_Answer")


@contextmanager
def stage_named(context: SparkContext, name: str) -> Iterator[None]:
    """The stage whose last RDD is made in the block has this name, instead of a line of kmc's code."""
    site = SCCallSiteSync(context)  # type: ignore[no-untyped-call] # it has no types
    site._call_site = name
    with site:
        yield


class Jobs:
    """Runs one job at a time. `poll` is called while one runs, about 20 times a second."""

    def __init__(self, context: SparkContext, poll: Callable[[], None] = lambda: None) -> None:
        self._context = context
        self._poll = poll
        self._stopping = False

    def run(self, name: str, action: Callable[[], list[_Answer]], stage: str | None = None) -> list[_Answer]:
        """The result of an action, which runs in a thread; raises Stopped, and the error that `faults.meant` makes.

        `stage` is the name of the last stage of its job, if that is not the job's.
        """
        answers: list[list[_Answer]] = []
        failures: list[BaseException] = []

        def work() -> None:
            try:
                self._context.setJobGroup(_GROUP, name, interruptOnCancel=False)
                with stage_named(self._context, stage or name):
                    answers.append(action())
            except BaseException as error:  # raised in the thread that waits
                failures.append(error)

        thread = threading.Thread(target=work, name="kmc-job", daemon=True)
        if not self._stopping:
            thread.start()
        cancelled = 0.0
        while thread.is_alive():
            thread.join(_POLL_SECONDS)
            try:
                self._poll()
            except BaseException:  # raised again: no task of the job goes on
                self._cancel()
                raise
            # Again and again: a job that has not reached the scheduler yet is not cancelled.
            if self._stopping and time.monotonic() - cancelled > _CANCEL_SECONDS:
                cancelled = time.monotonic()
                self._cancel()
        if self._stopping:
            raise Stopped
        if failures:
            raise meant(failures[0])
        return answers[0]

    def _cancel(self) -> None:
        with suppress(*OF_SPARK):  # then the job fails too
            self._context.cancelJobGroup(_GROUP)

    def stop(self) -> None:
        """Cancel the running job. A signal handler may call it: it only sets a flag, and the thread that waits
        cancels.
        """
        self._stopping = True

    def restart(self) -> None:
        """After `stop`: run jobs again."""
        self._stopping = False
