"""Settings that a command line gives reach Spark; kmc says which application runs, and that executors are missing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark import SparkConf, SparkContext
from support.spark.checks import DIVIDED
from support.spark.cluster import waited_for
from support.specs.shipped import shipped_model

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.search import level_search
from kmc.errors import CommandLineError
from kmc.result import Counters, Limits
from kmc.shards.level.sharding import THIN_ROWS
from kmc_spark import application
from kmc_spark.application import application_line, executor_count
from kmc_spark.on_spark import sharded_on_spark
from kmc_spark.own_settings import executor_wait_of, thin_rows_of


def told(folder: Path, *words: str) -> Any:
    """The JSON object of `kmc` on Spark, in a process of its own."""
    logs = folder / "-".join(words[:1])
    logs.mkdir()
    settings = ("spark.kmc.thinRows=0", "spark.eventLog.enabled=true", f"spark.eventLog.dir={logs.as_uri()}")
    given = [word for setting in settings for word in ("--conf", setting)]
    command = [sys.executable, "-m", "kmc", *words, "--spark", "local[1]", "--json", *given]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert list(logs.iterdir()), "Spark has written its event log where the setting says"
    return json.loads(ran.stdout)


@pytest.mark.slow
def test_settings_of_a_check_and_of_tables_reach_spark(tmp_path: Path) -> None:
    # The option wins over the setting, and the driver makes the first level, which is thin.
    found = told(tmp_path, "check", "die_hard", "--continue", "--keep-states", "--thin-rows", "1")
    assert found["distinct"] == 16
    # The last job finds that no state is new.
    assert found["shards"]["job_levels"] == list(range(2, found["depth"] + 2))
    (run,) = (tmp_path / ".kmc" / "runs").iterdir()
    assert told(tmp_path, "states", str(run))["states"] == 16


def configured(text: str | None) -> SparkContext:
    """A context with a number of rows in its settings, or none."""
    return cast(SparkContext, SimpleNamespace(getConf=lambda: SimpleNamespace(get=lambda key: text)))


def test_the_rows_of_a_thin_level_are_a_setting() -> None:
    assert [thin_rows_of(configured(text)) for text in (None, "0", "12")] == [THIN_ROWS, 0, 12]
    for text in ("-1", "many", "1.5"):
        with pytest.raises(CommandLineError, match=r"spark\.kmc\.thinRows is a number of rows") as caught:
            thin_rows_of(configured(text))
        assert caught.value.code == "KMC648"


@pytest.mark.slow
def test_the_time_without_an_executor_is_a_setting(local_spark: SparkContext) -> None:
    def wait_of(master: str, text: str | None) -> float | None:
        conf = SparkConf()
        if text is not None:
            conf.set("spark.kmc.executorTimeout", text)
        return executor_wait_of(cast(SparkContext, SimpleNamespace(master=master, getConf=lambda: conf)))

    assert [wait_of(master, None) for master in ("spark://host:7077", "yarn", "local[2]")] == [600.0, None, None]
    assert [wait_of("spark://host:7077", text) for text in ("0", "90", "1h")] == [None, 90.0, 3600.0]
    assert wait_of("yarn", "2h") == 7200.0
    with pytest.raises(CommandLineError, match=r"spark\.kmc\.executorTimeout is a time, not 'soon'") as caught:
        wait_of("yarn", "soon")
    assert caught.value.code == "KMC648"


@pytest.mark.slow
def test_progress_has_the_number_of_executors_while_a_job_runs(
    tmp_path: Path, local_spark: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level_search, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(application, "_COUNT_SECONDS", 0.0)
    monkeypatch.setattr(application, "executor_count", lambda context: 0)
    reports: list[Counters] = []
    directory = RunDirectory.created(tmp_path, {})
    result = check_native(
        shipped_model("kraft", "smoke"),
        Limits(4),
        directory=directory,
        progress=reports.append,
        search_of=sharded_on_spark(local_spark, DIVIDED, thin_rows=0),
    )
    directory.discard()
    found = [report.shards for report in reports if report.shards is not None]
    assert 0 in {shards.executors for shards in found if shards.level is not None}
    assert {shards.executors for shards in found if shards.level is None} == {None}, "between levels nothing waits"
    assert result.shards is not None
    assert result.shards.levels_as_jobs == 5, "the level beyond the bound is one too"
    assert result.shards.job_levels == (1, 2, 3, 4, 5)
    assert {shards.is_job for shards in found if shards.level is not None and shards.level.phase != "check"} == {True}


def test_on_this_machine_alone_there_are_no_executors_to_count(local_spark: SparkContext) -> None:
    assert executor_count(local_spark) is None
    assert application_line(local_spark) is None


@pytest.mark.cluster
def test_an_application_on_a_cluster_is_named_with_its_executors(cluster_spark: SparkContext) -> None:
    assert waited_for(lambda: executor_count(cluster_spark) == 2 or None, "two executors")
    line = application_line(cluster_spark)
    assert line is not None
    assert re.fullmatch(r"Spark runs application app-\S+ with 2 executors so far\.", line), "its page is switched off"
