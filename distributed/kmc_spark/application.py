"""The application in Spark's user interface: its name on the cluster, its page, and the number of its executors."""

from __future__ import annotations

from contextlib import suppress

from pyspark import SparkContext

from kmc_spark.faults import OF_SPARK
from kmc_spark.session import is_local


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
