"""An application of spark-submit keeps its stdout for the result, however long it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.spark.cluster import SPARK_HOME

from kmc.errors import ExitStatus
from kmc_spark.java import java_variables

SUBMIT = Path(__file__).resolve().parents[2] / "distributed" / "submit"

# The application, with a line of progress whenever one may come: as in a run of minutes.
PROGRAM = f"""
import runpy
from kmc.cli.text import progress
from kmc.engine.search import level_search
progress.FIRST_SECONDS = progress.PLAIN_INTERVAL_SECONDS = level_search.PROGRESS_SECONDS = 0.0
runpy.run_path({str(SUBMIT / "kmc_check.py")!r}, run_name="__main__")
"""


def submitted(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What spark-submit prints of a check on two slots of this machine."""
    application = folder / "application.py"
    application.write_text(PROGRAM)
    command = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "512m"]
    command += ["--properties-file", str(SUBMIT / "spark-defaults.conf"), str(application), *words]
    variables = {**os.environ, **java_variables(), "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.slow
def test_the_json_of_a_long_run_is_alone_on_stdout(tmp_path: Path) -> None:
    ran = submitted(tmp_path, "kraft", "smoke", "--max-depth", "12", "--shards", "4", "--json")
    assert ran.returncode == ExitStatus.BOUND_REACHED, ran.stdout + ran.stderr
    assert json.loads(ran.stdout)["depth"] == 12
    assert "Progress(" in ran.stderr


@pytest.mark.slow
def test_an_error_is_on_stderr_and_its_json_on_stdout(tmp_path: Path) -> None:
    ran = submitted(tmp_path, "kraft", "no_such_model", "--json")
    assert ran.returncode == ExitStatus.MODEL_FILE, ran.stdout + ran.stderr
    assert json.loads(ran.stdout)["error"]["code"] in ran.stderr
