"""`kmc states --spark`: the parts of the tables of a run are the tasks of Spark jobs."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pyspark import Accumulator, Broadcast, SparkContext

from kmc.engine.files.durable_folder import DurableFolder
from kmc.shards.files.store import FolderStore
from kmc.shards.storage.store_place import StorePlace
from kmc.tables.new_tables import NewTables, cannot_write
from kmc.tables.parent_joins import parent_rows, records_for
from kmc.tables.parquet_files import parquet_writer
from kmc.tables.parts import TablePart
from kmc.tables.state_tables import StateReader
from kmc.tables.table_job import TableJob
from kmc.tables.table_tasks import PARENTS, AttemptFile, PartTask, write_attempt, write_part
from kmc_spark.application import ExecutorCount
from kmc_spark.facts import Facts
from kmc_spark.faults import OF_SPARK
from kmc_spark.jobs import Jobs
from kmc_spark.own_settings import executor_wait_of
from kmc_spark.probe import cannot_use, probe
from kmc_spark.tasks import told

_held: dict[str, StateReader] = {}


@dataclass(frozen=True, slots=True)
class SparkTableJob:
    """The states of a run, and the facts of the driver."""

    job: TableJob
    facts: Facts


class SparkTables:
    """Runs the tasks of tables as jobs of a context; SystemFault KMC561 or KMC562 for executors that cannot,
    and KMC565 where there was none for too long.
    """

    def __init__(self, context: SparkContext, job: TableJob, new: NewTables) -> None:
        with DurableFolder(new.attempts) as opened:
            probe(context, FolderStore(opened), StorePlace.at(new.attempts))
        self.slots = max(1, context.defaultParallelism)
        self._context = context
        self._wait_seconds = executor_wait_of(context)
        self._job = context.broadcast(SparkTableJob(job, Facts.here()))

    def write(self, tasks: Sequence[PartTask], progress: Callable[[int], None]) -> list[AttemptFile]:
        """See `TableExecutor`."""
        rows = self._context.accumulator(0)
        written = self._context.parallelize(tasks, len(tasks)).mapPartitions(partial(_write, self._job, rows))
        name = f"tables: write {tasks[0].table}, {len(tasks)} parts"
        return self._jobs(rows, progress).run(name, written.collect)

    def write_parents(
        self, parts: Sequence[TablePart], folder: Path, progress: Callable[[int], None]
    ) -> list[AttemptFile]:
        """See `TableExecutor`. One job of two stages, with a file for each of as many owners as there are parts."""
        rows = self._context.accumulator(0)
        count = len(parts)
        sent = self._context.parallelize(parts, count).mapPartitions(partial(_send, self._job, count))
        written = sent.partitionBy(count, _identity).mapPartitionsWithIndex(
            partial(_join, self._job, str(folder.resolve()), rows)
        )
        name = f"tables: write parents, {count} parts"
        return self._jobs(rows, progress).run(name, written.collect)

    def _jobs(self, rows: Accumulator[int], progress: Callable[[int], None]) -> Jobs:
        executors = ExecutorCount(self._context, self._wait_seconds)

        def poll() -> None:
            executors.update()
            progress(rows.value)

        return Jobs(self._context, poll)

    def close(self) -> None:
        """Give back the resources of executors."""
        with suppress(*OF_SPARK):  # the application may be over
            self._job.unpersist()


def _identity(owner: int) -> int:
    return owner


def _reader_of(job: Broadcast[SparkTableJob]) -> StateReader:
    """The reader of a job in this process, made by its first task."""
    tables = job.value.job
    key = hashlib.sha256(tables.spec).hexdigest() + repr(tables.place)
    if key not in _held:
        job.value.facts.require_here()
        if tables.place.storage is None and not Path(tables.place.folder).is_dir():
            raise cannot_use(socket.gethostname(), tables.place, "it is not there")
        _held.clear()
        _held[key] = tables.reader()
    return _held[key]


@contextmanager
def _writing_to(folder: str) -> Iterator[None]:
    """Make an error of the system KMC503, which the driver understands."""
    try:
        yield
    except OSError as error:
        raise cannot_write(Path(folder), error) from error


@told
def _write(job: Broadcast[SparkTableJob], rows: Accumulator[int], tasks: Iterable[PartTask]) -> Iterator[AttemptFile]:
    """Write parts."""
    reader = _reader_of(job)
    for task in tasks:
        with _writing_to(task.folder):
            file = write_part(reader, task)
        rows.add(file.rows)
        yield file


@told
def _send(job: Broadcast[SparkTableJob], owners: int, parts: Iterable[TablePart]) -> Iterator[tuple[int, Any]]:
    """The records that parts send to each owner."""
    reader = _reader_of(job)
    for part in parts:
        for owner, states, steps in records_for(reader, part, owners):
            yield owner, (states.tobytes(), steps.tobytes(), states.shape[1], steps.shape[1])


@told
def _join(
    job: Broadcast[SparkTableJob], folder: str, rows: Accumulator[int], owner: int, records: Iterable[tuple[int, Any]]
) -> Iterator[AttemptFile]:
    """Write the parents of the states of one owner."""
    states, steps = [], []
    for _, (known, led, width, step_width) in records:
        states.append(np.frombuffer(known, np.int64).reshape(-1, width))
        steps.append(np.frombuffer(led, np.int64).reshape(-1, step_width))
    batch = parent_rows(_reader_of(job).spec, states, steps)

    def write(path: Path) -> int:
        with parquet_writer(path, batch.schema) as out:
            out.write_batch(batch)
        return int(batch.num_rows)

    with _writing_to(folder):
        file = write_attempt(Path(folder), PARENTS, owner, write)
    rows.add(file.rows)
    yield file
