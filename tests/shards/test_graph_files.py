"""A behaviour graph in files is the one that was written, and damage to a file is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from support.drawing.lassos import random_graph
from support.runs.graph_parts import stored_in_parts
from support.runs.shards import store_in

from kmc.bench.lasso_job import random_graph as large_graph
from kmc.errors import SystemFault
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.shards.graph.graph_files import assemble, read_part

ARRAYS = ("level_starts", "offsets", "targets", "labels", "state_bits", "step_bits")


def assert_same(found: BehaviourGraph, graph: BehaviourGraph) -> None:
    assert found.expanded == graph.expanded
    for name in ARRAYS:
        one, other = getattr(found, name), getattr(graph, name)
        assert one.dtype == other.dtype, name
        assert one.shape == other.shape, name
        assert (one == other).all(), name


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_parts_of_a_graph_are_the_graph(tmp_path: Path, size: int) -> None:
    random = Random(size)
    store = store_in(tmp_path)
    for _ in range(20):
        graph = random_graph(random).as_arrays()
        assert_same(assemble(store, stored_in_parts(store, graph, size)), graph)


def test_rows_of_bits_keep_their_width(tmp_path: Path) -> None:
    graph, store = large_graph(100), store_in(tmp_path)
    stored = stored_in_parts(store, graph, 33)
    assert_same(assemble(store, stored), graph)
    rows = graph.offsets, graph.targets, graph.labels, graph.state_bits, graph.step_bits
    # One offset more than states.
    assert stored.bytes_in_memory == sum(array.nbytes for array in rows) - 8


@pytest.mark.parametrize("size", [0, 1, 8])
def test_damage_to_a_part_is_noticed(tmp_path: Path, size: int) -> None:
    store = store_in(tmp_path)
    stored = stored_in_parts(store, large_graph(50), 20)
    path = next(tmp_path.rglob(stored.files[1].name))
    data = bytearray(path.read_bytes())
    path.write_bytes(data[:-size] if size else bytes([*data[:100], data[100] ^ 1, *data[101:]]))
    read_part(store, stored.format, stored.files[0])
    with pytest.raises(SystemFault) as caught:
        read_part(store, stored.format, stored.files[1])
    assert caught.value.code == "KMC551"


def test_parts_in_a_wrong_order_are_not_a_graph(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    stored = stored_in_parts(store, large_graph(50), 20)
    with pytest.raises(AssertionError):
        assemble(store, replace(stored, files=stored.files[::-1]))
