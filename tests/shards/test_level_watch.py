"""Progress of a search in shards: what is known of a level in work, and of the disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.runs.ended_tasks import assert_all_told, ended_tasks
from support.specs.shipped import shipped_model

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.search import level_search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Counters, Limits, Result
from kmc.shards.files.frontier_file import FrontierFile
from kmc.shards.files.store import FolderStore
from kmc.shards.files.word_files import WordFile
from kmc.shards.level.level_watch import EndedTask, LevelWatch, next_level_bytes
from kmc.shards.level.run_state import LevelFiles, RunState
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

DIVIDED = replace(Sharding(3), segment_rows=64, task_rows=300)
WORDS = WordFile("words-0-0-0", 0, 0)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[RunDirectory]:
    """The folder of a run."""
    found = RunDirectory.created(tmp_path, {})
    yield found
    found.discard()


def checked(directory: RunDirectory, processes: int | None, reports: list[Counters]) -> Result:
    return check_native(
        shipped_model("kraft", "smoke"),
        Limits(),
        threads=2,
        directory=directory,
        search_of=sharded(DIVIDED, processes),
        progress=reports.append,
    )


@pytest.mark.parametrize("processes", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_an_executor_tells_of_every_task(
    processes: int | None, directory: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = ended_tasks(monkeypatch)
    assert_all_told(tasks, checked(directory, processes, []))


@pytest.mark.slow
@pytest.mark.usefixtures("rows")
def test_counters_between_levels_are_those_of_whole_levels(
    directory: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level_search, "PROGRESS_SECONDS", 0.0)
    reports: list[Counters] = []
    result = checked(directory, None, reports)
    between = [found for found in reports if found.shards is not None and found.shards.level is None]
    assert [found.distinct for found in between] == [sum(result.levels[: found.depth]) for found in between]
    assert {found.depth for found in between} == set(range(1, len(result.levels) + 1))
    last = between[-1].shards
    assert result.shards is not None
    assert last is not None
    assert last.sent_bytes == result.shards.sent_bytes
    assert last.written_bytes == result.shards.rows_bytes + result.shards.runs_bytes
    assert last.disk_bytes == result.shards.disk_bytes
    files = [directory.files.path / name for name in FolderStore(directory.files).names()]
    assert sum(file.stat().st_size for file in files) == result.shards.disk_bytes


@pytest.mark.slow
@pytest.mark.usefixtures("rows")
def test_a_disk_that_is_too_small_is_told_at_once(directory: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_search, "PROGRESS_SECONDS", 1e9)
    monkeypatch.setattr(FolderStore, "free_bytes", lambda store: 10_000)
    reports: list[Counters] = []
    checked(directory, None, reports)
    assert reports
    for found in (report.shards for report in reports):
        assert found is not None
        assert found.next_level_bytes is not None
        assert found.free_bytes == 10_000
        assert found.next_level_bytes > 10_000


def test_a_search_that_is_over_expects_no_next_level(directory: RunDirectory) -> None:
    model = shipped_model("two_phase_commit", "unfair")
    reports: list[Counters] = []
    check_native(
        model,
        Limits(),
        directory=directory,
        search_of=sharded(DIVIDED),
        progress=reports.append,
        problem=accepted_problem(model),
    )
    afterwards = [report.shards for report in reports if report.activity]
    assert afterwards
    assert all(found is not None and found.next_level_bytes is None for found in afterwards)


def expanding(number: int, seconds: float, level: int = 7) -> EndedTask:
    return EndedTask(level, False, number, seconds, 0)


def merging(number: int, seconds: float, new: int) -> EndedTask:
    return EndedTask(7, True, number, seconds, 0, new=new)


def test_a_level_goes_through_its_phases() -> None:
    assert LevelWatch().in_work is None
    watch = LevelWatch()
    watch.begin(7, 3, 2)
    found = []
    for task in (expanding(0, 1.0), expanding(2, 1.0), expanding(1, 3.0), merging(1, 1.0, 10), merging(0, 1.0, 5)):
        watch.ended(task)
        assert watch.in_work is not None
        found.append((watch.in_work.phase, watch.in_work.done, watch.in_work.tasks, watch.in_work.new))
    assert found == [
        ("expand", 1, 3, 0),
        ("expand", 2, 3, 0),
        ("merge", 0, 2, 0),
        ("merge", 1, 2, 10),
        ("check", 0, 0, 15),
    ]
    watch.end()
    assert watch.in_work is None
    assert watch.tasks == []
    assert watch.task_skew == 3.0


def test_the_skew_is_that_of_several_tasks() -> None:
    watch = LevelWatch()
    watch.begin(7, 9, 1)
    skews = []
    for number, seconds in enumerate((2.0, 4.0, 1.0, 8.0, 2.0)):
        watch.ended(expanding(number, seconds))
        assert watch.in_work is not None
        skews.append(watch.in_work.task_skew)
    assert skews == [None, None, 2.0, 8 / 3, 4.0]


def test_a_repeated_task_counts_once_and_a_late_one_not_at_all() -> None:
    watch = LevelWatch()
    watch.begin(7, 9, 1)
    for task in (expanding(0, 1.0), expanding(0, 2.0), expanding(1, 1.0, level=6)):
        watch.ended(task)
    assert watch.tasks == [expanding(0, 2.0)]


def level_of(words: int) -> LevelFiles:
    return LevelFiles((FrontierFile("rows-1-0-0", 0, words, words, 1, (1,), 0),), ())


def test_the_next_level_is_expected_to_grow_as_the_last_one() -> None:
    state = RunState(1, WORDS, WORDS, {3: level_of(1_500)})
    # 12,000 bytes of rows and 100 fingerprints twice, times 2.
    assert next_level_bytes(state, (1, 50, 100), wide=False) == 27_200
    assert next_level_bytes(state, (1, 50, 100), wide=True) == 30_400
    assert next_level_bytes(RunState(1, WORDS, WORDS, {1: level_of(9)}), (1,), wide=False) is None
