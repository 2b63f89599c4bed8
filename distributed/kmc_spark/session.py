"""A Spark context for a sharded search, with the settings that it needs and the reason for each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkConf, SparkContext

from kmc_spark.java import provide_java

SETTINGS = {
    # A task of a few milliseconds takes 50 more over TCP: half of the time of a small level.
    "spark.python.unix.domain.socket.enabled": "true",
    # A worker keeps kernels and buffers from task to task. Nothing else of a task outlives it.
    "spark.python.worker.reuse": "true",
    # Rows lie in files that every executor sees, so no place is better than another.
    "spark.locality.wait": "0s",
    # What crosses is fingerprints, which do not shrink.
    "spark.shuffle.compress": "false",
    "spark.rdd.compress": "false",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    # One row of a progress bar per stage would cover kmc's own.
    "spark.ui.showConsoleProgress": "false",
    # A long run has thousands of jobs.
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
    # What a worker writes on a crash says which loop it was in.
    "spark.python.worker.faulthandler.enabled": "true",
    "spark.task.maxFailures": "8",
}

# On hosts of few cores the optimising compiler and the parallel collector of the JVM take more CPU than they save.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_FEW_CORES = 4
_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")


def configured(master: str | None, name: str) -> SparkConf:
    """The configuration of an application; what `spark-submit` or spark-defaults says stands."""
    conf = SparkConf()
    if master is not None:
        conf.setMaster(master)
    conf.setAppName(name)
    for key, value in SETTINGS.items():
        conf.setIfMissing(key, value)
    conf.setIfMissing("spark.pyspark.python", os.environ.get("PYSPARK_PYTHON", sys.executable))
    conf.setIfMissing("spark.pyspark.driver.python", sys.executable)
    options = JAVA_OPTIONS if (os.cpu_count() or 1) <= _FEW_CORES else ""
    conf.setIfMissing("spark.driver.extraJavaOptions", f"{options} -Dlog4j2.configurationFile={_LOG_SETTINGS}".strip())
    conf.setIfMissing("spark.executor.extraJavaOptions", options)
    return conf


@contextmanager
def spark_context(master: str | None, name: str) -> Iterator[SparkContext]:
    """A context of its own, stopped at the end of the block. `master` is None under `spark-submit`, which knows it."""
    provide_java()
    # Read by Spark before any configuration.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    context = SparkContext(conf=configured(master, name))
    context.setLogLevel("ERROR")
    try:
        yield context
    finally:
        context.stop()
