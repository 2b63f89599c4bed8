"""A search on a real cluster, and on Spark's own imitation of one, has the native engine's result."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from pyspark import SparkContext
from support.oracles.results import CASES, told
from support.spark.checks import checked_on_spark, told_of_smoke
from support.spark.cluster import SPARK_HOME, Cluster, processes, standalone_cluster
from support.spark.sessions import Sessions
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.result import Limits

pytestmark = pytest.mark.cluster


def test_a_golden_case_on_two_workers_has_its_counts(cluster_spark: SparkContext, tmp_path: Path) -> None:
    found = checked_on_spark(cluster_spark, shipped_model("kraft", "smoke"), tmp_path, thin_rows=100)
    assert told(found) == told_of_smoke()
    assert cluster_spark.defaultParallelism == 2


@pytest.mark.usefixtures("compiled_once")
def test_a_violation_on_two_workers_has_its_trace(cluster_spark: SparkContext, tmp_path: Path) -> None:
    case = CASES["both symmetric, going on"]
    model = model_of(tmp_path, case.source, case.cfg)
    limits = case.limits or Limits()
    found = checked_on_spark(cluster_spark, model, tmp_path, limits, keep_going=case.keep_going, thin_rows=0)
    assert found.violation is not None
    assert told(found) == told(check_native(model, limits, keep_going=case.keep_going))


def test_executors_of_a_local_cluster_give_the_same(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its workers write what they do below SPARK_HOME, so it gets one of links.
    home = tmp_path / "home"
    home.mkdir()
    for part in SPARK_HOME.iterdir():
        (home / part.name).symlink_to(part)
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))
    monkeypatch.setenv("PYTHONPATH", os.fspath(Path(SPARK_HOME).parent))
    context = sessions.context("local-cluster[2,1,1024]")
    found = checked_on_spark(context, shipped_model("kraft", "smoke"), tmp_path)
    sessions.end()
    assert told(found) == told_of_smoke()
    assert (home / "work").is_dir()
    assert not (SPARK_HOME / "work").exists()


def test_the_two_lines_of_the_readme_start_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (Path(__file__).parents[2] / "distributed" / "README.md").read_text(encoding="utf-8")
    master, worker = re.findall(r"^    (\$\(python .*/bin/spark-class .*)$", readme, re.MULTILINE)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    cluster = Cluster(tmp_path)
    try:
        # The port of the page may be taken here.
        cluster.begin_master(shell(master.replace("HOST", "127.0.0.1").replace("7077", "0")))
        work = worker.replace("/tmp/spark-work", str(tmp_path / "work"))
        cluster.begin_worker(shell(work.replace("spark://HOST:7077", cluster.master)))
        assert len(members(cluster)) == 2
    finally:
        cluster.end()
    assert not (SPARK_HOME / "work").exists()


def shell(line: str) -> list[str]:
    """A command that runs a line as a shell does, in its own process."""
    return ["bash", "-c", f"exec {line}"]


def test_a_cluster_leaves_no_process(tmp_path: Path) -> None:
    with standalone_cluster(tmp_path, workers=1) as cluster:
        assert len(members(cluster)) == 2
    assert members(cluster) == []
    assert not [process for process in processes() if str(tmp_path) in process.command]


def members(cluster: Cluster) -> list[str]:
    return [process.command for process in cluster.members()]
