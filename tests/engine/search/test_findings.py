"""The native search reports every failure of a level, the same on any number of threads, and how to get there."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from support.kernels.grid import ERROR_NUMBER, Grid, address, fingerprint, level_sizes, point_of
from support.oracles.search import explore

from kmc.engine.layout import control_words as f
from kmc.engine.layout.search_outcome import FindingKind, SearchOutcome, Settings
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.search.breadth_first import Search
from kmc.result import Limits

THREADS = (1, 2, 3, 4)
TINY: dict[str, Any] = {"chunk_rows": 1, "batch": 1, "table_slots": 2}
ORIGIN = fingerprint(0)


def search_of(grid: Grid, **settings: Any) -> Search:
    """A search of a grid, whose last point has no successor."""
    return Search(grid.kernels, grid.initial, Settings(**{"deadlock": False, **TINY, **settings}))


def run(grid: Grid, **settings: Any) -> SearchOutcome:
    """The outcome of that search."""
    return search_of(grid, **settings).run()


@pytest.mark.parametrize("threads", THREADS)
def test_all_violations_of_a_level_are_found_and_the_level_is_finished(threads: int) -> None:
    outcome = run(Grid(dims=3, size=30, sum=29, delay=255), threads=threads)
    on_the_level = {x | y << 8 | 29 - x - y << 16 for x in range(30) for y in range(30 - x)}
    assert {finding.fingerprint for finding in outcome.findings} == set(map(fingerprint, on_the_level))
    assert len(outcome.findings) == len(on_the_level) == 465
    assert {(finding.kind, finding.level) for finding in outcome.findings} == {(FindingKind.INVARIANT, 30)}
    assert outcome.levels == level_sizes(3, 30)[:30]


@pytest.mark.slow
def test_findings_do_not_depend_on_threads() -> None:
    grid = Grid(dims=3, size=20, sum=19, steps=True, wall=17, delay=1023)
    first, *others = [run(grid, threads=threads) for threads in THREADS for _ in range(2)]
    assert all((other.findings, other.failed) == (first.findings, first.failed) for other in others)
    assert len(first.findings) > 200


def test_the_first_finding_is_the_least_by_property_and_fingerprint() -> None:
    findings = run(Grid(dims=3, size=12, sum=11), threads=2).findings
    masks = [finding.value for finding in findings]
    assert Counter(masks) == {0b11: 12, 0b01: 66}
    assert findings[0].fingerprint == min(finding.fingerprint for finding in findings)
    assert [finding.property_index for finding in findings[:2]] == [0, 0]


def test_violating_states_are_counted_by_property() -> None:
    assert run(Grid(dims=3, size=12, sum=11)).failed == (78, 12, 0)


def test_a_violation_in_the_initial_state_is_at_level_one() -> None:
    outcome = run(Grid(dims=2, size=4, sum=0))
    assert [(finding.level, finding.fingerprint) for finding in outcome.findings] == [(1, ORIGIN)]
    assert outcome.levels == (1,)


def test_going_on_after_a_violation_explores_the_rest() -> None:
    outcome = run(Grid(dims=2, size=6, sum=3, steps=True), keep_going=True, threads=2)
    assert outcome.levels == level_sizes(2, 6)
    assert {finding.level for finding in outcome.findings} == {4}
    # The first coordinate grows to 3 from six points, and four points have the sum 3.
    assert outcome.failed == (4, 1, 6)


@pytest.mark.parametrize("threads", [1, 4])
def test_states_outside_of_a_constraint_are_checked_and_count_once(threads: int) -> None:
    grid = Grid(dims=3, size=8, wall=1, sum=4)
    outcome = run(grid, threads=threads, keep_going=True)
    outside = {point for point in explore(grid).outside if sum(point.to_bytes(4, "little")) == 4}
    unstored = {finding.fingerprint for finding in outcome.findings if not finding.stored}
    assert unstored == set(map(fingerprint, outside)) != set()
    assert outcome.failed[0] == len(outcome.findings)


def test_a_state_outside_of_a_constraint_that_is_met_at_two_levels_counts_once() -> None:
    outside = 1 | 1 << 8 | 2 << 16
    outcome = run(Grid(dims=3, size=3, wall=1, sum=4, jump=outside), keep_going=True)
    assert [(finding.level, finding.fingerprint) for finding in outcome.findings] == [(2, fingerprint(outside))]
    # (1, 1, 2) and (1, 2, 1) lie outside, (0, 2, 2) within.
    assert outcome.failed[0] == 3


def test_states_behind_the_bound_are_checked() -> None:
    outcome = run(Grid(dims=2, size=6, sum=3), limits=Limits(depth=3), threads=2)
    assert [(finding.level, finding.stored) for finding in outcome.findings] == [(4, False)] * 4
    assert outcome.levels == (1, 2, 3)


def test_a_step_that_fails_is_known_by_both_its_ends() -> None:
    grid = Grid(dims=2, size=6, sum=2, steps=True)
    steps = [finding for finding in run(grid, threads=2, keep_going=True).findings if finding.kind is FindingKind.STEP]
    assert [(finding.source, finding.fingerprint) for finding in steps] == [(fingerprint(1), fingerprint(2))]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_state_without_successor_is_a_finding_if_asked_for(threads: int) -> None:
    outcome = run(Grid(dims=3, size=5), deadlock=True, threads=threads)
    (finding,) = outcome.findings
    assert (finding.kind, finding.level, finding.value, finding.rank) == (FindingKind.DEADLOCK, 13, 0, 0)
    assert finding.fingerprint == fingerprint(4 | 4 << 8 | 4 << 16)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_the_search_after_its_level(threads: int) -> None:
    point = 2 | 1 << 8
    outcome = run(Grid(dims=3, size=5, error=point), threads=threads)
    (finding,) = outcome.findings
    assert (finding.kind, finding.value, finding.rank) == (FindingKind.ERROR, ERROR_NUMBER, 0)
    assert (finding.level, finding.fingerprint) == (4, fingerprint(point))
    assert outcome.levels == level_sizes(3, 5)[:5]


@pytest.mark.parametrize("threads", [1, 4])
def test_more_findings_than_a_log_holds_are_all_reported(threads: int) -> None:
    findings = run(Grid(dims=1, size=1, fan=9_000), deadlock=True, threads=threads).findings
    assert len(findings) == 9_000


@NativeLoop
def fails(row: int) -> int:
    """A constraint that fails to evaluate in every state."""
    return f.ERROR_MAX - ERROR_NUMBER


def test_a_constraint_that_fails_on_an_initial_state_names_that_state() -> None:
    grid = Grid(dims=2, size=3)
    (finding,) = Search(replace(grid.kernels, outside=address(fails)), grid.initial).run().findings
    assert (finding.kind, finding.level, finding.value) == (FindingKind.ERROR, 1, ERROR_NUMBER)
    assert finding.fingerprint == grid.initial[0].fingerprint


@pytest.mark.slow
@pytest.mark.parametrize("history_bytes", [0, 1 << 18, 1 << 28])
@pytest.mark.parametrize("threads", [1, 3])
def test_all_predecessors_are_found_again_at_every_level(threads: int, history_bytes: int) -> None:
    grid = Grid(dims=3, size=6, sum=9)
    search = search_of(grid, threads=threads, history_bytes=history_bytes)
    search.run()
    edges = explore(grid).edges
    point = 3 | 3 << 8 | 3 << 16
    for level in range(9, 0, -1):
        found = search.predecessors.of(level, fingerprint(point))
        sources = {point_of(edge.source) for edge in found}
        assert sources == {source for source, target in edges if target == point}
        assert {point_of(edge.successor) for edge in found} == {point}
        assert [edge.source.fingerprint for edge in found] == sorted(map(fingerprint, sources))
        point = point_of(found[0].source)
    assert point == 0


def test_predecessors_say_which_action_leads_on() -> None:
    search = search_of(Grid(dims=2, size=4))
    search.run()
    edges = search.predecessors.of(2, fingerprint(1 | 1 << 8))
    assert {(point_of(edge.source), edge.successor.action) for edge in edges} == {(1, 1), (1 << 8, 0)}


def test_predecessors_keep_within_the_constraints_unless_told_otherwise() -> None:
    search = search_of(Grid(dims=2, size=4, gate=1))
    search.run()
    point = fingerprint(1 | 1 << 8)
    assert [point_of(edge.source) for edge in search.predecessors.of(2, point)] == [1 << 8]
    assert {point_of(edge.source) for edge in search.predecessors.of(2, point, inside=False)} == {1, 1 << 8}


def test_steps_into_many_states_are_found_in_one_pass() -> None:
    grid = Grid(dims=3, size=8, sum=7)
    search = search_of(grid, threads=2)
    outcome = search.run()
    edges = explore(grid).edges
    found = search.predecessors.steps_into(7, [finding.fingerprint for finding in outcome.findings])
    assert len(found) == 36
    for fingerprint_of_target, steps in found.items():
        (target,) = {point_of(edge.successor) for edge in steps}
        assert fingerprint(target) == fingerprint_of_target
        assert {point_of(edge.source) for edge in steps} == {source for source, to in edges if to == target}


@pytest.mark.parametrize("history_bytes", [0, 1 << 28])
def test_states_are_found_again_by_their_fingerprints(history_bytes: int) -> None:
    search = search_of(Grid(dims=3, size=8), history_bytes=history_bytes)
    search.run()
    wanted = [fingerprint(point) for point in (3, 2 | 1 << 16, 4)]
    found = search.predecessors.states(4, wanted)
    assert {point_of(record): record.fingerprint for record in found.values()} == {3: wanted[0], 2 | 1 << 16: wanted[1]}


def test_a_level_that_was_not_expanded_is_kept() -> None:
    search = search_of(Grid(dims=2, size=4, sum=0))
    search.run()
    assert [point_of(record) for record in search.predecessors.kept(1)] == [0]


@pytest.mark.slow
def test_a_search_that_a_limit_ended_still_finds_the_way_back() -> None:
    # The spin makes the level take longer than the main thread waits before it looks at the limits again.
    grid = Grid(dims=3, size=16, delay=(1 << 20) - 1)
    search = search_of(grid, limits=Limits(states=200), threads=2)
    levels = search.run().levels
    sources = {source for source, target in explore(grid, len(levels) + 1).edges if target == 9}
    assert levels == level_sizes(3, 16)[: len(levels)]
    assert {point_of(edge.source) for edge in search.predecessors.of(9, fingerprint(9))} == sources == {8}


def test_no_step_leads_to_a_state_that_is_not_there() -> None:
    search = search_of(Grid(dims=2, size=4))
    search.run()
    assert search.predecessors.of(1, fingerprint(3)) == []
