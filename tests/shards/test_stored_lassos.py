"""The search for lassos in a graph in files, against the obvious search and the one in memory."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.drawing.lassos import (
    LABELS,
    busy_fairness,
    disagreement,
    random_fairness,
    random_graph,
    random_query,
    random_steps,
)
from support.runs.graph_parts import runs_in, searches_in, stored_in_parts
from support.runs.shards import store_in

from kmc.bench.lasso_job import always_eventually, property_that_holds, weak_fairness
from kmc.bench.lasso_job import random_graph as large_graph
from kmc.engine.lassos import phase_levels
from kmc.engine.lassos import search as lasso_search
from kmc.engine.lassos.search import LassoSearch
from kmc.liveness import lasso_queries as q
from kmc.shards.graph.graph_rounds import GraphRounds
from kmc.shards.graph.stored_lassos import StoredLassoSearch

NOTHING_FITS = 0
LITTLE_FITS = 600
ALL_FITS = 1 << 30


@pytest.mark.slow
@pytest.mark.parametrize("memory_bytes", [NOTHING_FITS, LITTLE_FITS])
def test_verdicts_and_lassos_are_right_however_little_fits(tmp_path: Path, memory_bytes: int) -> None:
    difference, found = disagreement(searches_in(tmp_path, memory_bytes), 0, graphs=25, least=False)
    assert difference is None
    assert found > 12


@pytest.mark.slow
@pytest.mark.parametrize("nearest", [1, 1 << 18])
def test_lassos_are_those_of_memory_where_components_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nearest: int
) -> None:
    monkeypatch.setattr(lasso_search, "NEAREST_STATES", nearest)
    random, search_of = Random(nearest), searches_in(tmp_path, ALL_FITS)
    for _ in range(20):
        busy = random.random() < 0.5
        graph = random_graph(random, busy=busy).as_arrays()
        fairness = busy_fairness(random) if busy else random_fairness(random)
        check = q.TemporalCheck("P", "", (random_query(random), random_query(random)))
        found = LassoSearch(graph, fairness).find(check)
        assert search_of(graph, fairness).find(check) == found
        assert any(map(search_of(graph, fairness).has_lasso, check.queries)) is (found is not None)


def test_more_nodes_than_words_of_32_bits_number_have_the_same_lassos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, search_of = Random(7), searches_in(tmp_path, ALL_FITS)
    for _ in range(8):
        graph, fairness = random_graph(random).as_arrays(), random_fairness(random)
        check = q.TemporalCheck("P", "", (random_query(random),))
        found = LassoSearch(graph, fairness).find(check)
        with monkeypatch.context() as patch:
            patch.setattr(phase_levels, "NODES_MAX", 1)
            assert search_of(graph, fairness).find(check) == found


@pytest.mark.slow
def test_dropped_steps_are_found_in_memory_and_part_by_part(tmp_path: Path) -> None:
    random, store = Random(11), store_in(tmp_path)
    dropping = beside = 0
    for _ in range(200):
        small = random_graph(random)
        steps, labels = [random_steps(random) for _ in range(3)], frozenset(random.sample(range(LABELS), 3))
        end = random.randint(0, small.expanded)
        dropped = [p for p in small.pairs if p.target is None and p.source < end]
        if not dropped:
            continue
        expected, of_any = (
            [min((p.source for p in some if small.in_steps(wanted, p)), default=None) for wanted in steps]
            for some in ([p for p in dropped if p.labels & labels], dropped)
        )
        rounds = GraphRounds(runs_in(store), store, stored_in_parts(store, small.as_arrays(), 2))
        for search in (StoredLassoSearch(rounds, (), ALL_FITS), LassoSearch(small.as_arrays(), ())):
            assert search.first_dropped(steps, labels, end) == expected
        rounds.close()
        assert not [name for name in store.names() if name.startswith("bits")]
        dropping += any(first is not None for first in expected)
        beside += expected != of_any
    assert dropping > 15
    assert beside > 5, "steps of other actions are dropped too"


@pytest.mark.parametrize("memory_bytes", [20_000, ALL_FITS])
def test_a_graph_larger_than_memory_has_the_lassos_of_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory_bytes: int
) -> None:
    monkeypatch.setattr(lasso_search, "NEAREST_STATES", 50)
    graph, fairness = large_graph(1000), weak_fairness(3)
    search, memory = searches_in(tmp_path, memory_bytes, 200)(graph, fairness), LassoSearch(graph, fairness)
    for check in (property_that_holds(), always_eventually(0)):
        assert search.find(check) == memory.find(check)
