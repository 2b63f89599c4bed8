"""Several tasks in one task of Spark, in threads: `spark.task.cpus`."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any
from unittest import mock

import pytest
from support.oracles.results import told
from support.runs.ended_tasks import assert_all_told, ended_tasks
from support.spark.checks import checked_on_spark, told_of_smoke
from support.spark.sessions import Sessions
from support.specs.shipped import shipped_model

from kmc.errors import SystemFault
from kmc.shards.level.sharding import Sharding
from kmc_spark import tasks

THREADS = 3


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A job whose tasks run in three threads, by workers that are numbers."""
    monkeypatch.setattr(tasks, "workers_of", lambda job, count: list(range(count)))
    return mock.Mock(value=tasks.SparkJob(mock.Mock(), mock.Mock(), THREADS))


def test_tasks_run_at_the_same_time_and_answer_in_their_order(job: Any) -> None:
    barrier = Barrier(THREADS)

    def run(worker: Any, task: int) -> tuple[int, Any]:
        barrier.wait(600)
        return task * task, worker

    found = list(tasks.each(job, range(2 * THREADS), run))
    assert [(task, answer) for task, (answer, _) in found] == [(n, n * n) for n in range(2 * THREADS)]
    # No two that ran together had the same worker.
    assert {worker for _, (_, worker) in found} == set(range(THREADS))


@pytest.mark.parametrize("count", [0, 1, THREADS - 1, 10 * THREADS + 1])
def test_any_number_of_tasks_is_done(count: int, job: Any) -> None:
    assert [answer for _, answer in tasks.each(job, range(count), lambda worker, task: -task)] == [
        -n for n in range(count)
    ]


def test_few_answers_wait(job: Any) -> None:
    done: list[int] = []
    found = tasks.each(job, range(100), lambda worker, task: done.append(task))
    next(found)
    assert len(done) <= 2 * THREADS
    assert isinstance(found, Generator)
    found.close()


def test_an_error_of_a_thread_is_that_of_the_task(job: Any) -> None:
    def run(worker: Any, task: int) -> int:
        if task == 1:
            raise SystemFault("KMC551", "by a test")
        return task

    with pytest.raises(SystemFault, match="by a test"):
        list(tasks.each(job, range(3), run))


@pytest.mark.cluster
@pytest.mark.parametrize("by_files", [False, True])
def test_tasks_of_several_cores_change_no_figure(
    by_files: bool, sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = sessions.context("local[4]", "--conf spark.task.cpus=2 pyspark-shell")
    ended = ended_tasks(monkeypatch)
    sharding = replace(Sharding(5, 5), segment_rows=64, task_rows=100)
    model = shipped_model("kraft", "smoke")
    found = checked_on_spark(context, model, tmp_path, sharding=sharding, thin_rows=0, by_files=by_files)
    assert told(found) == told_of_smoke()
    assert_all_told(ended, found)
