"""Temporal properties on Spark: the verdicts, graphs and lassos of a search in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from support.runs.sharded_graphs import all_said, checked_in_memory, graphs_of_checks, unequal_fields
from support.specs.temporal import liveness_cases

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits
from kmc.shards.graph import graph_maker
from kmc.shards.level.sharding import Sharding
from kmc_spark import executor
from kmc_spark.jobs import Jobs
from kmc_spark.on_spark import sharded_on_spark

pytestmark = pytest.mark.cluster

PART_STATES = 64


def names_of_jobs(patch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that run from now on."""
    names: list[str] = []
    run = Jobs.run

    def named(jobs: Jobs, name: str, *given: Any) -> Any:
        names.append(name)
        return run(jobs, name, *given)

    patch.setattr(Jobs, "run", named)
    return names


@pytest.mark.parametrize("by_files", [True, False])
@pytest.mark.parametrize("name", ["c21_alloc_sf_ClientsWillReturn", "c46_cat_none", "c39_ring_44"])
def test_a_golden_case_has_the_answer_of_memory(
    name: str, by_files: bool, tmp_path: Path, local_spark: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = [case for case in liveness_cases() if case.id == name]
    model = case.model()
    monkeypatch.setattr(graph_maker, "PART_STATES", PART_STATES)
    monkeypatch.setattr(executor, "_FEW_TASKS", 2)
    jobs = names_of_jobs(monkeypatch)
    with graphs_of_checks() as graphs:
        wanted = checked_in_memory(model)
        directory = RunDirectory.created(tmp_path, {})
        search_of = sharded_on_spark(
            local_spark,
            Sharding(4, task_rows=64, segment_rows=16),
            by_files=by_files,
            thin_rows=max(wanted.levels) // 2,
        )
        found = check_native(
            model, Limits(), threads=2, directory=directory, search_of=search_of, problem=accepted_problem(model)
        )
        directory.discard()
    assert all_said(found) == all_said(wanted)
    assert unequal_fields(*graphs) == []
    if case.graph["distinct"] > 2 * PART_STATES:
        assert {name.split(":")[0] for name in jobs} >= {"KnowTask", "AskTask", "WriteTask"}
