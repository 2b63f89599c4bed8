"""The graph for networkx has the states and the steps of a check, and nothing else."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import networkx
import pytest
from support.commands.cli_runner import kmc
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.errors import CommandLineError
from kmc.reference.search import Search
from kmc.reference.states.digraph import state_digraph

STEPPER = """
class State(Record):
    level: Int(0, 5)


@spec.init
def init():
    yield State(level=0)
    yield State(level=1)


@spec.action
def grow(st):
    for _ in ways(True, st.level > 2):
        if st.level < 5:
            yield st.set(level=st.level + 1)


@spec.action
def stay(st):
    yield st


@spec.constraint
def Small(st):
    return st.level <= 4


@spec.action_constraint
def NotIntoFour(st, new):
    return new.level != 4
"""
CFG = "CONSTRAINT Small ACTION_CONSTRAINT NotIntoFour CHECK_DEADLOCK FALSE"


def test_a_graph_has_states_and_steps_within_the_constraints(tmp_path: Path) -> None:
    graph = state_digraph(model_of(tmp_path, STEPPER, CFG), 4)
    states = [(data["level"], data["state"]) for _, data in graph.nodes(data=True)]
    assert states == [(1, "/\\ level = 0"), (1, "/\\ level = 1"), (2, "/\\ level = 2"), (3, "/\\ level = 3")]
    edges = sorted((source, target, data["action"]) for source, target, data in graph.edges(data=True))
    around = [(number, number, "Stay") for number in range(1, 5)]
    assert edges == sorted([*around, (1, 2, "Grow"), (2, 3, "Grow"), (3, 4, "Grow")])


def test_a_graph_has_the_levels_of_a_check() -> None:
    model = shipped_model("two_phase_commit", "smoke")
    graph = state_digraph(model, 10_000)
    result = Search(model).run()
    levels = Counter(data["level"] for _, data in graph.nodes(data=True))
    assert [levels[level + 1] for level in range(len(levels))] == list(result.levels)
    # A shortest way in the graph is as long as the level says.
    initial = [node for node, data in graph.nodes(data=True) if data["level"] == 1]
    distances = networkx.multi_source_dijkstra_path_length(graph, initial)
    assert all(distances[node] + 1 == data["level"] for node, data in graph.nodes(data=True))


def test_a_graph_that_is_too_large_is_refused(tmp_path: Path) -> None:
    model = model_of(tmp_path, STEPPER, CFG)
    with pytest.raises(CommandLineError, match="more than 3 states") as caught:
        state_digraph(model, 3)
    assert caught.value.code == "KMC635"


def test_both_formats_are_read_again() -> None:
    graphml, as_json = kmc("graph", "die_hard"), kmc("graph", "die_hard", "--format", "json")
    assert (graphml.exit_code, as_json.exit_code) == (0, 0)
    one = networkx.read_graphml(io.BytesIO(graphml.stdout.encode()), node_type=int, force_multigraph=True)
    other = networkx.node_link_graph(json.loads(as_json.stdout), edges="edges")
    assert dict(one.nodes(data=True)) == dict(other.nodes(data=True))
    assert list(one.edges(data="action")) == list(other.edges(data="action"))
    assert len(other) == 16
