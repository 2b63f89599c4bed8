"""Spark contexts for tests: one at a time in a process, since Spark allows no more."""

from __future__ import annotations

import os
import shlex
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

from pyspark import SparkContext
from support.spark.faulty_daemon import FILE_VARIABLE

from kmc_spark.class_archive import archive_options
from kmc_spark.session import JAVA_OPTIONS, archive_here, spark_context

TESTS = Path(__file__).resolve().parents[2]


def submit_arguments(fault: Path, *more: str) -> str:
    """What `PYSPARK_SUBMIT_ARGS` holds for workers that fail as the file `fault` says, with more settings."""
    settings = (
        "spark.ui.enabled=false",
        "spark.python.daemon.module=support.spark.faulty_daemon",
        f"spark.executorEnv.PYTHONPATH={TESTS}",
        f"spark.executorEnv.{FILE_VARIABLE}={fault}",
        *more,
    )
    java = shlex.quote(f"spark.executor.extraJavaOptions={JAVA_OPTIONS} {archive_options(archive_here())}")
    return " ".join([*(f"--conf {setting}" for setting in settings), f"--conf {java}", "pyspark-shell"])


class Sessions:
    """The context of this process; asked for with another master or other arguments, it is a new one."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._asked: tuple[str, str | None] | None = None
        self._context: SparkContext | None = None

    def context(self, master: str, arguments: str | None = None) -> SparkContext:
        """A context on a master; `arguments` are those of `PYSPARK_SUBMIT_ARGS`."""
        if self._context is None or self._asked != (master, arguments):
            self.end()
            variables = {} if arguments is None else {"PYSPARK_SUBMIT_ARGS": arguments}
            with mock.patch.dict(os.environ, variables):
                self._context = self._held.enter_context(spark_context(master, "kmc tests"))
            self._asked = master, arguments
        return self._context

    def end(self) -> None:
        """Stop the context, so that its executors leave the cluster."""
        self._context = None
        self._held.close()
