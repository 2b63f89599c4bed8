"""The driver is killed, interrupted or submitted: a run goes on with Spark or without it, and no process stays."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.runs.s3_server import CREDENTIALS, S3Server
from support.spark.checks import THIN_ROWS
from support.spark.cluster import SPARK_HOME, Cluster, processes, waited_for
from support.spark.faulty_daemon import Fault, happened
from support.spark.sessions import Sessions, submit_arguments

from kmc_spark.java import java_variables

pytestmark = pytest.mark.cluster

# `kmc`, with jobs for small levels too. What is planted learns which process is the driver.
PROGRAM = f"""
import json, os, sys
from dataclasses import replace
from pathlib import Path
from kmc_spark import executor, on_spark

made = on_spark.sharded_on_spark
def divided(context, asked, **more):
    more["thin_rows"] = {THIN_ROWS}
    return made(context, replace(asked, segment_rows=64, task_rows=300), **more)
on_spark.sharded_on_spark = divided
file = Path(sys.argv[1])
if file.exists():
    fault = json.loads(file.read_text())
    file.write_text(json.dumps({{**fault, "driver": os.getpid()}}))
sys.argv[1:] = sys.argv[2:]
from kmc.cli.main import main
main()
"""

CHECK = ("check", "kraft", "smoke", "--json", "--save-every", "0")
SUBMIT = Path(__file__).resolve().parents[2] / "distributed" / "submit"


class Driver:
    """Runs `kmc` in processes of its own, with what lies in `file` planted in its executors."""

    def __init__(self, cluster: Cluster, file: Path, folder: Path) -> None:
        self._cluster, self._file, self._folder = cluster, file, folder
        self.spark = ("--spark", cluster.master)
        self.settings: tuple[str, ...] = ()

    def run(self, *words: str, status: int, failpoint: str | None = None) -> dict[str, Any]:
        """The JSON object of a command that ends with a status."""
        variables = {**os.environ, "PYSPARK_SUBMIT_ARGS": submit_arguments(self._file, *self.settings)}
        if failpoint is not None:
            variables["KMC_FAILPOINT"] = failpoint
        command = [sys.executable, "-c", PROGRAM, str(self._file), *words]
        ran = subprocess.run(
            command, cwd=self._folder, env=variables, capture_output=True, text=True, timeout=240, check=False
        )
        assert ran.returncode == status, ran.stdout + ran.stderr
        return json.loads(ran.stdout) if ran.stdout else {}

    @property
    def saved(self) -> str:
        """The folder of the only run."""
        (run,) = (self._folder / ".kmc" / "runs").iterdir()
        return str(run)

    def leaves_no_java(self) -> bool:
        """Whether the JVM of the driver ends, and the executors with it."""

        def alone() -> bool | None:
            of_cluster = {process.number for process in self._cluster.members()}
            ours = [process for process in processes() if self._cluster.master in process.command]
            executors = [process for process in self._cluster.members() if "CoarseGrained" in process.command]
            drivers = [process for process in ours if process.number not in of_cluster]
            return True if not drivers and not executors else None

        return waited_for(alone, "the end of a driver's JVM")


@pytest.fixture
def driver(cluster: Cluster, sessions: Sessions, fault_file: Path, tmp_path: Path) -> Driver:
    """Drivers have the cluster for themselves."""
    sessions.end()
    return Driver(cluster, fault_file, tmp_path)


def figures(found: dict[str, Any]) -> tuple[Any, ...]:
    return found["result"], found["generated"], found["distinct"], found["depth"]


SMOKE = ("ok", 23_167, 10_468, 30)


def test_a_driver_killed_within_a_phase_is_resumed_on_spark(driver: Driver, fault_file: Path) -> None:
    Fault("after write bits", "driver", every=12).plant(fault_file)
    driver.run(*CHECK, *driver.spark, status=-signal.SIGKILL)
    assert happened(fault_file) >= 12
    assert driver.leaves_no_java()
    fault_file.unlink()
    found = driver.run("check", "--resume", driver.saved, "--json", *driver.spark, status=0)
    assert figures(found) == SMOKE


def test_a_driver_whose_machine_is_lost_is_resumed_from_a_storage(driver: Driver, s3: S3Server, tmp_path: Path) -> None:
    address = s3.address(tmp_path.name)
    driver.settings = tuple(f"spark.executorEnv.{name}={value}" for name, value in CREDENTIALS.items())
    check = (*CHECK, "--storage", address, *driver.spark)
    driver.run(*check, status=-signal.SIGKILL, failpoint="after put manifest:18")
    assert driver.leaves_no_java()
    shutil.rmtree(driver.saved)
    (run,) = driver.run("runs", address, "--json", status=0)["runs"]
    assert figures(driver.run("check", "--resume", run["folder"], "--json", *driver.spark, status=0)) == SMOKE
    assert {name.split("/")[-1] for name in s3.names(tmp_path.name)} == {"model.cfg", "result.json"}


def test_a_driver_killed_between_levels_is_resumed_without_spark(driver: Driver) -> None:
    driver.run(*CHECK, *driver.spark, status=-signal.SIGKILL, failpoint="before rename run.json:18")
    assert driver.leaves_no_java()
    assert figures(driver.run("check", "--resume", driver.saved, "--json", status=0)) == SMOKE


@pytest.mark.parametrize("kind", ["interrupt", "terminate"])
def test_an_interrupted_run_is_resumed(kind: str, driver: Driver, fault_file: Path) -> None:
    Fault("before merge", kind, every=20).plant(fault_file)
    found = driver.run(*CHECK, *driver.spark, status=130)
    assert found["result"] == "interrupted"
    assert driver.leaves_no_java()
    assert figures(driver.run("check", "--resume", driver.saved, "--json", *driver.spark, status=0)) == SMOKE


def test_interrupted_tables_leave_nothing_and_are_written_again(driver: Driver, fault_file: Path) -> None:
    driver.run(*CHECK, "--shards", "4", "--keep-states", status=0)
    before = sorted(path.name for path in Path(driver.saved).iterdir())
    Fault("after write states", "interrupt").plant(fault_file)
    driver.run("states", driver.saved, "--json", *driver.spark, status=130)
    assert happened(fault_file) >= 1
    assert driver.leaves_no_java()
    assert sorted(path.name for path in Path(driver.saved).iterdir()) == before
    fault_file.unlink()
    assert driver.run("states", driver.saved, "--json", *driver.spark, status=0)["states"] == SMOKE[2]


def test_an_executor_without_kmc_is_refused(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/no-such-python")
    found = driver.run(*CHECK, *driver.spark, status=153)
    assert found["error"]["code"] == "KMC564"
    assert "no-such-python" in found["error"]["message"]


def test_an_application_of_spark_submit_has_the_result(cluster: Cluster, driver: Driver, tmp_path: Path) -> None:
    words = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", cluster.master]
    words += ["--driver-memory", "512m", "--executor-memory", "512m"]  # a worker has no more
    words += ["--properties-file", str(SUBMIT / "spark-defaults.conf"), str(SUBMIT / "kmc_check.py")]
    variables = {**os.environ, **java_variables(), "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run(
        [*words, "kraft", "smoke", "--json"],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert figures(json.loads(ran.stdout)) == SMOKE
    assert driver.leaves_no_java()
