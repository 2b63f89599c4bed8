"""A view that forgets something: one state of each view stays, chosen by rank and not by who came first."""

from __future__ import annotations

from typing import Any

import pytest
from support.kernels.grid import Grid, fingerprint, point_of
from support.oracles.search import explore

from kmc.engine.layout.search_outcome import Settings
from kmc.engine.search.breadth_first import Search
from kmc.result import Limits

TINY: dict[str, Any] = {"chunk_rows": 1, "batch": 1, "table_slots": 2}


def search_of(grid: Grid, **settings: Any) -> Search:
    """A search of a grid whose view keeps only the sum of two coordinates, with small memories."""
    return Search(grid.kernels, grid.initial, Settings(**{"deadlock": False, **TINY, **settings}))


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "grid", [Grid(3, 7, forgets=True), Grid(2, 3, forgets=True, fan=300), Grid(4, 4, forgets=True)]
)
def test_the_state_of_least_rank_stands_for_its_view(grid: Grid, threads: int) -> None:
    search, expected = search_of(grid, threads=threads), explore(grid)
    outcome = search.run()
    kept = [
        {point_of(record) for record in search.predecessors.kept(number + 1)} for number in range(len(outcome.levels))
    ]
    assert kept == expected.levels
    assert outcome.levels == tuple(map(len, expected.levels))
    assert (outcome.generated, outcome.distinct) == (expected.generated, sum(outcome.levels))


def test_a_view_is_searched_with_constraints_and_a_bound() -> None:
    grid = Grid(3, 7, forgets=True, wall=3)
    outcome, expected = search_of(grid, threads=2, limits=Limits(depth=5)).run(), explore(grid, 5)
    assert outcome.levels == tuple(map(len, expected.levels))
    assert outcome.generated == expected.generated


@pytest.mark.parametrize("sum_of_point", [1, 2, 3, 4, 5])
def test_states_that_lose_their_view_are_checked_too(sum_of_point: int) -> None:
    grid = Grid(3, 5, forgets=True, sum=sum_of_point)
    outcomes = [search_of(grid, threads=threads).run() for threads in (1, 2, 4, 4)]
    assert all(outcome.findings == outcomes[0].findings for outcome in outcomes)
    explored = explore(grid, sum_of_point)
    reached = {target for source, target in explored.edges if source in explored.levels[-1]}
    assert {finding.rank for finding in outcomes[0].findings} == set(map(fingerprint, reached))
    views = {(point >> 16, (point & 255) + (point >> 8 & 255)) for point in reached}
    assert outcomes[0].failed[0] == len(views) == outcomes[0].levels[sum_of_point] < len(reached)


def test_predecessors_of_one_state_among_those_of_its_view() -> None:
    grid = Grid(3, 6, forgets=True)
    search, expected = search_of(grid, threads=2), explore(grid)
    search.run()
    view = fingerprint(2 | 1 << 16)
    (record,) = [record for record in search.predecessors.kept(4) if record.fingerprint == view]
    rank = grid.kernels.rank_of(record.row)
    edges = search.predecessors.of(3, view, rank=rank)
    assert {point_of(edge.source) for edge in edges} == {
        source for source in expected.levels[2] if (source, point_of(record)) in expected.edges
    }
    assert {point_of(edge.successor) for edge in edges} == {point_of(record)}
