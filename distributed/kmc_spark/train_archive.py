"""The process that makes an archive of classes: a session on this machine, whose JVM writes its classes at its end.

`python -m kmc_spark.train_archive` makes the archive of this environment at once, if there is none.
"""

from __future__ import annotations

import operator
import os
import shlex
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from kmc.errors import KmcError
from kmc_spark.class_archive import ARCHIVE_VARIABLE, OFF, QUIET, archive_options, make
from kmc_spark.session import DRIVER_OPTIONS, archive_here, spark_context

_LIMIT_SECONDS = 3600
"""The process is killed after this time, and its JVM ends with it. A busy machine gives little to a low priority."""


def train(file: str) -> None:
    """Make the archive at a place, if there is none and no other process makes it."""
    signal.alarm(_LIMIT_SECONDS)
    with suppress(OSError):
        make(Path(file), _write)


def _write(archive: Path) -> None:
    os.environ[ARCHIVE_VARIABLE] = OFF
    os.environ[DRIVER_OPTIONS] = f"{shlex.quote(f'-XX:ArchiveClassesAtExit={archive}')} {QUIET}"
    os.environ.pop("PYSPARK_SUBMIT_ARGS", None)
    with suppress(KmcError), spark_context("local[1]", "kmc class archive", end_seconds=_LIMIT_SECONDS) as context:
        pairs = context.parallelize([(0, 1), (1, 2)], 2).mapPartitions(_same).partitionBy(2, operator.index)
        context.broadcast([1])
        pairs.mapPartitions(_same).collect()


def _same(records: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    yield from records


if __name__ == "__main__" and (place := archive_here()) is not None:
    train(str(place))
    sys.exit(0 if archive_options(place) else 1)
