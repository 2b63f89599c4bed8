"""The program as a process of its own: exit status, Ctrl-C, and what stands in redirected output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import COUNTER, DATA, steady
from support.commands.forked_kmc import ForkingProcess

GRID = str(DATA / "grid.py")
PROGRAM = [sys.executable, "-m", "kmc"]


def environment(**extra: str) -> dict[str, str]:
    """This process's environment without what would force colour."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE")
    }
    return {**kept, **extra}


def run(*words: str, cwd: Path, extra: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """`kmc` in a process of its own."""
    return subprocess.run(
        [*PROGRAM, *words], cwd=cwd, env=environment(**(extra or {})), capture_output=True, text=True, check=False
    )


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A check that got Ctrl-C after its first line of progress."""

    status: int
    result: dict[str, Any]
    progress: list[str]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory, forking: ForkingProcess) -> Interrupted:
    """A check of a million states, stopped by Ctrl-C as soon as it reports progress."""
    words, folder = ("check", GRID, "--no-deadlock", "--json", "--engine", "python"), tmp_path_factory.mktemp("grid")
    process = forking.start(*words, cwd=folder, env=environment())
    first = process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    stdout, rest = process.communicate()
    return Interrupted(process.wait(), json.loads(stdout), [first.rstrip("\n"), *rest.splitlines()])


@pytest.mark.slow
def test_ctrl_c_exits_130(interrupted: Interrupted) -> None:
    assert interrupted.status == 130


def test_ctrl_c_tells_the_counts_so_far(interrupted: Interrupted) -> None:
    found = interrupted.result
    assert found["result"] == "interrupted"
    assert found["generated"] > found["distinct"] > found["left"] > 0


def test_ctrl_c_saves_the_counts_so_far(interrupted: Interrupted) -> None:
    assert interrupted.result["exit_status"] == 130


def test_redirected_progress_is_plain_lines(interrupted: Interrupted) -> None:
    assert interrupted.progress
    assert all(line.startswith("Progress(") and "\x1b" not in line for line in interrupted.progress)


def test_ctrl_c_before_the_program_is_loaded_gives_one_line(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    ran = run("check", COUNTER, cwd=tmp_path, extra={"PYTHONPATH": str(tmp_path)})
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "Interrupted before there was a result.\n")


def test_garbage_is_collected_seldom_from_the_first_import(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import gc\nprint(gc.get_threshold()[0])\nraise SystemExit")
    ran = run("check", COUNTER, cwd=tmp_path, extra={"PYTHONPATH": str(tmp_path)})
    assert int(ran.stdout) > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["check", COUNTER, "smoke", "--no-run-dir"], 0),
        (["check", COUNTER, "two", "--no-run-dir"], 12),
        (["check", COUNTER, "nothing", "--no-run-dir"], 151),
        (["chekc"], 2),
        ([], 0),
    ],
)
def test_the_process_exits_with_the_status(words: list[str], status: int, tmp_path: Path) -> None:
    assert run(*words, cwd=tmp_path).returncode == status


COLLECTING = """
import atexit, gc, sys
atexit.register(lambda: print("collects" if gc.isenabled() else "does not collect"))
from kmc.cli.main import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [["check", COUNTER, "smoke"], ["check", COUNTER, "nothing"], ["chekc"]])
def test_a_command_collects_garbage_once_it_has_begun(words: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", COLLECTING, *words]
    ran = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines()[-1] == "collects"


@pytest.mark.slow
def test_results_go_to_stdout_and_errors_to_stderr(tmp_path: Path, forking: ForkingProcess) -> None:
    right, wrong = (forking.run("check", COUNTER, *words, cwd=tmp_path) for words in (["--quiet"], ["nothing"]))
    assert (right.returncode, wrong.returncode) == (0, 151)
    assert (right.stderr, wrong.stdout) == ("", "")


@pytest.mark.slow
def test_redirected_results_have_no_colour(tmp_path: Path, forking: ForkingProcess) -> None:
    found = forking.run("check", COUNTER, "two", "--no-run-dir", cwd=tmp_path, env=environment())
    assert (found.returncode, "\x1b" in found.stdout) == (12, False)


@pytest.mark.slow
def test_colour_can_be_forced(tmp_path: Path, forking: ForkingProcess) -> None:
    forced = environment(FORCE_COLOR="1")
    found = forking.run("check", COUNTER, "two", "--no-run-dir", cwd=tmp_path, env=forced)
    assert "\x1b[" in found.stdout


@pytest.mark.slow
def test_no_color_wins_over_forced_colour(tmp_path: Path, forking: ForkingProcess) -> None:
    both = environment(FORCE_COLOR="1", NO_COLOR="1")
    found = forking.run("check", COUNTER, "two", "--no-run-dir", cwd=tmp_path, env=both)
    assert (found.returncode, "\x1b[3" in found.stdout) == (12, False)


@pytest.mark.slow
def test_a_reader_that_goes_away_gets_no_traceback(tmp_path: Path, forking: ForkingProcess) -> None:
    process = forking.start("check", COUNTER, "two", "--no-run-dir", "--quiet", cwd=tmp_path, env=environment())
    process.stdout.close()
    with process.stderr:
        errors = process.stderr.read()
    assert (process.wait() != 0, errors) == (True, "")


@pytest.mark.slow
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_reader_that_stops_early_does_not_change_the_exit_status(
    form: tuple[str, ...], tmp_path: Path, forking: ForkingProcess
) -> None:
    process = forking.start("check", "kraft", "restarts", "--no-run-dir", "--quiet", *form, cwd=tmp_path)
    process.stdout.close()
    with process.stderr:
        errors = process.stderr.read()
    assert (process.wait(), errors) == (12, "")


FULL = Path("/dev/full")


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "words", [["check", COUNTER, "two"], ["check", COUNTER, "two", "--json"], ["runs"], ["--help"], ["--version"]]
)
def test_a_full_stdout_is_one_error(words: list[str], tmp_path: Path, forking: ForkingProcess) -> None:
    with FULL.open("w") as full:
        ran = forking.run(*words, cwd=tmp_path, env=environment(), stdout=full.fileno())
    head, *rest = steady(ran.stderr).splitlines()
    assert (ran.returncode, head) == (
        153,
        "error[KMC504]: cannot write to standard output: No space left on device",
    )
    assert all(line.startswith("  = ") for line in rest)


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_a_full_stdout_costs_neither_the_saved_result_nor_the_report(tmp_path: Path, forking: ForkingProcess) -> None:
    words = ("check", COUNTER, "two", "--json", "--junit", "report.xml")
    with FULL.open("w") as full:
        ran = forking.run(*words, cwd=tmp_path, env=environment(), stdout=full.fileno())
    (folder,) = (tmp_path / ".kmc" / "runs").iterdir()
    assert f"the result is saved: .kmc/runs/{folder.name}" in ran.stderr
    assert json.loads((folder / "result.json").read_text())["exit_status"] == 12
    assert {path.name for path in folder.iterdir()} == {
        "model.cfg",
        "result.json",
        "trace.html",
        "trace.itf.json",
        "trace.tlc.json",
    }
    assert 'failures="1"' in (tmp_path / "report.xml").read_text()


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_an_error_is_printed_with_a_full_stdout_too(tmp_path: Path, forking: ForkingProcess) -> None:
    with FULL.open("w") as full:
        ran = forking.run("check", COUNTER, "nothing", "--json", cwd=tmp_path, stdout=full.fileno())
    assert ran.returncode == 151
    assert "error[KMC349]" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_a_full_stderr_costs_progress_alone(tmp_path: Path) -> None:
    with FULL.open("w") as full:
        ran = subprocess.run(
            [*PROGRAM, "check", GRID, "--no-deadlock", "--engine", "python", "--json", "--max-states", "60000"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
        )
    assert (ran.returncode, json.loads(ran.stdout)["bound"]) == (20, "states")


@pytest.mark.slow
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_closed_stdout_is_one_error_and_no_file_takes_its_place(form: tuple[str, ...], tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, "check", COUNTER, "two", "--save-every", "0", *form]
    ran = subprocess.run(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, "cannot write to standard output: it is closed" in ran.stderr) == (153, True)
    (folder,) = (tmp_path / ".kmc" / "runs").iterdir()
    assert json.loads((folder / "result.json").read_text())["exit_status"] == 12


@pytest.mark.slow
def test_the_peak_of_memory_is_what_the_system_tells_of_the_process(tmp_path: Path) -> None:
    # The smaller process that compiles loops is not started when they are there; so the second run is measured. It is
    # started by a small process: the system counts what the one that starts it has as its own, until it is loaded.
    run("check", COUNTER, "smoke", cwd=tmp_path)
    starter = "import os, sys; os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:]); import resource as r; " + (
        "print(r.getrusage(r.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)"
    )
    command = [sys.executable, "-S", "-c", starter, *PROGRAM, "check", COUNTER, "smoke", "--json"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    found, taken = json.loads(ran.stdout), int(ran.stderr.splitlines()[-1])
    unit = 1 if sys.platform == "darwin" else 1024
    # A little more is taken after it was read, and the two counts are made from time to time.
    assert abs(taken * unit - found["peak_memory_bytes"]) < 8 << 20


def test_numpy_starts_no_threads(tmp_path: Path) -> None:
    program = "from kmc.cli.running.program_start import keep_blas_alone; keep_blas_alone(); import os, numpy; "
    program += "print(len(os.listdir('/proc/self/task')))"
    variables = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=variables, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "1\n"
