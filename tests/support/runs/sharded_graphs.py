"""The behaviour graph that a search in shards makes, and the results of one with temporal properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from support.oracles.results import told

from kmc.actions.action import instances_of
from kmc.compiler.model_kernels import Atoms, all_actions
from kmc.engine import check_temporal
from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import compile_model
from kmc.engine.files.run_directory import FOLDER, RunDirectory
from kmc.engine.lassos.search import LassoSearch
from kmc.engine.layout.search_outcome import Settings
from kmc.frontend.model import Model
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.reference.states.initial import initial_states
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Result
from kmc.shards.graph.graph_maker import GraphMaker
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.sharded_search import ShardedSearch

TINY = Sharding(4, task_rows=3, segment_rows=2, slice_chunks=1, slots_min=8, piece=3, batch=2, chunk_rows=2)
"""So that small models too are cut into several tasks."""

Predicates = Sequence[Callable[..., bool]]


@contextmanager
def sharded_search(
    model: Model,
    folder: Path,
    of_states: Predicates = (),
    of_steps: Predicates = (),
    settings: Settings | None = None,
    fingerprint_bits: int = 64,
    sharding: Sharding = TINY,
    processes: int | None = None,
    keep: bool = False,
) -> Iterator[tuple[ShardedSearch, GraphMaker]]:
    """A search of a model without symmetry and view that has run, and what makes its graph.

    With `keep`, the run stays in the folder, and the next search there goes on with it.
    """
    compiled = compile_model(model, fingerprint_bits, Atoms(tuple(of_states), tuple(of_steps)))
    apart = tuple(int(action not in model.spec.actions) for action, _ in instances_of(all_actions(model)))
    noting = Noting(len(of_states), len(of_steps), apart)
    initial = [compiled.record(state) for state in initial_states(model)]
    is_there = (folder / FOLDER).exists()
    directory = RunDirectory.opened(folder) if is_there else RunDirectory.created(folder, {})
    directory.begin({})
    search_of = sharded(sharding, processes)
    search = search_of(compiled, initial, settings or Settings(deadlock=False), None, directory, noting)
    assert isinstance(search, ShardedSearch)
    try:
        search.run()
        assert search.behaviours is not None
        yield search, search.behaviours
    finally:
        search.close()
        directory.close() if keep else directory.discard()


def unequal_fields(left: BehaviourGraph, right: BehaviourGraph) -> list[str]:
    """The arrays that differ, in their types or in what they hold."""
    pairs = {
        field.name: [np.asarray(getattr(graph, field.name)) for graph in (left, right)]
        for field in fields(BehaviourGraph)
    }
    return [name for name, (one, other) in pairs.items() if one.dtype != other.dtype or not np.array_equal(one, other)]


def checked_in_shards(
    model: Model,
    folder: Path,
    sharding: Sharding,
    processes: int | None = None,
    limits: Limits | None = None,
    keep_going: bool = False,
    history_bytes: int = 1 << 28,
) -> Result:
    """The result of a check with the model's temporal properties."""
    problem = accepted_problem(model)
    directory = RunDirectory.created(folder, {})
    found = check_native(
        model,
        limits or Limits(),
        threads=2,
        keep_going=keep_going,
        settings=Settings(history_bytes=history_bytes),
        directory=directory,
        search_of=sharded(sharding, processes),
        problem=problem,
    )
    directory.discard()
    return found


@contextmanager
def graphs_of_checks() -> Iterator[list[BehaviourGraph]]:
    """The behaviour graphs that checks in the block search for lassos."""
    found: list[BehaviourGraph] = []

    def watched(finder: Any, *given: Any) -> None:
        begin(finder, *given)
        if isinstance(finder.lassos, LassoSearch):
            found.append(finder.lassos.graph)

    begin = check_temporal._Finder.__init__
    with patch.object(check_temporal._Finder, "__init__", watched):
        yield found


def all_said(result: Result) -> dict[str, Any]:
    """What a result says, with the lasso and why it is one."""
    refutation = result.violation and result.violation.refutation
    return {**told(result), "refutation": refutation, "fairness": result.fairness, "cut": result.cut_fairness}


def checked_in_memory(model: Model, limits: Limits | None = None, keep_going: bool = False) -> Result:
    """The result of a check in memory."""
    return check_native(model, limits or Limits(), keep_going=keep_going, problem=accepted_problem(model))
