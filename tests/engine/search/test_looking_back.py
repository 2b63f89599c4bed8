"""What a search keeps to look back at, how it goes back where it keeps nothing, and the counters of its threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.kernels.grid import Grid, point_of

from kmc.engine.layout.frontier import Level, RowBlock
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.native.memory import Memory
from kmc.engine.native.words import Mask
from kmc.engine.search import counters
from kmc.engine.search.breadth_first import Search
from kmc.engine.search.history import History
from kmc.engine.search.worker import Worker
from kmc.engine.stores.finding_log import FindingLog
from kmc.engine.stores.memory_budget import MemoryBudget


class Budget(MemoryBudget):
    """A budget that notes what is spilled and what is given back, and is short of memory when it is told so."""

    def __init__(self) -> None:
        super().__init__(Settings(), None)
        self.spilled: list[tuple[int, int]] = []
        self.released: list[int] = []

    def spill(self, level: int, blocks: Any) -> None:
        """Note the level and the number of its blocks."""
        self.spilled.append((level, len(blocks)))

    def release(self, number: int, level: Level) -> None:
        """Note the level."""
        self.released.append(number)


class File:
    """A file that a level was read back from."""

    def __init__(self) -> None:
        self.dropped = 0

    def drop_pages(self) -> None:
        """Count how often."""
        self.dropped += 1


def level_of(words: int, file: Any = None) -> Level:
    """A level whose rows lie in one block of so many words."""
    return Level(1, np.zeros((1, 3), np.int64), (RowBlock(Memory(words)),), file)


SIZE = level_of(1 << 9).bytes


def kept_levels(levels: int, budget: Budget, bytes_max: int) -> History:
    """A history to which levels of one size were added."""
    history = History(budget, bytes_max)
    for number in range(1, levels + 1):
        history.keep(number, level_of(1 << 9))
    return history


class TestHistory:
    @pytest.mark.parametrize(
        ("bytes_max", "kept", "peak"),
        [
            (0, [4], 2),
            (SIZE, [4], 2),
            (2 * SIZE - 1, [4], 2),
            (2 * SIZE, [3, 4], 3),
            (3 * SIZE, [2, 3, 4], 4),
            (4 * SIZE, [1, 2, 3, 4], 4),
        ],
    )
    def test_the_newest_levels_are_kept_up_to_the_limit(self, bytes_max: int, kept: list[int], peak: int) -> None:
        budget = Budget()
        history = kept_levels(4, budget, bytes_max)
        assert list(history) == kept
        assert [number in history for number in range(6)] == [number in kept for number in range(6)]
        assert budget.released == [number for number in range(1, 5) if number not in kept]
        assert history.peak_bytes == peak * SIZE

    def test_the_newest_level_is_kept_however_large_it_is(self) -> None:
        history = History(Budget(), SIZE)
        assert history.peak_bytes == 0
        history.keep(7, level := level_of(1 << 12))
        assert (list(history), history[7] is level) == ([7], True)

    def test_the_memory_of_a_level_is_read_twice_however_many_are_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A search may have millions of levels."""
        reads: list[Level] = []
        size = Level.bytes

        def counted(level: Level) -> int:
            reads.append(level)
            measured: int = size.__get__(level)
            return measured

        monkeypatch.setattr(Level, "bytes", property(counted))
        assert list(kept_levels(200, Budget(), 1000 * SIZE)) == list(range(1, 201))
        assert len(reads) == 400

    def test_blocks_in_files_count_for_nothing(self) -> None:
        budget, levels = Budget(), [level_of(1 << 9) for _ in range(3)]
        history = History(budget, 2 * SIZE)
        history.keep(1, levels[0])
        history.keep(2, levels[1])
        levels[0].blocks[0].on_disk = True
        history.spill()
        history.keep(3, levels[2])
        assert (list(history), history.peak_bytes) == ([1, 2, 3], 2 * SIZE)

    def test_only_the_newest_level_is_kept_when_memory_is_short(self) -> None:
        budget = Budget()
        budget.spilling = True
        assert list(kept_levels(3, budget, 100 * SIZE)) == [3]

    def test_a_level_that_is_kept_goes_to_its_file_if_memory_is_short(self) -> None:
        budget = Budget()
        kept_levels(2, budget, 100 * SIZE)
        assert budget.spilled == [(1, 1), (2, 1)]

    def test_all_but_the_newest_level_are_given_back_on_request(self) -> None:
        budget = Budget()
        history = kept_levels(3, budget, 100 * SIZE)
        history.drop_all_but_the_newest()
        assert (list(history), budget.released) == ([3], [1, 2])

    def test_all_levels_are_moved_to_files_and_their_pages_given_back(self) -> None:
        budget, file = Budget(), File()
        history = kept_levels(1, budget, 100 * SIZE)
        history.keep(2, level_of(1 << 9, file))
        budget.spilled.clear()
        history.spill()
        assert (budget.spilled, file.dropped) == ([(1, 1), (2, 1)], 1)


def searched(grid: Grid, history_bytes: int) -> Search:
    """A search that has run and that keeps so many bytes to look back at."""
    search = Search(grid.kernels, grid.initial, Settings(deadlock=False, history_bytes=history_bytes))
    search.run()
    return search


