"""What the native search finds is the same on 1 to 4 threads, run after run, whatever thread comes first.

Chunks, batches and tables are tiny, and threads wait for each other as chance says (`Settings.schedule_seed`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.kernels.grid import Grid, level_sizes, point_of
from support.oracles.search import explore

from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.native.threads import WorkerPool
from kmc.engine.search.breadth_first import Search
from kmc.engine.stores.fingerprint_table import FingerprintTable
from kmc.result import Limits

THREADS = (1, 2, 3, 4)
SEEDS = (1, 2)


def runs(grid: Grid, **settings: Any) -> list[Search]:
    """Finished searches of a grid on each number of threads, with each seed."""
    tiny = {"deadlock": False, "chunk_rows": 2, "batch": 5, "table_slots": 2, **settings}
    found = []
    for threads in THREADS:
        for seed in SEEDS:
            search = Search(grid.kernels, grid.initial, Settings(**{**tiny, "threads": threads, "schedule_seed": seed}))
            found.append(search)
    return found


def facts(outcome: SearchOutcome) -> SearchOutcome:
    """An outcome without the sizes of memory, which do depend on threads."""
    return replace(outcome, table_bytes=0, frontier_bytes_max=0, rows_bytes=0, growths=())


MODELS: dict[str, tuple[Grid, dict[str, Any]]] = {
    "a graph": (Grid(dims=4, size=6), {}),
    "hundreds of violations at one depth": (Grid(dims=3, size=30, sum=29), {}),
    "hundreds of violations, going on": (Grid(dims=3, size=14, sum=19), {"keep_going": True}),
    "action properties": (Grid(dims=3, size=12, sum=9, steps=True), {"keep_going": True}),
    "constraints": (Grid(dims=3, size=12, wall=5, gate=2), {}),
    "violations outside of a constraint": (Grid(dims=3, size=12, wall=1, sum=9), {"keep_going": True}),
    "a view that forgets": (Grid(dims=3, size=12, forgets=True), {}),
    "violations under a view that forgets": (Grid(dims=3, size=12, forgets=True, sum=11), {}),
    "deadlock": (Grid(dims=1, size=1, fan=900), {"deadlock": True}),
    "an error": (Grid(dims=3, size=9, error=3 | 2 << 8), {}),
    "a bound": (Grid(dims=3, size=12, sum=9), {"limits": Limits(depth=9)}),
    "a limit of states": (Grid(dims=3, size=12), {"limits": Limits(states=300)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_all_runs_find_the_same(name: str) -> None:
    grid, settings = MODELS[name]
    first, *others = [facts(search.run()) for search in runs(grid, **settings)]
    assert [other for other in others if other != first] == []


@pytest.mark.slow
@pytest.mark.parametrize("forgets", [False, True])
def test_all_runs_find_what_an_obvious_search_finds(forgets: bool) -> None:
    grid = Grid(dims=3, size=8, forgets=forgets, wall=3)
    expected = explore(grid)
    for search in runs(grid):
        outcome = search.run()
        assert outcome.levels == tuple(map(len, expected.levels))
        assert outcome.generated == expected.generated
        kept = [
            {point_of(record) for record in search.predecessors.kept(number + 1)}
            for number in range(len(outcome.levels))
        ]
        assert kept == expected.levels


def test_a_table_that_grows_within_a_level_loses_and_doubles_nothing() -> None:
    grid = Grid(dims=2, size=2, fan=3_000)
    for search in runs(grid, batch=700, chunk_rows=1):
        assert search.run().levels == (1, 3_002, 3_001)


def test_a_table_never_holds_more_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    # Threads reserve slots before they insert. If they counted afterwards, several could pass the limit together.
    grow, held = FingerprintTable.grow, []

    def measured(table: FingerprintTable, count: int, pool: WorkerPool, expected: int = 0) -> None:
        held.append((len(table.entries(0, table.slots)), table.limit))
        grow(table, count, pool, expected)

    monkeypatch.setattr(FingerprintTable, "grow", measured)
    grid = Grid(dims=2, size=2, fan=3_000)
    for search in runs(grid, batch=40, chunk_rows=1):
        assert search.run().levels == (1, 3_002, 3_001)
    assert held
    assert [(states, limit) for states, limit in held if states > limit] == []


@pytest.mark.parametrize("schedule_seed", [None, 1])
def test_chance_is_asked_exactly_with_delays(schedule_seed: int | None) -> None:
    search = Search(Grid().kernels, Grid().initial, Settings(schedule_seed=schedule_seed))
    thread = search._maker.workers[0].thread
    before = thread.fuzzing
    search.run()
    assert (thread.fuzzing != before) == (schedule_seed is not None)


@pytest.mark.slow
def test_threads_take_turns_differently_from_run_to_run() -> None:
    grid = Grid(dims=4, size=9)
    orders = set()
    for search in runs(grid, batch=40):
        assert search.run().levels == level_sizes(4, 9)
        orders.add(tuple(point_of(record) for record in search.predecessors.kept(9)))
    assert len(orders) > 1
    assert len({frozenset(order) for order in orders}) == 1
