"""The settings `spark.kmc.*`, which are kmc's among those of Spark: a cluster's spark-defaults.conf may have them."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

from kmc.errors import CommandLineError
from kmc.shards.level.sharding import THIN_ROWS

THIN_ROWS_KEY = "spark.kmc.thinRows"
WAIT_KEY = "spark.kmc.executorTimeout"
_WAIT_STANDALONE = "10min"
_STANDALONE = "spark://"


def thin_rows_of(context: SparkContext) -> int:
    """Return the number of rows from which a level is a job; CommandLineError KMC648 unless the setting is a number."""
    text = context.getConf().get(THIN_ROWS_KEY) or str(THIN_ROWS)
    if not text.isdecimal():
        message = f"{THIN_ROWS_KEY} is a number of rows, not '{text}'"
        raise CommandLineError("KMC648", message, help=f"write --conf {THIN_ROWS_KEY}=N")
    return int(text)


def executor_wait_of(context: SparkContext) -> float | None:
    """Return the seconds that a job waits for an executor; None if it waits as long as Spark does.

    CommandLineError KMC648 unless the setting is a time.
    """
    # A resource manager has a queue, in which an application may wait for hours. A standalone master that died, or was
    # started anew, never gives the application another executor, and Spark waits nevertheless.
    default = _WAIT_STANDALONE if (context.master or "").startswith(_STANDALONE) else "0"
    conf: Any = context.getConf()
    try:
        return float(conf._jconf.getTimeAsSeconds(WAIT_KEY, default)) or None
    except Py4JError:
        message = f"{WAIT_KEY} is a time, not '{conf.get(WAIT_KEY)}'"
        raise CommandLineError("KMC648", message, help=f"write --conf {WAIT_KEY}=10min; 0 waits for ever") from None
