"""A behaviour graph in files of a few states each, and searches of it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from support.runs.shards import store_in

from kmc.liveness import lasso_queries as q
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.shards.files.store import ShardStore, new_name
from kmc.shards.graph.graph_files import BitRows, GraphFile, GraphFormat, PartArrays, StoredGraph, write_part
from kmc.shards.graph.graph_rounds import GraphRounds
from kmc.shards.graph.stored_lassos import StoredLassoSearch

SearchOf = Callable[[BehaviourGraph, Sequence[q.FairnessCondition]], StoredLassoSearch]


def stored_in_parts(store: ShardStore, graph: BehaviourGraph, size: int) -> StoredGraph:
    """The graph, in files of `size` states."""
    return stored_at(store, graph, [*range(0, graph.states, size), graph.states])


def stored_at(store: ShardStore, graph: BehaviourGraph, cuts: Sequence[int]) -> StoredGraph:
    """The graph, in files that each hold the states from one cut up to the next; two equal cuts make an empty file."""
    files = [_written(store, graph, first, end) for first, end in pairwise(cuts)]
    rows = GraphFormat(BitRows.of(graph.state_bits), BitRows.of(graph.step_bits))
    return StoredGraph(tuple(graph.level_starts.tolist()), graph.expanded, tuple(files), rows)


def _written(store: ShardStore, graph: BehaviourGraph, first: int, end: int) -> GraphFile:
    steps = slice(int(graph.offsets[first]), int(graph.offsets[end]))
    part = PartArrays(
        graph.offsets[first : end + 1] - graph.offsets[first],
        graph.targets[steps],
        graph.labels[steps],
        graph.state_bits[first:end],
        graph.step_bits[steps],
    )
    return write_part(store, new_name("graph", 0, first), first, part)


def runs_in(store: ShardStore) -> Callable[[Sequence[Any]], list[Any]]:
    """Runs tasks as another process does: what they are and what they answer travels."""

    def run(tasks: Sequence[Any]) -> list[Any]:
        answers = [task.run(store) for task in pickle.loads(pickle.dumps(list(tasks)))]
        return list(pickle.loads(pickle.dumps(answers)))

    return run


def searches_in(folder: Path, memory_bytes: int, size: int = 3) -> SearchOf:
    """Searches of graphs in parts of a few states."""
    store = store_in(folder)

    def search_of(graph: BehaviourGraph, fairness: Sequence[q.FairnessCondition]) -> StoredLassoSearch:
        store.remove(store.names())
        rounds = GraphRounds(runs_in(store), store, stored_in_parts(store, graph, size))
        return StoredLassoSearch(rounds, fairness, memory_bytes)

    return search_of
