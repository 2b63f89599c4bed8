"""Tables of one run, written by threads and on a Spark context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark import SparkContext
from support.runs.kept import kept, written_by_threads

from kmc.frontend.model import Model
from kmc.shards.kept_states import KeptStates
from kmc.shards.storage.store_place import StorePlace
from kmc.tables.new_tables import new_tables
from kmc.tables.table_job import TableJob
from kmc.tables.write_tables import TableWriter, Wanted, Written
from kmc_spark.tables import SparkTables

ALL = Wanted(parents=True, edges=True)
TABLES = ("states", "levels", "parents", "edges")


def place_of(states: KeptStates) -> StorePlace:
    """Where executors look for the states."""
    return states.place


def both_written(
    context: SparkContext, model: Model, folder: Path, *, part_rows: int, bits: int = 64, on_threads: bool = True
) -> tuple[Written | None, Written]:
    """Write the tables of a run in `folder` to `here` by threads, and to `there` on Spark."""
    here = None
    with kept(model, folder, bits) as (compiled, states):
        if on_threads:
            here = written_by_threads(compiled.spec, states, folder / "here", ALL, threads=1, part_rows=part_rows)
        job = TableJob.of(compiled.spec, states.state.shards, place_of(states))
        with new_tables(folder / "there") as new:
            executor = SparkTables(context, job, new)
            there = TableWriter(states, executor, lambda _: None, part_rows).write(new, ALL)
            executor.close()
    return here, there


def rows_of_both(folder: Path) -> dict[str, tuple[list[Any], list[Any]]]:
    """The rows of each table, in one order, by threads and on Spark."""
    return {table: (_rows(folder / "here" / table), _rows(folder / "there" / table)) for table in TABLES}


def _rows(folder: Path) -> list[Any]:
    return sorted((row for file in folder.iterdir() for row in pq.read_table(file).to_pylist()), key=repr)
