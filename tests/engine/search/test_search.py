"""The native search counts what there is, whatever its threads, chunks, batches and tables."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from typing import Any

import pytest
from support.kernels.grid import ERROR_NUMBER, Grid, fingerprint, level_sizes, point_of
from support.oracles.search import explore

import kmc.engine.search.level_maker as levels
import kmc.engine.stores.fingerprint_table as tables
import kmc.engine.stores.memory_budget as memory_budget
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.native.memory import Memory
from kmc.engine.native.words import Address
from kmc.engine.search.breadth_first import Search
from kmc.process import memory_bytes
from kmc.result import Bound, Counters, Limits

THREADS = (1, 2, 3, 4)
TINY: dict[str, Any] = {"chunk_rows": 1, "batch": 1, "table_slots": 2}


def run(grid: Grid, **settings: Any) -> SearchOutcome:
    """Search a grid, whose last point has no successor."""
    return Search(grid.kernels, grid.initial, Settings(**{"deadlock": False, **settings})).run()


@pytest.mark.parametrize("threads", THREADS)
def test_counts_are_those_worked_out_on_paper(threads: int) -> None:
    outcome = run(Grid(dims=3, size=12), threads=threads, chunk_rows=3, batch=5)
    steps = 11 * 12 * 12
    assert outcome.levels == level_sizes(3, 12)
    assert outcome.distinct == outcome.expanded == 12**3
    assert outcome.generated_by_action == (steps, steps, steps, 0)
    assert outcome.generated == 3 * steps + outcome.initial == 3 * steps + 1
    assert outcome.findings == ()
    assert outcome.stopped is None


@pytest.mark.parametrize("threads", THREADS)
def test_counts_do_not_depend_on_delays_between_threads(threads: int) -> None:
    outcome = run(Grid(dims=3, size=10, delay=4095), threads=threads, **TINY)
    assert (outcome.levels, outcome.generated) == (level_sizes(3, 10), 1 + 3 * 9 * 100)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_level_outgrows_a_table_that_was_small(threads: int) -> None:
    # From the origin 60,000 states come at once, so that the table of two slots must grow inside that level.
    outcome = run(Grid(dims=2, size=2, fan=60_000), threads=threads, table_slots=2)
    assert outcome.levels[:2] == (1, 60_002)


@pytest.mark.parametrize("threads", THREADS)
def test_growth_halfway_through_a_level_loses_no_state(threads: int) -> None:
    outcome = run(Grid(dims=4, size=9), threads=threads, table_slots=2, batch=3, chunk_rows=2)
    assert outcome.levels == level_sizes(4, 9)


@pytest.mark.slow
def test_the_table_stays_within_21_bytes_a_state_once_it_is_large() -> None:
    outcome = run(Grid(dims=4, size=36), threads=2, table_slots=2, block_words=1 << 13)
    assert outcome.levels == level_sizes(4, 36)
    assert 13 * outcome.distinct < outcome.table_bytes
    assert max(size / states for states, size in outcome.growths[8:]) <= 20.1


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_may_be_longer_than_any_buffer(threads: int) -> None:
    outcome = run(Grid(dims=2, size=5, pad=70_000), threads=threads, chunk_rows=1)
    assert outcome.levels == level_sizes(2, 5)
    assert outcome.findings == ()


def test_rows_come_back_from_the_frontier_unchanged() -> None:
    # `expand` answers with an error for a row whose filler words are not those of its point.
    # Nearly all of them differ, so that packed rows are longer and fill many blocks to the end.
    outcome = run(Grid(dims=3, size=30, pad=50), threads=2, chunk_rows=2)
    assert (outcome.findings, outcome.levels) == ((), level_sizes(3, 30))


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("batches", [TINY, {}])
def test_constraints_keep_states_out(threads: int, batches: dict[str, Any]) -> None:
    # A batch of many sources has steps at the gate before steps that lead to the same states along another way.
    grid = Grid(dims=3, size=6, wall=3, gate=2)
    outcome, expected = run(grid, threads=threads, **batches), explore(grid)
    assert outcome.generated == expected.generated
    assert outcome.levels == tuple(map(len, expected.levels))
    assert outcome.generated_by_action == tuple(expected.by_action[action] for action in range(4))
    # Each of the 36 points before the wall steps to it, and 30 of them along the second coordinate, at the gate.
    assert outcome.cut == 36 + 30


def test_a_step_is_checked_though_its_batch_had_its_target_before() -> None:
    outcome = run(Grid(dims=3, size=6, sum=3, steps=True), keep_going=True)
    assert outcome.levels == level_sizes(3, 6)
    assert outcome.generated == 1 + 3 * 5 * 36
    # Ten points have the sum 3, and four of these the first coordinate 0; 36 steps make the first coordinate 3.
    assert outcome.failed == (10, 4, 36)


@pytest.mark.parametrize("depth", [1, 4])
def test_a_bound_stores_levels_up_to_it_and_says_so(depth: int) -> None:
    grid = Grid(dims=3, size=6)
    outcome, expected = run(grid, limits=Limits(depth=depth), threads=2, **TINY), explore(grid, depth)
    assert outcome.levels == level_sizes(3, 6)[:depth]
    assert outcome.generated == expected.generated
    assert outcome.stopped is Bound.DEPTH


def test_a_bound_behind_the_last_level_is_not_a_bound() -> None:
    assert run(Grid(dims=2, size=3), limits=Limits(depth=5)).stopped is None


def test_a_limit_of_states_ends_the_level() -> None:
    outcome = run(Grid(dims=3, size=6), limits=Limits(states=7), threads=2, **TINY)
    assert (outcome.levels, outcome.stopped) == ((1, 3, 6), Bound.STATES)


def test_no_time_left_stops_the_search() -> None:
    outcome = run(Grid(dims=4, size=40), limits=Limits(seconds=0.0), threads=2)
    assert outcome.stopped is Bound.TIME
    assert outcome.distinct < 40**4


def test_no_memory_left_stops_the_search() -> None:
    outcome = run(Grid(dims=4, size=40), limits=Limits(memory_bytes=1), threads=2)
    assert outcome.stopped is Bound.MEMORY


@pytest.mark.parametrize("count", [1, 2])
def test_reachable_properties_are_told_when_a_state_reaches_them(count: int) -> None:
    grid = Grid(dims=2, size=3)
    search = Search(replace(grid.kernels, reachable_count=count), grid.initial, Settings(deadlock=False))
    assert search.run().reached == 0b01


def test_initial_states_that_are_equal_count_once() -> None:
    grid = Grid(dims=2, size=3)
    outcome = Search(grid.kernels, grid.initial * 3, Settings(deadlock=False)).run()
    assert (outcome.initial, outcome.generated, outcome.levels) == (3, 15, level_sizes(2, 3))


def test_without_initial_states_there_are_no_levels() -> None:
    assert Search(Grid().kernels, []).run().levels == ()


@pytest.mark.slow
def test_an_interrupt_stops_all_threads_and_keeps_the_counts() -> None:
    grid = Grid(dims=8, size=200)
    told: list[Counters] = []

    def interrupt(counters: Counters) -> None:
        told.append(counters)
        os.kill(os.getpid(), signal.SIGINT)

    # A lost interrupt must fail the test, not fill the memory.
    settings = Settings(threads=2, limits=Limits(memory_bytes=memory_bytes() + (1 << 30)))
    outcome = Search(grid.kernels, grid.initial, settings, progress=interrupt).run()
    assert outcome.interrupted
    assert outcome.distinct >= told[0].distinct > 0
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("kmc-")] == []


@pytest.mark.parametrize("batch", [1, 5, 64])
@pytest.mark.parametrize("chunk_rows", [1, 4])
def test_the_steps_into_a_level_are_all_that_lead_there(chunk_rows: int, batch: int) -> None:
    grid = Grid(dims=3, size=5)
    search = Search(grid.kernels, grid.initial, Settings(threads=3, deadlock=False, chunk_rows=chunk_rows, batch=batch))
    levels = range(1, len(search.run().levels) + 1)
    edges = explore(grid).edges
    for level in levels[:-1]:
        sources = {point_of(record) for record in search.predecessors.kept(level)}
        reached = search.predecessors.steps_into(
            level, [record.fingerprint for record in search.predecessors.kept(level + 1)]
        )
        steps = {(point_of(edge.source), point_of(edge.successor)) for found in reached.values() for edge in found}
        targets = {point_of(record) for record in search.predecessors.kept(level + 1)}
        assert steps == {(source, target) for source, target in edges if source in sources and target in targets}
        assert all(reached.values())


@pytest.mark.parametrize("threads", THREADS)
def test_only_a_thread_alone_writes_to_the_table_without_a_lock(threads: int) -> None:
    search = Search(Grid().kernels, Grid().initial, Settings(threads=threads))
    assert search._maker.shared.alone == (threads == 1)


def test_a_property_too_many_for_a_mask_is_refused() -> None:
    with pytest.raises(ValueError, match="62"):
        KernelTable(expand=Address(1), action_count=1, check_count=63)


def test_an_error_has_the_number_of_the_model() -> None:
    grid = Grid(dims=2, size=3, error=0)
    (finding,) = run(grid).findings
    assert (finding.value, finding.fingerprint, finding.level) == (ERROR_NUMBER, fingerprint(0), 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_packed_rows_are_measured_once_each(threads: int) -> None:
    small, large = (run(Grid(dims=3, size=8, pad=pad), threads=threads, chunk_rows=4) for pad in (0, 5_000))
    assert 0 < small.rows_bytes < 512 * 8 * 30
    # Every fifth filler word is that of one row alone, and has a code of two bytes at most times.
    assert 512 * 1_000 * 2 < large.rows_bytes < 512 * 5_030 * 10


def test_growths_tell_what_the_table_held_and_what_it_took_afterwards() -> None:
    outcome = run(Grid(dims=3, size=30), table_slots=2)
    counts, sizes = zip(*outcome.growths, strict=True)
    assert list(counts) == sorted(counts)
    assert counts[-1] <= outcome.distinct + 1000
    assert (list(sizes), sizes[-1]) == (sorted(sizes), outcome.table_bytes)


@pytest.fixture
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables grow, and their levels are expected, as large ones are."""
    monkeypatch.setattr(tables, "_SMALL_SLOTS", 16)
    monkeypatch.setattr(levels, "_AHEAD_FROM_ROWS", 0)


