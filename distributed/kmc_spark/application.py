"""The application in Spark's user interface: its name on the cluster, its page, and the number of its executors."""

from __future__ import annotations

import time
from contextlib import suppress

from pyspark import SparkContext

from kmc.errors import SystemFault
from kmc_spark.faults import OF_SPARK
from kmc_spark.own_settings import WAIT_KEY
from kmc_spark.session import is_local

_COUNT_SECONDS = 1.0


def executor_count(context: SparkContext) -> int | None:
    """Return the number of executors now; None if the application has no executors of its own, or Spark does not report
    them.
    """
    if is_local(context.master) or context._jsc is None:
        return None
    with suppress(*OF_SPARK):
        # The driver is among them.
        return max(0, len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1)
    return None


def application_line(context: SparkContext) -> str | None:
    """Return the note on an application on a cluster when it begins; None for one on this machine alone."""
    count = executor_count(context)
    if count is None:
        return None
    executors = "no executor yet" if count == 0 else f"{count} executor{'s' * (count != 1)} so far"
    page = f", see {context.uiWebUrl}" if context.uiWebUrl else ""
    return f"Spark runs application {context.applicationId} with {executors}{page}."


class ExecutorCount:
    """Counts the executors of an application once a second while a job runs, and ends a job that waits in vain.

    `now` is the last count, and None between jobs. A job without an executor for `wait_seconds` fails with SystemFault
    KMC565; None: it waits for ever.
    """

    def __init__(self, context: SparkContext, wait_seconds: float | None) -> None:
        self._context = context
        self._wait_seconds = wait_seconds
        self._counted = 0.0
        self._missing_since: float | None = None
        self.now: int | None = None

    def update(self) -> None:
        """Count them if a second has passed since the last time."""
        now = time.monotonic()
        if now - self._counted < _COUNT_SECONDS:
            return
        self._counted, self.now = now, executor_count(self._context)
        if self.now != 0:
            self._missing_since = None
        elif self._missing_since is None:
            self._missing_since = now
        elif self._wait_seconds is not None and now - self._missing_since >= self._wait_seconds:
            raise SystemFault(
                "KMC565",
                f"Spark has had no executor for {self._wait_seconds:,.0f} seconds",
                help="are the master and the workers up? A master that was started anew does not know this application;"
                f" --conf {WAIT_KEY}=1h waits longer",
            )

    def end_job(self) -> None:
        """Stop counting: what the driver does itself waits for no executor."""
        self._missing_since = self.now = None
