"""Sets of states and of steps of a behaviour graph are what they are by definition, on random graphs."""

from __future__ import annotations

from random import Random

import pytest
from support.drawing.lassos import random_graph, random_states, random_steps
from support.oracles.lassos import SmallGraph

from kmc.engine.behaviour_graph import sets as graph_sets
from kmc.engine.behaviour_graph.sets import GraphSets
from kmc.liveness import lasso_queries as q
from kmc.liveness.behaviour_graph import OUTSIDE


def stored_steps(graph: SmallGraph, steps: q.StepSet) -> list[bool]:
    """Whether each stored step is in a set: what holds of a pair holds of all its steps."""
    arrays = graph.as_arrays()
    held = {
        (pair.source, OUTSIDE if pair.target is None else pair.target, label): graph.in_steps(steps, pair)
        for pair in graph.pairs
        for label in pair.labels
    }
    return [
        held[state, int(arrays.targets[place]), int(arrays.labels[place])]
        for state in range(graph.states)
        for place in range(arrays.offsets[state], arrays.offsets[state + 1])
    ]


@pytest.mark.parametrize("block_states", [1, 3, 1 << 18])
def test_sets_are_those_of_the_definition(block_states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_sets, "_BLOCK_STATES", block_states)
    random = Random(block_states)
    for _ in range(300):
        graph = random_graph(random, busy=random.random() < 0.5)
        sets = GraphSets(graph.as_arrays())
        states, steps = random_states(random), random_steps(random)
        wanted = [graph.in_states(states, state) for state in range(graph.states)]
        assert sets.states(states).tolist() == wanted, (graph, states)
        assert sets.steps(steps).tolist() == stored_steps(graph, steps), (graph, steps)
