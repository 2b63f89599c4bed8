"""Rounds over a graph in files find the right parts, however its states are divided and wherever parts are empty."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, pairwise, product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.drawing.lassos import LABELS, random_fairness, random_graph, random_query, random_steps
from support.runs.graph_parts import runs_in, stored_at
from support.runs.shards import store_in

from kmc.engine.lassos.search import LassoSearch
from kmc.liveness import lasso_queries as q
from kmc.shards.graph.graph_files import BitRows, GraphFile, GraphFormat, StoredGraph
from kmc.shards.graph.graph_rounds import GraphRounds
from kmc.shards.graph.stored_lassos import StoredLassoSearch

PARTS_MAX = 4
ALL_FITS = 1 << 30


def divisions(states: int) -> Iterator[tuple[int, ...]]:
    """The cuts of all divisions of so many states into consecutive parts, of which any may be empty."""
    for parts in range(1, PARTS_MAX + 1):
        for inner in combinations_with_replacement(range(states + 1), parts - 1):
            yield (0, *inner, states)


def rounds_of(folder: Path, cuts: tuple[int, ...]) -> GraphRounds:
    """Rounds over a graph without steps, whose files nothing reads."""
    files = tuple(GraphFile("graph", *ends, 0, 0) for ends in pairwise(cuts))
    none = BitRows(0, 1)
    stored = StoredGraph((0, cuts[-1]), cuts[-1], files, GraphFormat(none, none))
    return GraphRounds(lambda tasks: [], store_in(folder), stored)


def test_the_parts_of_some_states_are_those_that_hold_one_of_them(tmp_path: Path) -> None:
    for states in range(5):
        for cuts in divisions(states):
            rounds = rounds_of(tmp_path, cuts)
            for chosen in product([False, True], repeat=states):
                wanted = [part for part in range(len(cuts) - 1) if any(chosen[cuts[part] : cuts[part + 1]])]
                assert rounds.parts_of(np.array(chosen, np.bool_)) == wanted, (cuts, chosen)


def test_each_state_is_in_the_part_that_holds_it(tmp_path: Path) -> None:
    for states in range(1, 5):
        for cuts in divisions(states):
            numbers = np.arange(states, dtype=np.uint32)[::-1]
            found = {
                int(numbers[place]): part
                for part, places in rounds_of(tmp_path, cuts).by_part(numbers)
                for place in places
            }
            assert all(cuts[found[state]] <= state < cuts[found[state] + 1] for state in range(states)), cuts
            assert set(found) == set(range(states))


@pytest.mark.parametrize("seed", range(3))
def test_a_graph_with_empty_parts_has_the_lassos_of_memory(tmp_path: Path, seed: int) -> None:
    random, store = Random(seed), store_in(tmp_path)
    found = 0
    for _ in range(8):
        graph, fairness = random_graph(random).as_arrays(), random_fairness(random)
        check = q.TemporalCheck("P", "", (random_query(random),))
        memory = LassoSearch(graph, fairness)
        wanted, steps = memory.find(check), [random_steps(random)]
        inner = sorted(random.choices(range(graph.states + 1), k=3))
        # An empty part in the middle, and one at either end.
        cuts = (0, 0, *inner, inner[1], graph.states, graph.states)
        rounds = GraphRounds(runs_in(store), store, stored_at(store, graph, sorted(cuts)))
        search = StoredLassoSearch(rounds, fairness, ALL_FITS)
        assert search.find(check) == wanted, cuts
        labels = frozenset(range(LABELS))
        for end in range(graph.expanded + 1):
            assert search.first_dropped(steps, labels, end) == memory.first_dropped(steps, labels, end), (cuts, end)
        found += wanted is not None
        store.remove(store.names())
    assert found
