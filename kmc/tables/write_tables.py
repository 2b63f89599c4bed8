"""All tables of a run, whichever process writes their parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from kmc.errors import CommandLineError, did_you_mean
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.kept_states import KeptStates
from kmc.tables.new_tables import NewTables
from kmc.tables.parquet_files import parquet_writer
from kmc.tables.parts import parts_of
from kmc.tables.state_tables import StateReader
from kmc.tables.table_executors import TableExecutor
from kmc.tables.table_tasks import EDGES, LEVELS, PARENTS, STATES, PartTask

PART_ROWS = 1 << 18
"""States of a file, about."""

_PART_ROWS_MIN = 1 << 14
_PARTS_PER_SLOT = 4


@dataclass(frozen=True, slots=True)
class Wanted:
    """The tables to write besides states and levels. `columns`: the variables in the table of states, None for all."""

    columns: tuple[str, ...] | None = None
    parents: bool = False
    edges: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The number of rows of each table."""

    states: int
    levels: int
    parents: int | None
    edges: int | None


def refuse_unknown(spec: CompiledSpec, states: KeptStates, columns: Sequence[str] | None) -> None:
    """Raise CommandLineError KMC631 for a column that the states do not have."""
    known = StateReader(spec, states.store, states.state.shards).column_names()
    for name in columns or ():
        if name not in known:
            raise CommandLineError("KMC631", f"the states have no column '{name}'", help=did_you_mean(name, known))


def part_rows(states: int, slots: int) -> int:
    """The approximate number of states of a file: fewer if there are too few for all slots."""
    return min(PART_ROWS, max(_PART_ROWS_MIN, states // (slots * _PARTS_PER_SLOT)))


class TableWriter:
    """Writes the tables of one run. `progress` is called with the number of rows that a table has so far."""

    def __init__(
        self, states: KeptStates, executor: TableExecutor, progress: Callable[[int], None], part_rows: int
    ) -> None:
        self._levels = states.levels
        self._parts = list(parts_of(states, part_rows))
        self._executor = executor
        self._progress = progress

    def write(self, new: NewTables, wanted: Wanted) -> Written:
        """Write all tables."""
        self._write_levels(new)
        states = self._write_parts(new, STATES, wanted.columns)
        parents = edges = None
        if wanted.parents:
            attempts = self._executor.write_parents(self._parts, new.attempts, self._progress)
            parents = new.take(PARENTS, attempts)
        if wanted.edges:
            edges = self._write_parts(new, EDGES)
        return Written(states, len(self._levels), parents, edges)

    def _write_parts(self, new: NewTables, table: str, columns: tuple[str, ...] | None = None) -> int:
        tasks = [PartTask(table, part, str(new.attempts.resolve()), columns) for part in self._parts]
        return new.take(table, self._executor.write(tasks, self._progress))

    def _write_levels(self, new: NewTables) -> None:
        counts = self._levels
        first = [0, *itertools.accumulate(counts)][:-1]
        columns = {"level": list(range(1, len(counts) + 1)), "states": list(counts), "first_id": first}
        schema = pa.schema([("level", pa.int32()), ("states", pa.int64()), ("first_id", pa.int64())])
        (new.tables / LEVELS).mkdir()
        with parquet_writer(new.tables / LEVELS / "part-00000.parquet", schema) as out:
            out.write_table(pa.table(columns, schema))
