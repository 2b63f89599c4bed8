"""The executor on Spark without a cluster: its slots, the executors that progress shows, and a context that is over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from py4j.protocol import Py4JNetworkError
from support.runs.shards import store_in

from kmc.errors import SystemFault
from kmc.shards.files.word_files import WordFile
from kmc.shards.known_runs import RemovedFiles
from kmc.shards.level.tasks import LevelSource, RowsTask, SeekTask
from kmc_spark import application
from kmc_spark.application import ExecutorCount
from kmc_spark.executor import SparkExecutor
from kmc_spark.jobs import Jobs

SOURCE = LevelSource((), WordFile("words-0-0-0", 0, 0))
TASKS = [RowsTask(2, 0, ())]
MANY = [RemovedFiles((f"run-1-{number}-0",)) for number in range(8)]

Call = Callable[[SparkExecutor], object]
CALLS: dict[str, Call] = {
    "each": lambda executor: executor.each(MANY),
    "check": lambda executor: executor.check(SOURCE, TASKS, stored=True),
    "seek": lambda executor: executor.seek(SOURCE, [SeekTask(TASKS[0], (), steps=False)]),
    "level": lambda executor: executor.level(SOURCE, [], [mock.Mock(level=2)], lambda _: None),
}


class Context(mock.MagicMock):
    """A context of some slots that runs no job."""

    defaultParallelism = 2  # Spark's name

    def getConf(self) -> mock.Mock:  # Spark's name
        return mock.Mock(get=lambda key: None)

    def accumulator(self, *_: object) -> mock.Mock:
        return mock.Mock(value=[])


@pytest.fixture
def context() -> Context:
    """A context that is up."""
    return Context()


@pytest.fixture
def executor(context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkExecutor:
    """An executor that makes every level by a job, and counts no executors each time that it looks."""
    monkeypatch.setattr(application, "executor_count", lambda _: 0)
    monkeypatch.setattr(application, "_COUNT_SECONDS", 0.0)
    return SparkExecutor(context, mock.Mock(), mock.Mock(), store_in(tmp_path), lambda: None, thin_rows=0)


def test_slots_are_those_of_the_executors_that_are_there_now(executor: SparkExecutor, context: Context) -> None:
    assert executor.slots == 2
    context.defaultParallelism = 6
    assert executor.slots == 6, "before the tasks of the next job are cut"
    context.defaultParallelism = 0
    assert executor.slots == 1


@pytest.mark.parametrize("call", CALLS)
def test_no_executor_is_missing_when_a_job_has_ended(
    call: str, executor: SparkExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int | None] = []

    def run(jobs: Jobs, *_: Any) -> list[Any]:
        jobs._poll()
        seen.append(executor.cluster.executors)
        return []

    monkeypatch.setattr(Jobs, "run", run)
    CALLS[call](executor)
    assert (seen, executor.cluster.executors) == ([0], None), "the driver may make the next level"


@pytest.mark.parametrize(("counts", "waited"), [((0, 0, 0, 0), 3), ((0, 0, 1, 0, 0, 0, 0), 6), ((0, None, 0, 0), None)])
def test_a_job_ends_after_it_had_no_executor_for_long(
    counts: tuple[int | None, ...], waited: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, clock = iter(counts), iter(range(100, 200))
    monkeypatch.setattr(application, "executor_count", lambda _: next(answers))
    monkeypatch.setattr(application, "time", mock.Mock(monotonic=lambda: next(clock)))
    executors = ExecutorCount(mock.Mock(), 3.0)
    for number in range(len(counts)):
        if number == waited:
            with pytest.raises(SystemFault, match="has had no executor for 3 seconds") as caught:
                executors.update()
            assert caught.value.code == "KMC565"
        else:
            executors.update()


def test_waiting_begins_anew_with_each_job(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100, 200))
    monkeypatch.setattr(application, "executor_count", lambda _: 0)
    monkeypatch.setattr(application, "time", mock.Mock(monotonic=lambda: next(clock)))
    executors = ExecutorCount(mock.Mock(), 3.0)
    for _ in range(3):
        executors.update()
        executors.update()
        executors.end_job()


def test_a_job_whose_poll_fails_is_cancelled() -> None:
    ends = threading.Event()
    context = mock.MagicMock()
    context.cancelJobGroup.side_effect = lambda _: ends.set()

    def fail() -> None:
        raise SystemFault("KMC565", "no executor", help="")

    with pytest.raises(SystemFault, match="no executor"):
        Jobs(context, fail).run("a job that waits", lambda: [ends.wait()])
    assert ends.is_set()


@pytest.mark.parametrize("call", [*CALLS, "slots"])
def test_a_context_that_is_over_is_a_job_that_failed(call: str, executor: SparkExecutor, context: Context) -> None:
    over = mock.PropertyMock(side_effect=Py4JNetworkError("the JVM is gone"))
    with mock.patch.object(Context, "defaultParallelism", over), pytest.raises(SystemFault, match="is gone") as caught:
        _ = executor.slots if call == "slots" else CALLS[call](executor)
    assert caught.value.code == "KMC560"
