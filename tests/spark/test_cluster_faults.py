"""Whatever dies in an executor, and wherever, the result is the native engine's, or one error says what is wrong."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from pyspark import SparkContext
from support.oracles.results import told
from support.spark.checks import DIVIDED, checked_on_spark, told_of_smoke
from support.spark.cluster import Cluster, standalone_cluster, waited_for
from support.spark.faulty_daemon import VERSION_VARIABLE, Fault, happened, repeated
from support.spark.sessions import Sessions, submit_arguments
from support.specs.shipped import shipped_model

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.errors import SystemFault
from kmc.result import Bound, Limits, Result
from kmc.shards.level.level_watch import EndedTask, LevelWatch
from kmc.shards.on_one_machine import sharded

pytestmark = pytest.mark.cluster

DEATHS = {
    "a Python worker while it expands": Fault("before create rows", "die", times=2, every=7),
    "a Python worker while it merges": Fault("before create run", "die", times=2, every=7),
    "an executor while it expands": Fault("after write rows", "executor", every=9),
    "an executor while it merges": Fault("after write bits", "executor", every=9),
    # Every task of every job dies once, with its files written.
    "every first attempt to expand, before it answers": Fault("after expand", "die", times=10**6, first_attempts=True),
    "every first attempt to merge, before it answers": Fault("after merge", "die", times=10**6, first_attempts=True),
}


@pytest.mark.parametrize("name", DEATHS)
def test_a_death_changes_no_figure(name: str, cluster_spark: SparkContext, fault_file: Path, tmp_path: Path) -> None:
    fault = DEATHS[name]
    fault.plant(fault_file)
    found = checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), tmp_path)
    assert told(found) == told_of_smoke()
    assert happened(fault_file) >= fault.every


@pytest.mark.parametrize("point", ["after write rows", "after write run"])
def test_a_death_at_each_write_changes_no_figure(
    point: str, cluster_spark: SparkContext, fault_file: Path, tmp_path: Path
) -> None:
    Fault(point, "die", times=10**6, every=5, first_attempts=True).plant(fault_file)
    found = checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), tmp_path)
    assert told(found) == told_of_smoke()
    assert happened(fault_file) >= 5


def test_copies_of_slow_tasks_change_no_figure(
    cluster: Cluster, sessions: Sessions, fault_file: Path, tmp_path: Path
) -> None:
    # A copy is made of a task that does not end, though it has written its file.
    settings = ("spark.speculation=true", "spark.speculation.interval=50ms", "spark.speculation.multiplier=1.01")
    more = (
        *settings,
        "spark.speculation.quantile=0.1",
        "spark.speculation.minTaskRuntime=10ms",
        "spark.speculation.task.duration.threshold=1s",
    )
    context = sessions.context(cluster.master, submit_arguments(fault_file, *more))
    Fault("after expand", "wait", every=5, first_attempts=True).plant(fault_file)
    found = checked_on_spark(context, shipped_model("kraft", "smoke"), tmp_path)
    sessions.end()
    assert told(found) == told_of_smoke()
    assert happened(fault_file) >= 5
    assert repeated(fault_file) >= 1


def test_a_full_disk_ends_the_run_with_its_code(cluster_spark: SparkContext, fault_file: Path, tmp_path: Path) -> None:
    Fault("before write rows", "full", times=10**6).plant(fault_file)
    with pytest.raises(SystemFault, match="cannot save the run") as caught:
        checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), tmp_path)
    assert caught.value.code == "KMC550"


def test_a_task_that_always_dies_ends_the_run(cluster_spark: SparkContext, fault_file: Path, tmp_path: Path) -> None:
    Fault("before merge", "die", times=10**6).plant(fault_file)
    with pytest.raises(SystemFault, match="a Spark job failed") as caught:
        checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), tmp_path)
    assert caught.value.code == "KMC560"
    # The next run of the same application is whole.
    fault_file.unlink()
    again = tmp_path / "again"
    again.mkdir()
    assert told(checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), again)) == told_of_smoke()


@pytest.mark.parametrize(
    ("point", "prefix", "how"),
    [("after expand", "rows", "flip"), ("after merge", "bits", "cut"), ("after merge", "run", "flip")],
)
def test_a_damaged_file_ends_the_run(
    point: str, prefix: str, how: str, cluster_spark: SparkContext, fault_file: Path, tmp_path: Path
) -> None:
    folder = str(tmp_path / "checkpoint")
    Fault(point, how, every=10, folder=folder, prefix=prefix).plant(fault_file)
    with pytest.raises(SystemFault, match=f"damaged: {prefix}-|damaged: .*/{prefix}-") as caught:
        checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), tmp_path)
    assert caught.value.code == "KMC551"


def test_a_time_limit_cancels_the_tasks_that_run(cluster_spark: SparkContext, fault_file: Path, tmp_path: Path) -> None:
    Fault("before merge", "wait", every=10).plant(fault_file)
    found = checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), tmp_path, Limits(seconds=20))
    assert found.bound is Bound.TIME
    assert found.levels == told_of_smoke()["levels"][: len(found.levels)]
    # A task that still waited would keep its slot, and the next run would need more than there are.
    fault_file.unlink()
    again = tmp_path / "again"
    again.mkdir()
    assert told(checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), again)) == told_of_smoke()


def test_a_search_whose_cluster_is_gone_for_good_ends_and_goes_on_elsewhere(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, run = LevelWatch.ended, tmp_path / "run"
    for folder in (run, tmp_path / "cluster"):
        folder.mkdir()
    sessions.end()
    with standalone_cluster(tmp_path / "cluster", workers=1) as cluster, monkeypatch.context() as patch:
        settings = submit_arguments(tmp_path / "no-faults", "spark.kmc.executorTimeout=2s")
        context = sessions.context(cluster.master, settings)

        def lost(watch: LevelWatch, task: EndedTask) -> None:
            if task.level >= 16:
                cluster.end()
            ended(watch, task)

        patch.setattr(LevelWatch, "ended", lost)
        with pytest.raises(SystemFault, match="Spark has had no executor for 2 seconds") as caught:
            checked_on_spark(context, shipped_model("kraft", "smoke"), run)
        sessions.end()
    assert caught.value.code == "KMC565"
    directory = RunDirectory.opened(run)
    assert directory.manifest.levels >= 14
    found = check_native(
        shipped_model("kraft", "smoke"), Limits(), directory=directory, search_of=sharded(DIVIDED), settings=Settings()
    )
    directory.close()
    assert told(found) == told_of_smoke()


def result_or_fault(context: SparkContext, folder: Path) -> Result | SystemFault:
    """What a check of `kraft smoke` ends with."""
    try:
        return checked_on_spark(context, shipped_model("kraft", "smoke"), folder)
    except SystemFault as fault:
        return fault


@pytest.mark.parametrize("failures", [1, 8])
def test_an_executor_that_comes_late_with_another_kmc_is_refused(
    failures: int,
    cluster: Cluster,
    sessions: Sessions,
    fault_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = sessions.context(cluster.master, submit_arguments(fault_file, f"spark.task.maxFailures={failures}"))
    compared = fault_file.with_name("compared")
    compared.unlink(missing_ok=True)
    ended = LevelWatch.ended
    with ExitStack() as held:

        def joined_late(watch: LevelWatch, task: EndedTask) -> None:
            if task.level >= 16 and context.defaultParallelism == 2:
                held.enter_context(cluster.another_worker({VERSION_VARIABLE: "9.9.9"}))
                waited_for(lambda: True if context.defaultParallelism == 3 else None, "a third executor")
            ended(watch, task)

        monkeypatch.setattr(LevelWatch, "ended", joined_late)
        found = result_or_fault(context, tmp_path)
    if isinstance(found, SystemFault):
        assert found.code == "KMC561"
        assert "9.9.9" in found.message
    else:
        # Each time another executor ran the task at last.
        assert failures > 1
        assert told(found) == told_of_smoke()
    assert compared.exists()
    sessions.end()
