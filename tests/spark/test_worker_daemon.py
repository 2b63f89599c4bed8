"""Python workers on this machine begin with what their tasks import, from a process that has one thread."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from pyspark import SparkConf, SparkContext

from kmc_spark.session import with_our_settings
from kmc_spark.worker_daemon import without_copies

PACKAGES = "/env/lib/python3/site-packages"
COPIES = [f"{PACKAGES}/pyspark/python/lib/pyspark.zip", f"{PACKAGES}/pyspark/python/lib/py4j-0.10.9.9-src.zip"]
DAEMON = "spark.python.daemon.module"


def test_the_zip_files_of_an_installed_pyspark_are_left_out() -> None:
    assert without_copies(["", *COPIES, "/a.zip", PACKAGES]) == ["", "/a.zip", PACKAGES]


@pytest.mark.parametrize("path", [[*COPIES, "/other"], ["/opt/spark/python/lib/pyspark.zip", PACKAGES], ["", "/x.zip"]])
def test_the_zip_files_of_another_spark_stay(path: list[str]) -> None:
    assert without_copies(path) == path


def test_a_worker_is_forked_by_a_process_of_one_thread() -> None:
    program = (
        "import os; from kmc_spark.worker_daemon import prepare; prepare(); print(len(os.listdir('/proc/self/task')))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "1\n"


def told(_: Iterable[int]) -> Iterator[tuple[str, list[str]]]:
    """The command of the process that forked this one, and the places of its modules."""
    yield Path(f"/proc/{os.getppid()}/cmdline").read_bytes().decode(), sys.path


@pytest.mark.slow
def test_tasks_on_this_machine_run_in_such_workers(local_spark: SparkContext) -> None:
    for command, path in local_spark.parallelize(range(2), 2).mapPartitions(told).collect():
        assert "kmc_spark.worker_daemon" in command
        assert not [place for place in path if place.endswith("pyspark.zip")], "PySpark is compiled already"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "module"),
    [
        ({"spark.master": "local[2]"}, "kmc_spark.worker_daemon"),
        ({"spark.master": "local[2]", DAEMON: "mine"}, "mine"),
        ({"spark.master": "local[2]", "spark.pyspark.python": "/another/python"}, None),
        ({"spark.master": "spark://host:7077"}, None),
    ],
)
def test_other_hosts_and_other_pythons_have_the_daemon_of_spark(
    settings: dict[str, str], module: str | None, local_spark: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert with_our_settings(SparkConf(loadDefaults=False), settings).get(DAEMON) == module
