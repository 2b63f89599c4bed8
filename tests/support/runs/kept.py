"""Checks in shards that keep their states, and these states read again, level by level."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.oracles.results import Case

from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import CompiledModel, compile_model
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.reference.states.state_graph import StateGraph
from kmc.result import Limits, Result
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.kept_states import KeptStates, kept_states
from kmc.shards.level.expander import Expander
from kmc.shards.level.listing import Listing
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.tables.new_tables import new_tables
from kmc.tables.table_executors import ThreadTables
from kmc.tables.write_tables import TableWriter, Wanted, Written, refuse_unknown

SMALL = Sharding(3, task_rows=3, segment_rows=2, slice_chunks=1, slots_min=8, piece=3, batch=2, chunk_rows=2)
"""So that small models too are cut into several tasks of several segments."""


def checked(
    model: Model,
    folder: Path,
    sharding: Sharding = SMALL,
    *,
    bits: int = 64,
    limits: Limits | None = None,
    keep_going: bool = False,
) -> Result:
    """Check a model in shards; its states stay in `folder`."""
    directory = RunDirectory.created(folder, {})
    result = check_native(
        model,
        limits or Limits(),
        threads=2,
        keep_going=keep_going,
        settings=Settings(keep_states=True),
        fingerprint_bits=bits,
        directory=directory,
        search_of=sharded(sharding),
    )
    if directory.ended:
        directory.keep()
    else:
        directory.close()
    return result


@contextmanager
def kept(model: Model, folder: Path, bits: int = 64) -> Iterator[tuple[CompiledModel, KeptStates]]:
    """What the check of a model has left in `folder`."""
    with kept_states(folder) as states:
        yield compile_model(model, bits), states


def listed(compiled: CompiledModel, states: KeptStates, level: int, rows_max: int) -> Iterator[tuple[int, Any]]:
    """The fingerprints and states of a level, as their rows are listed."""
    expander = Expander(compiled.kernels, Sharding(states.state.shards), states.store, deadlock=False)
    listing = Listing()
    for task in states.tasks(level, rows_max):
        for found in expander.listings(states.source(level), task, listing):
            for fingerprint, row in zip(found.fingerprints.tolist(), found.rows, strict=True):
                yield fingerprint, compiled.state(row)


def interpreted(model: Model, case: Case) -> StateGraph:
    """What the interpreter explores."""
    search = Search(model, case.limits or Limits(), keep_going=case.keep_going, view_order=fingerprint_order)
    search.run()
    return search.graph


def written_by_threads(
    spec: CompiledSpec, states: KeptStates, out: Path, wanted: Wanted, *, threads: int, part_rows: int
) -> Written:
    """Write tables as `kmc states` does."""
    refuse_unknown(spec, states, wanted.columns)
    executor = ThreadTables(spec, states.store, states.state.shards, threads)
    with new_tables(out) as new:
        return TableWriter(states, executor, lambda _: None, part_rows).write(new, wanted)