class TestPredecessors:
    GRID = Grid(dims=2, size=4)

    @pytest.mark.slow
    def test_levels_that_are_not_kept_are_found_again(self) -> None:
        kept, forgotten = searched(self.GRID, 1 << 28).predecessors, searched(self.GRID, 0).predecessors
        assert kept.deepest == forgotten.deepest == 7
        for level in (6, 1, 3, 2):
            wanted = [record.fingerprint for record in kept.kept(level)]
            assert forgotten.states(level, wanted).keys() == kept.states(level, wanted).keys() == set(wanted)
        with pytest.raises(KeyError):
            forgotten.kept(3)

    def test_there_are_no_states_behind_the_last_level(self) -> None:
        found = searched(self.GRID, 1 << 28).predecessors
        (last,) = found.kept(7)
        assert list(found.states(7, [last.fingerprint])) == [last.fingerprint]
        assert found.states(8, [last.fingerprint]) == {}

    def test_before_a_search_there_is_no_deepest_level(self) -> None:
        assert Search(self.GRID.kernels, self.GRID.initial, Settings()).predecessors.deepest == 0

    def test_a_level_is_covered_where_it_is_kept_or_an_earlier_search_keeps_it(self) -> None:
        found = searched(self.GRID, 0).predecessors
        assert [found.covers(level) for level in range(1, 9)] == [False] * 6 + [True, False]
        (first,) = self.GRID.initial
        assert found.states(3, [first.fingerprint]) == {}
        assert [found.covers(level) for level in range(1, 9)] == [False, False, True, False, False, False, True, False]

    @pytest.mark.slow
    def test_an_earlier_search_is_used_again_where_it_keeps_the_level(self, monkeypatch: pytest.MonkeyPatch) -> None:
        search = searched(self.GRID, 0)
        found, again = search.predecessors, search.predecessors._search_again
        runs: list[int] = []

        def recorded(level: int) -> Any:
            runs.append(level)
            return again(level)

        monkeypatch.setattr(found, "_search_again", recorded)
        for level in (3, 3, 5, 3):
            found.states(level, [1])
        assert runs == [3, 5, 3]

    def test_steps_into_a_state_are_those_of_its_rank_and_inside_of_the_constraints(self) -> None:
        grid = Grid(dims=2, size=4, gate=1, forgets=True)
        found = searched(grid, 1 << 28).predecessors
        for record in found.kept(3):
            edges = found.steps_into(2, [record.fingerprint])[record.fingerprint]
            assert edges
            for rank in {grid.kernels.rank_of(edge.successor.row) for edge in edges}:
                of_rank = [edge for edge in edges if grid.kernels.rank_of(edge.successor.row) == rank]
                inside = [edge for edge in of_rank if grid.kernels.is_inside(edge.source.row, edge.successor.row)]
                assert points(found.of(2, record.fingerprint, rank=rank)) == points(inside)
                assert points(found.of(2, record.fingerprint, rank=rank, inside=False)) == points(of_rank)
            every = found.of(2, record.fingerprint, inside=False)
            assert points(every) == points(edges) != points(found.of(2, record.fingerprint))


def points(edges: Any) -> list[tuple[Any, Any]]:
    """The steps as pairs of points."""
    return [(point_of(edge.source), point_of(edge.successor)) for edge in edges]


def worker_with(number: int) -> Worker:
    """A worker whose counters tell it from others."""
    worker = Worker(MemoryBudget(Settings(), None), batch=4, actions=2, properties=3)
    worker.generated.array[:] = [number, 10 * number]
    worker.failed.array[:] = [0, number, 100]
    worker.thread.cut, worker.thread.stored, worker.thread.expanded = number, 2 * number, 3 * number
    worker.thread.reached = Mask(1 << number)
    worker.rows_words = 5 * number
    return worker


class TestCounters:
    def test_counters_are_those_of_all_threads(self) -> None:
        workers = [worker_with(1), worker_with(3)]
        assert counters.cut(workers) == 4
        assert counters.stored(workers) == 8
        assert counters.expanded(workers) == 12
        assert counters.generated(workers) == 44
        assert counters.reached(workers) == 0b1010

    def test_a_thread_can_be_set_to_what_a_snapshot_says_of_all(self) -> None:
        log = FindingLog(2, repeated=False)
        log.counted[:] = [4, 5]
        taken = counters.snapshot([worker_with(1), worker_with(3)], log, [1, 7], 6, 2.5, 4.5)
        assert (taken.levels, taken.reachable_asked, taken.seconds, taken.cpu_seconds) == ((1, 7), 6, 2.5, 4.5)
        assert (taken.generated, taken.failed) == ((4, 40), (0, 4, 200))
        assert (taken.cut, taken.stored, taken.expanded, taken.rows_words, taken.reached) == (4, 8, 12, 20, 0b1010)
        assert (taken.findings, taken.counted, taken.met) == ((), (4, 5), 0)
        counters.restore(restored := worker_with(9), taken)
        assert counters.snapshot([restored], log, [1, 7], 6, 2.5, 4.5) == taken
