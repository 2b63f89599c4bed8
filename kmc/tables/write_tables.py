"""All tables of a run, written by threads of this process: a file for each part.

Invariant: the folder of the tables is there when all of them are written, and not before.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.parquet as pq

from kmc.engine.native.threads import WorkerPool
from kmc.errors import CommandLineError, SystemFault, did_you_mean
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.kept_states import KeptStates
from kmc.tables.parts import LevelPart, TablePart, parts_of
from kmc.tables.state_tables import StateReader, write_states
from kmc.tables.step_tables import LevelParents, parents_schema, write_edges

PART_ROWS = 1 << 18
"""States of a file, about."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables to write besides states and levels. `columns`: the variables that the states have, None for all."""

    columns: tuple[str, ...] | None = None
    parents: bool = False
    edges: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """How many rows each table has."""

    states: int
    levels: int
    parents: int | None
    edges: int | None


class TableWriter:
    """Writes the tables of one run. `progress` is called with the number of states that were written so far."""

    def __init__(
        self, spec: CompiledSpec, states: KeptStates, threads: int, progress: Callable[[int], None], part_rows: int
    ) -> None:
        self._spec, self._states, self._progress = spec, states, progress
        self._parts = list(parts_of(states, part_rows))
        self._readers = [StateReader(spec, states.store, states.state.shards) for _ in range(threads)]
        self._done = 0
        self._stopping = False
        self._pool = WorkerPool(threads, lambda: progress(self._done), self._stop)

    def _stop(self) -> None:
        self._stopping = True

    def write(self, out: Path, wanted: Wanted) -> Written:
        """Write all tables to a new folder. KMC631 for a column that does not exist; KMC503, KMC630 for the folder."""
        self._refuse_unknown(wanted.columns)
        with _new_folder(out) as folder:
            self._write_levels(folder)
            states = self._each(folder / "states", partial(write_states, chosen=wanted.columns))
            parents = self._write_parents(folder / "parents") if wanted.parents else None
            edges = self._each(folder / "edges", write_edges) if wanted.edges else None
        return Written(states, len(self._states.levels), parents, edges)

    def _refuse_unknown(self, columns: Sequence[str] | None) -> None:
        known = self._readers[0].column_names()
        for name in columns or ():
            if name not in known:
                raise CommandLineError("KMC631", f"the states have no column '{name}'", help=did_you_mean(name, known))

    def _write_levels(self, folder: Path) -> None:
        counts = self._states.levels
        first = [0, *itertools.accumulate(counts)][:-1]
        columns = {"level": list(range(1, len(counts) + 1)), "states": list(counts), "first_id": first}
        kinds = [("level", pa.int32()), ("states", pa.int64()), ("first_id", pa.int64())]
        (folder / "levels").mkdir()
        pq.write_table(pa.table(columns, pa.schema(kinds)), folder / "levels" / "part-00000.parquet")

    def _each(self, folder: Path, write: Callable[[StateReader, TablePart, Path], int]) -> int:
        """Write a file for each part; a thread takes the next part when it has done one. How many rows there are."""
        folder.mkdir()
        taking = itertools.count()
        rows: dict[int, int] = {}
        self._done = 0

        def take_parts(number: int) -> None:
            while not self._stopping and (index := next(taking)) < len(self._parts):
                part = self._parts[index]
                rows[index] = write(self._readers[number], part, folder / f"part-{part.number:05}.parquet")
                self._done += rows[index]

        self._pool.run(take_parts)
        return sum(rows.values())

    def _write_parents(self, folder: Path) -> int:
        """Write a file; level by level, since a level needs all steps from the one before."""
        folder.mkdir()
        levels: dict[int, list[LevelPart]] = {}
        for part in self._parts:
            for one in part.levels:
                levels.setdefault(one.task.level, []).append(one)
        reader, rows = self._readers[0], 0
        with pq.ParquetWriter(folder / "part-00000.parquet", parents_schema(self._spec), compression="zstd") as out:
            for number in range(2, len(levels) + 1):
                found = LevelParents(reader, levels[number])
                for one in levels[number - 1]:
                    found.take(reader, one)
                batch = found.batch(self._spec)
                rows += batch.num_rows
                out.write_batch(batch)
        return rows


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """A folder to be filled, which gets its name when the block has ended; KMC630 if something has that name."""
    if out.exists():
        raise CommandLineError("KMC630", f"{out} is there already", help="remove it, or give another --out DIR")
    made = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        made.chmod(0o755)
        yield made
        made.rename(out)
        made = None
    except OSError as error:
        why = error.strerror or str(error)
        raise SystemFault("KMC503", f"cannot write {out}: {why}", help="give another --out DIR") from None
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
