"""A search on Spark has the native engine's result, though no level of it is made in the driver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from support.oracles.results import CASES, told
from support.runs.ended_tasks import assert_all_told, ended_tasks
from support.runs.sharded_graphs import all_said
from support.spark.checks import checked_on_spark, told_of_smoke
from support.specs.failing_levels import CFG, SOURCE, cases
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits
from kmc.shards import known_runs
from kmc.shards.level.level_watch import LevelWatch
from kmc.shards.level.sharding import Sharding
from kmc_spark.jobs import Jobs

SMALL = Sharding(3, task_rows=3, segment_rows=2, slice_chunks=1, slots_min=8, piece=3, batch=2, chunk_rows=2)
"""So that small models too are cut into several tasks of several segments."""

KINDS = (
    "deadlock of many",
    "invariant",
    "action property",
    "an invariant fails outside of a constraint",
    "both symmetric, going on",
    "violations beyond the bound",
    "a view, symmetry and violations",
    "a violating state is refused and stored, under a view",
    "an action fails",
)
"""Cases of every kind of failure and reduction."""

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("name", KINDS)
def test_a_small_spec_has_one_result(name: str, tmp_path: Path, local_spark: SparkContext) -> None:
    case = CASES[name]
    limits = case.limits or Limits()
    model = model_of(tmp_path, case.source, case.cfg)
    wanted = told(check_native(model, limits, keep_going=case.keep_going))
    # Each other case has no rows of older levels, so that its trace needs a second search.
    history = KINDS.index(name) % 2 << 28
    found = checked_on_spark(
        local_spark,
        model,
        tmp_path,
        limits,
        keep_going=case.keep_going,
        sharding=SMALL,
        thin_rows=0,
        history_bytes=history,
    )
    assert told(found) == wanted


@pytest.mark.usefixtures("compiled_once")
def test_a_failure_beside_a_refuted_property_is_reported_as_in_memory(
    tmp_path: Path, local_spark: SparkContext
) -> None:
    model = model_of(tmp_path / "spec", SOURCE, CFG)
    of_all = accepted_problem(model)
    assert of_all is not None
    by_place = {(case.plan[1][0], case.later): case for case in cases(seed=5) if not case.on_both_ways}
    for failure, later in (("violated", 0), ("violated", 1), ("dead", 0), ("dead", -1)):
        case = by_place[failure, later]
        given = {"start": case.start(model), "problem": case.problem(of_all)}
        wanted = check_native(model, Limits(), **given)
        folder = tmp_path / f"{failure}{later}"
        folder.mkdir()
        found = checked_on_spark(
            local_spark, model, folder, sharding=SMALL, thin_rows=0, history_bytes=0, by_files=True, **given
        )
        assert all_said(found) == all_said(wanted), case


def test_a_shipped_refinement_has_one_result(tmp_path: Path, local_spark: SparkContext) -> None:
    model = shipped_model("kip_996", "own_vote_elects_in_the_log")
    found = checked_on_spark(local_spark, model, tmp_path, thin_rows=0)
    assert found.violation is not None
    assert found.violation.name == "EpochLog"
    assert told(found) == told(check_native(model, Limits()))


@pytest.mark.parametrize(("shards", "bits", "by_files"), [(1, 64, True), (5, 128, False), (5, 128, True)])
def test_a_golden_case_has_its_counts(
    shards: int, bits: int, by_files: bool, tmp_path: Path, local_spark: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = ended_tasks(monkeypatch)
    model = shipped_model("kraft", "smoke")
    sharding = replace(Sharding(shards, shards), segment_rows=64, task_rows=300)
    found = checked_on_spark(local_spark, model, tmp_path, sharding=sharding, bits=bits, thin_rows=0, by_files=by_files)
    assert (found.counters.generated, found.counters.distinct, found.counters.depth) == (23_167, 10_468, 30)
    assert told(found) == told_of_smoke()
    assert_all_told(tasks, found)


def test_known_states_are_divided_and_checked_by_jobs(
    tmp_path: Path, local_spark: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_runs, "CHECKED_WORDS", 1)
    names: list[str] = []
    ended: list[int] = []
    run, work_ended = Jobs.run, LevelWatch.work_ended

    def noted(self: Jobs, name: str, *given: Any) -> list[Any]:
        names.append(name)
        return run(self, name, *given)

    def told_of(self: LevelWatch, number: int) -> None:
        ended.append(number)
        work_ended(self, number)

    monkeypatch.setattr(Jobs, "run", noted)
    monkeypatch.setattr(LevelWatch, "work_ended", told_of)
    sharding = Sharding(6, shards_first=1, shard_states=20, shard_states_max=20)
    found = checked_on_spark(local_spark, shipped_model("kraft", "smoke"), tmp_path, Limits(12), sharding=sharding)
    assert told(found) == told(check_native(shipped_model("kraft", "smoke"), Limits(12)))
    assert found.shards is not None
    assert found.shards.shards_used == 6
    assert {"NewShard: 6 tasks", "NewShard: 4 tasks"} <= set(names)
    assert [name for name in names if name.startswith("CheckedRuns: ")] == names[-1:]
    assert set(range(6)) <= set(ended)
