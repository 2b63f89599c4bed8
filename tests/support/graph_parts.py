"""A behaviour graph in files of a few states each."""

from __future__ import annotations

from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.shards.graph_files import BitRows, GraphFile, GraphFormat, PartArrays, StoredGraph, write_part
from kmc.shards.store import ShardStore, new_name


def stored_in_parts(store: ShardStore, graph: BehaviourGraph, size: int) -> StoredGraph:
    """The graph, in files of `size` states."""
    files = [_written(store, graph, first, min(first + size, graph.states)) for first in range(0, graph.states, size)]
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
