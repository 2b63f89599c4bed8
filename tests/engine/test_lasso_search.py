"""The search for fair lassos in a behaviour graph, against the obvious search and on graphs with one trap each."""

from __future__ import annotations

from random import Random

import pytest
from support.lasso_oracle import is_answer, least_length
from support.random_lassos import random_fairness, random_graph, random_query

from kmc.engine.liveness.lasso_search import LassoSearch
from kmc.liveness import lasso_queries as q

GRAPHS = 500
QUERIES = 3


@pytest.mark.parametrize("seed", range(4))
def test_lassos_are_those_of_the_obvious_search(seed: int) -> None:
    random = Random(seed)
    found = 0
    for number in range(GRAPHS):
        graph, fairness = random_graph(random), random_fairness(random)
        search = LassoSearch(graph.as_arrays(), fairness)
        for _ in range(QUERIES):
            query = random_query(random)
            lasso = search.find(q.TemporalCheck("P", "", (query,)))
            length = least_length(graph, fairness, query)
            about = f"seed {seed}, graph {number}: {graph}\n{fairness}\n{query}\n{lasso}"
            assert (lasso is None) == (length is None), about
            if lasso is not None:
                found += 1
                assert is_answer(graph, fairness, query, lasso), about
                assert len(lasso.stem) + len(lasso.cycle) == length, about
    assert GRAPHS * QUERIES // 5 < found < GRAPHS * QUERIES * 4 // 5
