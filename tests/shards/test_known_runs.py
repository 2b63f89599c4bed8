"""The files of a search as a whole: tasks check, divide and remove them; Ctrl-C ends these, and progress shows them."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import told
from support.runs.shards import store_in
from support.specs.small import RIVER, model_of

from kmc.cli.text.progress_text import Scale, shard_fields, shards_text
from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory, saved_manifest
from kmc.engine.layout.search_outcome import Settings
from kmc.frontend.model import Model
from kmc.result import Bound, Counters, FilesInWork, Limits, Result, ShardProgress, Verdict
from kmc.shards import known_runs
from kmc.shards.executors.executor import ThreadExecutor
from kmc.shards.files.store import FolderStore, ShardStore
from kmc.shards.known_runs import CheckedRuns, KnownRuns, RemovedFiles, checking_tasks
from kmc.shards.level.expander import Stopped
from kmc.shards.level.level_watch import LevelWatch
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import SortedRun
from kmc.shards.on_one_machine import sharded
from kmc.shards.redivide import NewShard

TINY = Sharding(
    9, shards_first=2, shard_states=2, shard_states_max=2, task_rows=2, segment_rows=1, slice_chunks=1, slots_min=8
)


def run_of(number: int, words: int) -> SortedRun:
    """A run that no file has."""
    return SortedRun(f"run-1-{number}-0000000000000000", words, number, 1, 0)


@pytest.mark.parametrize(
    ("words", "sizes"),
    [([], []), ([1], [1]), ([10, 1, 1], [1, 2]), ([4, 5, 1, 9, 3], [3, 2]), ([99, 99], [1, 1])],
)
def test_tasks_check_each_run_once(words: list[int], sizes: list[int]) -> None:
    runs = [run_of(number, size) for number, size in enumerate(words)]
    tasks = checking_tasks([runs[:2], (), runs[2:]], 10)
    assert [run for task in tasks for run in task.runs] == runs
    assert [len(task.runs) for task in tasks] == sizes


class Watched:
    """An executor in this thread; `stops` says from which task on it is stopped."""

    def __init__(self, store: ShardStore, stops: int | None = None) -> None:
        self.ran: list[Any] = []
        self._store = store
        self._stops = stops

    def each(self, tasks: Sequence[Any], ended: Callable[[int], None] = lambda _: None) -> list[Any]:
        answers = []
        for number, task in enumerate(tasks):
            if number == self._stops:
                raise Stopped
            self.ran.append(task)
            answers.append(task.run(self._store))
            ended(number)
        return answers


@pytest.mark.parametrize("stops", [None, 0, 1])
def test_many_files_are_removed_by_tasks(stops: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_runs, "REMOVED_HERE_MAX", 5)
    monkeypatch.setattr(known_runs, "REMOVED_FILES", 4)
    store = store_in(tmp_path)
    names = [f"run-1-{number}-{number:016x}" for number in range(12)]
    for name in names:
        (tmp_path / name).touch()
    by_this_process: list[str] = []
    remove = FolderStore.remove

    def noted(self: FolderStore, wanted: Iterable[str]) -> None:
        listed = list(wanted)
        by_this_process.extend(listed)
        remove(self, listed)

    executor: Any = Watched(store_in(tmp_path), stops)
    runs = KnownRuns(executor, store, LevelWatch())
    runs.remove(names[:5])
    assert executor.ran == [], "few are not worth a task"
    monkeypatch.setattr(FolderStore, "remove", noted)
    runs.remove(iter(names[5:]))
    assert by_this_process[0] == names[5], "and this finds out who owns the run"
    assert store.names() == []
    if stops is None:
        assert executor.ran == [RemovedFiles(tuple(names[6:10])), RemovedFiles(tuple(names[10:]))]


def test_progress_counts_the_tasks_between_levels() -> None:
    watch = LevelWatch()
    watch.begin_work("checking the known states", 1_200)
    for number in (0, 7, 7):
        watch.work_ended(number)
    counters = Counters(generated=5, distinct=5, left=1, depth=10, seconds=1.0, memory_bytes=1)
    shards = ShardProgress(1, 1, 1, 1.0, 64, files_in_work=watch.files_in_work)
    assert shards_text(counters, shards).startswith(
        "Between levels, checking the known states: 2 of 1,200 tasks done. Since the beginning"
    )
    assert shard_fields(counters, shards, None, Scale())[1] == (
        "level 10 done, checking the known states: 2/1,200 tasks"
    )
    watch.end_work()
    watch.begin_work("removing files", 3)
    assert watch.files_in_work == FilesInWork("removing files", 0, 3)


@pytest.fixture
def river(tmp_path: Path, compiled_once: None) -> Model:
    """A model of some levels."""
    (tmp_path / "spec").mkdir()
    return model_of(tmp_path / "spec", RIVER, "CHECK_DEADLOCK FALSE")


def searched(model: Model, folder: Path, limits: Limits | None = None) -> Result:
    """The result of a search in shards, which goes on where the last one in this folder ended."""
    folder.mkdir(exist_ok=True)
    directory = RunDirectory.opened(folder) if saved_manifest(folder) is not None else RunDirectory.created(folder, {})
    try:
        return check_native(
            model,
            limits or Limits(),
            settings=Settings(save_seconds=1e9),
            directory=directory,
            search_of=sharded(TINY),
        )
    finally:
        directory.close()


def interrupting(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    """Press Ctrl-C when a task of this kind is about to run for the first time."""
    run, pressed = kind.run, list[bool]()

    def pressing(task: Any, store: ShardStore) -> Any:
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return run(task, store)

    monkeypatch.setattr(kind, "run", pressing)


def test_ctrl_c_in_the_last_check_leaves_a_run_that_goes_on(
    river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = told(searched(river, tmp_path / "whole"))
    for _ in range(2):  # in the last check, and in the one of the resumed run
        with monkeypatch.context() as patch:
            interrupting(patch, CheckedRuns)
            found = searched(river, tmp_path / "run")
        assert found.verdict is Verdict.INTERRUPTED
    assert told(searched(river, tmp_path / "run")) == wanted


@pytest.mark.parametrize("mistake", [TypeError("a mistake"), IndexError("another"), OSError(errno.EIO, "a third")])
def test_a_mistake_in_the_check_of_a_resumed_run_is_not_called_damage(
    mistake: Exception, river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(task: CheckedRuns, store: ShardStore) -> int:
        raise mistake

    wanted = told(searched(river, tmp_path / "whole"))
    searched(river, tmp_path / "run", Limits(states=3))
    with monkeypatch.context() as patch:
        patch.setattr(CheckedRuns, "run", failing)
        with pytest.raises(type(mistake), match=str(mistake.args[-1])):
            searched(river, tmp_path / "run")
    assert told(searched(river, tmp_path / "run")) == wanted


def test_ctrl_c_while_shards_are_divided_leaves_a_run_that_goes_on(
    river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = told(searched(river, tmp_path / "whole"))
    with monkeypatch.context() as patch:
        interrupting(patch, NewShard)
        found = searched(river, tmp_path / "run")
    assert found.verdict is Verdict.INTERRUPTED
    assert told(searched(river, tmp_path / "run")) == wanted


def test_a_limit_that_ended_the_search_does_not_end_the_check_of_its_states(
    river: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[int] = []
    each = ThreadExecutor.each

    def noted(self: ThreadExecutor, tasks: Sequence[Any], *given: Any) -> list[Any]:
        answers = each(self, tasks, *given)
        checked.extend(answer for task, answer in zip(tasks, answers, strict=True) if isinstance(task, CheckedRuns))
        return answers

    monkeypatch.setattr(ThreadExecutor, "each", noted)
    found = searched(river, tmp_path / "run", Limits(states=3))
    assert found.bound is Bound.STATES
    assert sum(checked) == found.counters.distinct