@pytest.mark.usefixtures("small_tables")
def test_a_table_grows_by_two_quarters_where_its_level_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(**replaced: int) -> SearchOutcome:
        with monkeypatch.context() as patched:
            for name, value in replaced.items():
                patched.setattr(levels, name, value)
            return run(Grid(dims=6, size=5), table_slots=16, batch=4, limits=Limits(memory_bytes=1 << 40))

    by_one, scarce, by_two = searched(_GROWTH_MAX=0), searched(_SPARE=1 << 50), searched()
    assert by_one.levels == by_two.levels == level_sizes(6, 5)
    assert scarce.growths == by_one.growths
    assert max(by_one.table_bytes, by_two.table_bytes) < 16.5 * by_two.distinct
    assert len(by_two.growths) < len(by_one.growths)
    # Of 64 bytes a line, a whole one more or less. At most five eighths are full: a quarter makes 16 bytes of 12.8.
    large = [size / states for states, size in by_two.growths if size > 1 << 12]
    assert 19 < max(large) < 20.5
    assert max(size / states for states, size in by_one.growths if size > 1 << 12) < 16.5


@pytest.mark.usefixtures("small_tables")
def test_a_table_grows_by_one_quarter_where_two_have_no_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"table_slots": 16, "batch": 4, "limits": Limits(depth=5)}
    roomy = run(Grid(dims=6, size=5), **settings)
    words = roomy.table_bytes // 8 * 4 // 5
    monkeypatch.setattr(tables, "reserved", lambda *_, **__: Memory(words))
    scarce = run(Grid(dims=6, size=5), **settings)
    assert scarce.levels == roomy.levels == level_sizes(6, 5)[:5]
    assert scarce.table_bytes < roomy.table_bytes


@pytest.mark.usefixtures("small_tables")
@pytest.mark.parametrize(("left", "growths"), [(1 << 40, 13), (0, 24)])
def test_without_a_limit_a_table_grows_by_what_the_machine_has_left(
    monkeypatch: pytest.MonkeyPatch, left: int, growths: int
) -> None:
    monkeypatch.setattr(memory_budget, "available_bytes", lambda: left)
    outcome = run(Grid(dims=6, size=5), table_slots=16, batch=4, limits=Limits(depth=10))
    assert (outcome.levels, len(outcome.growths)) == (level_sizes(6, 5)[:10], growths)
