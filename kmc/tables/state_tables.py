"""The table of states as Parquet files: the file of one task, from a compiled spec, a store and a part of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kmc import failpoints
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.files.store import ShardStore
from kmc.shards.level.expander import Expander
from kmc.shards.level.listing import Listing
from kmc.shards.level.sharding import Sharding
from kmc.tables.parquet_files import parquet_writer
from kmc.tables.parts import LevelPart, TablePart
from kmc.tables.state_columns import StateColumns

GROUP_ROWS = 1 << 16
"""Rows of a group of a file, about: it is in memory until it is written."""

_INDEX = (("level", pa.int32()), ("id", pa.int64()), ("fingerprint", pa.uint64()))
_SECOND = ("fingerprint_2", pa.uint64())


class StateReader:
    """Reads the states of a run as batches of a table; used by one thread at a time."""

    def __init__(self, spec: CompiledSpec, store: ShardStore, shards: int) -> None:
        self.spec = spec
        self._expander = Expander(KernelTable.of(spec), Sharding(shards), store, deadlock=False)
        self._listing = Listing()
        self._columns = StateColumns(spec.schema.state_class, spec.words_before)
        self._index = [*_INDEX, _SECOND] if spec.words_before else [*_INDEX]

    def column_names(self) -> list[str]:
        """The columns of the spec's variables; a variable with the name of a column of ours has `_` behind it."""
        taken = {name for name, _ in self._index}
        return [f"{name}_" if name in taken else name for name, _ in self._columns.fields]

    def listed(self, level: LevelPart) -> Iterator[tuple[int, Listing]]:
        """The rows of a part of a level, segment by segment, and the number of the first state of each segment."""
        first = level.first
        for listing in self._expander.listings(level.source, level.task, self._listing):
            yield first, listing
            first += len(listing)

    def schema(self, chosen: Sequence[str] | None = None) -> pa.Schema:
        """The columns of the table: level, id, fingerprint, and the spec's variables or those chosen of them."""
        kinds = [kind for _, kind in self._columns.fields]
        named = zip(self.column_names(), kinds, strict=True)
        about = {"kmc.spec": self.spec.names.spec, "kmc.model": self.spec.names.model}
        return pa.schema([*self._index, *(one for one in named if chosen is None or one[0] in chosen)], about)

    def batches(self, part: TablePart, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The states of a part, with the columns of this schema."""
        wanted = [name in schema.names for name in self.column_names()]
        for level in part.levels:
            for first, listing in self.listed(level):
                rows = listing.rows
                arrays = [
                    pa.array(np.full(len(rows), level.task.level, np.int32)),
                    pa.array(np.arange(first, first + len(rows))),
                    *map(pa.array, fingerprints_of(self.spec, listing)),
                    *self._columns.decode(rows, wanted),
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def fingerprints_of(spec: CompiledSpec, listing: Listing) -> list[NDArray[np.uint64]]:
    """The fingerprints of listed rows: one word, or two."""
    first = listing.fingerprints
    if not spec.words_before:
        return [first]
    rows = listing.rows
    return [first, rows.words[rows.starts[:-1]].view(np.uint64)]


def write_states(reader: StateReader, part: TablePart, path: Path, chosen: Sequence[str] | None = None) -> int:
    """Write the states of a part to a Parquet file; return their number."""
    schema = reader.schema(chosen)
    return write_batches(reader.batches(part, schema), schema, path)


def write_batches(batches: Iterator[pa.RecordBatch], schema: pa.Schema, path: Path) -> int:
    """Write batches to a Parquet file, in groups of `GROUP_ROWS` rows or more; return the number of rows."""
    written = rows = 0
    waiting: list[pa.RecordBatch] = []
    flat = [field.name for field in schema if pa.types.is_integer(field.type)]
    with parquet_writer(path, schema, write_statistics=flat, write_batch_size=GROUP_ROWS) as out:
        for batch in batches:
            waiting.append(batch)
            written += batch.num_rows
            rows += batch.num_rows
            if rows >= GROUP_ROWS:
                _write_group(out, waiting, rows)
                rows, waiting = 0, []
        if waiting:
            _write_group(out, waiting, max(1, rows))
    return written


def _write_group(out: pq.ParquetWriter, batches: list[pa.RecordBatch], rows: int) -> None:
    out.write_table(pa.Table.from_batches(batches, out.schema), rows)
    failpoints.reach("after write group")
