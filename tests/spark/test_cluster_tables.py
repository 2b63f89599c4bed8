"""Whatever dies or is doubled while tables are written on Spark: each row is there once, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark import SparkContext
from support.runs.kept import checked
from support.spark.cluster import Cluster
from support.spark.faulty_daemon import Fault, happened, repeated
from support.spark.sessions import Sessions, submit_arguments
from support.spark.tables import both_written, rows_of_both
from support.specs.shipped import shipped_model

from kmc.errors import SystemFault
from kmc.frontend.model import Model
from kmc.result import Limits
from kmc.shards.level.sharding import Sharding

pytestmark = pytest.mark.cluster

MANY = 10**6

DEATHS = {
    "a Python worker in the middle of a file": Fault("after write group", "die", times=2, every=3),
    "an executor with files that are whole": Fault("after write edges", "executor", every=3),
    "every first attempt of states, with its file written": Fault("after write states", "die", MANY, 1, True),
    "every first attempt of parents, with its file written": Fault("after write parents", "die", MANY, 1, True),
}


@pytest.fixture
def smoke(tmp_path: Path) -> Model:
    """A model whose states are kept in the test's folder."""
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, Sharding(3, segment_rows=64, task_rows=300), limits=Limits(depth=12))
    return model


def same_on_spark(context: SparkContext, model: Model, folder: Path) -> None:
    """Tables that Spark writes have each row once, and their folders hold no other file."""
    here, there = both_written(context, model, folder, part_rows=200)
    assert here == there
    for table, (wanted, found) in rows_of_both(folder).items():
        assert wanted == found, table
        files = sorted(path.name for path in (folder / "there" / table).iterdir())
        assert files == [f"part-{number:05}.parquet" for number in range(len(files))]
    assert sorted(path.name for path in (folder / "there").iterdir()) == ["edges", "levels", "parents", "states"]
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("name", DEATHS)
def test_a_death_changes_no_row(
    name: str, cluster_spark: SparkContext, fault_file: Path, smoke: Model, tmp_path: Path
) -> None:
    fault = DEATHS[name]
    fault.plant(fault_file)
    same_on_spark(cluster_spark, smoke, tmp_path)
    assert happened(fault_file) >= fault.every


def test_copies_of_slow_tasks_change_no_row(
    cluster: Cluster, sessions: Sessions, fault_file: Path, smoke: Model, tmp_path: Path
) -> None:
    settings = (
        "spark.speculation=true",
        "spark.speculation.interval=50ms",
        "spark.speculation.multiplier=1.01",
        "spark.speculation.quantile=0.1",
        "spark.speculation.minTaskRuntime=10ms",
        "spark.speculation.task.duration.threshold=1s",
    )
    context = sessions.context(cluster.master, submit_arguments(fault_file, *settings))
    # The first attempt has written its file, and does not answer.
    Fault("after write edges", "wait", every=3, first_attempts=True).plant(fault_file)
    same_on_spark(context, smoke, tmp_path)
    sessions.end()
    assert happened(fault_file) >= 3
    assert repeated(fault_file) >= 1


def test_a_full_disk_is_an_error_and_no_table(
    cluster_spark: SparkContext, fault_file: Path, smoke: Model, tmp_path: Path
) -> None:
    Fault("before write states", "full", times=MANY).plant(fault_file)
    with pytest.raises(SystemFault, match="cannot write") as caught:
        both_written(cluster_spark, smoke, tmp_path, part_rows=200)
    assert caught.value.code == "KMC503"
    assert not (tmp_path / "there").exists()
    assert not list(tmp_path.glob(".*"))
