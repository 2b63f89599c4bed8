"""`kmc check --resume`: a run goes on after a kill, a signal or a bound, and is refused where it would mislead."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import COUNTER, check_json, kmc
from support.commands.forked_kmc import ForkingProcess
from support.faults.crashes import KILLED, dying_at, in_child

from kmc import failpoints
from kmc.engine.files.durable_folder import DurableFolder
from kmc.engine.search.worker import Worker
from kmc.errors import SystemFault
from kmc.failpoints import FAILPOINT_VARIABLE

NATIVE = ("--engine", "native")
EACH_LEVEL = (*NATIVE, "--save-every", "0")
COMPARED = ("result", "generated", "distinct", "depth", "initial", "left", "levels", "generated_by_action")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def the_run() -> Path:
    """The folder of the only run."""
    (folder,) = Path(".kmc/runs").iterdir()
    return folder


def resumed(folder: Path, *words: str) -> dict[str, Any]:
    """The result of going on with a run."""
    ran = kmc("check", "--resume", str(folder), "--json", *words)
    found: dict[str, Any] = json.loads(ran.stdout)
    assert "error" not in found or found["error"] is None, found["error"]
    return found


@cache
def whole_smoke() -> dict[str, Any]:
    """The result of a model that several tests interrupt."""
    return check_json("kraft", "smoke", *NATIVE)


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Both results tell the same."""
    assert {key: found[key] for key in COMPARED} == {key: expected[key] for key in COMPARED}


@pytest.mark.slow
def test_a_run_that_is_killed_at_any_step_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = ("check", "die_hard", *EACH_LEVEL)
    points: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", points.append)
        expected = json.loads(kmc(*check, "--json").stdout)
    shutil.rmtree(".kmc")
    last = {point: points.count(point) for point in points}
    assert len(last) >= 20
    for point, times in last.items():
        assert in_child(dying_at(f"{point}:{(times + 1) // 2}"), *check) == KILLED, point
        if (the_run() / "checkpoint" / "run.json").exists():
            same(resumed(the_run(), "--threads", "2"), expected)
        else:
            # It had not begun, or it had ended and its result is there.
            begun = points.index(point) >= points.index("after create run.json")
            assert begun == (the_run() / "result.json").exists(), point
            assert not begun or "remove" in point, point
        shutil.rmtree(".kmc")


@pytest.mark.parametrize(("point", "threads"), [("after write known:9", 1), ("after rename run.json:21", 3)])
@pytest.mark.slow
def test_a_real_run_that_is_killed_goes_on(point: str, threads: int) -> None:
    command = [sys.executable, "-m", "kmc", "check", "kraft", "smoke", *EACH_LEVEL, "--threads", "2", "--quiet"]
    killed = subprocess.run(command, env={**os.environ, FAILPOINT_VARIABLE: point}, timeout=600, check=False)
    assert killed.returncode == KILLED
    assert f"kmc check --resume {the_run()}" in kmc("runs").stdout
    found = resumed(the_run(), "--threads", str(threads))
    same(found, whole_smoke())
    assert (found["exit_status"], found["differences"]) == (0, [])
    assert not (the_run() / "checkpoint").exists()


@pytest.mark.slow
def test_a_counterexample_is_the_same_after_a_kill() -> None:
    words = ("kraft", "restarts", "--trace", "tlc")
    assert in_child(dying_at("after rename run.json:4"), "check", *words, *EACH_LEVEL) == KILLED
    ran = kmc("check", "--resume", str(the_run()), "--trace", "tlc")
    expected = kmc("check", *words, *NATIVE, "--no-run-dir")
    assert ran.exit_code == expected.exit_code == 12
    shown, wanted = (text.stdout[: text.stdout.index("states generated")] for text in (ran, expected))
    assert shown == wanted
    assert "Reproduce: kmc check kraft restarts --engine native\n" in ran.stdout


TEMPORAL = ("properties", "counterexample", "invariant", "trace_length", "exit_status")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "point"),
    [
        (("two_phase_commit", "fair"), "after write graph:4"),
        (("two_phase_commit", "fair"), "after rename run.json:5"),
        (("die_hard", "aimless"), "after sync graph:3"),
        (("die_hard", "aimless"), "after search model:1"),
    ],
)
def test_temporal_properties_are_checked_in_a_run_that_goes_on(model: tuple[str, str], point: str) -> None:
    check = ("check", *model, *EACH_LEVEL)
    assert in_child(dying_at(point), *check) == KILLED
    found, expected = resumed(the_run(), "--threads", "2"), check_json(*model, *NATIVE)
    same(found, expected)
    assert {key: found.get(key) for key in TEMPORAL} == {key: expected.get(key) for key in TEMPORAL}
    assert not (the_run() / "checkpoint").exists()


def test_a_bound_leaves_a_behavior_graph_that_goes_on() -> None:
    bounded = json.loads(kmc("check", "two_phase_commit", "fair", *EACH_LEVEL, "--max-depth", "4", "--json").stdout)
    assert (bounded["exit_status"], bounded["bound"]) == (20, "depth")
    found = resumed(the_run(), "--max-depth", "20")
    same(found, check_json("two_phase_commit", "fair", *NATIVE))
    assert [prop["verdict"] for prop in found["properties"]][-1] == "holds"


def test_a_behavior_graph_that_is_damaged_is_refused() -> None:
    assert in_child(dying_at("after rename run.json:5"), "check", "die_hard", "aimless", *EACH_LEVEL) == KILLED
    file = the_run() / "checkpoint" / "graph"
    words = bytearray(file.read_bytes())
    words[-1] ^= 1
    file.write_bytes(words)
    ran = kmc("check", "--resume", str(the_run()))
    assert ran.exit_code != 0
    assert "KMC551" in ran.stderr


def test_a_search_for_lassos_that_is_cut_short_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("kmc.engine.check_model.lasso_seconds", lambda *_: 0.0)
        cut = json.loads(kmc("check", "die_hard", "aimless", *EACH_LEVEL, "--timeout", "1h", "--json").stdout)
    assert (cut["exit_status"], cut["bound"], cut["left"]) == (20, "time", 0)
    assert cut["resume"] == f"kmc check --resume {the_run()}"
    found = resumed(the_run())
    assert (found["exit_status"], found["trace_length"]) == (13, 2)
    assert not (the_run() / "checkpoint").exists()


# Progress comes after a tenth of the usual time, so that fewer states are explored again.
SOON = """
from kmc.cli.main import main
from kmc.cli.text import progress

progress.FIRST_SECONDS = 0.1
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_run_that_goes_on(number: int, forking: ForkingProcess) -> None:
    model = "corrected_whole"  # minutes on any machine: the signal comes long before its end
    words = ("check", "kraft", model, *NATIVE, "--threads", "2", "--json")
    process = forking.start(*words, cwd=Path.cwd(), program=SOON)
    assert any("Progress(" in line for line in process.stderr)  # after what is compiled
    os.kill(process.pid, number)
    output, errors = process.communicate()
    found = json.loads(output)
    assert (process.wait(), found["result"]) == (130, "interrupted")
    assert found["resume"] == f"kmc check --resume {the_run()} --threads 2"
    assert f"Resume: {found['resume']}" in errors
    depth = len(found["levels"]) + 1
    went_on = resumed(the_run(), "--max-depth", str(depth))
    same(went_on, check_json("kraft", model, *NATIVE, "--max-depth", str(depth)))


def test_a_bound_says_how_to_go_on() -> None:
    ran = kmc("check", "die_hard", *NATIVE, "--max-depth", "3", "--memory", "4G")
    command = f"kmc check --resume {the_run()} --max-depth 4 --memory 4G"
    assert f"Resume: {command}\n" in ran.stdout
    deeper = kmc(*command.split()[1:])
    assert "--max-depth 5" in deeper.stdout
    same(resumed(the_run()), check_json("die_hard", *NATIVE))


def test_a_finished_run_leaves_nothing_to_go_on_with() -> None:
    kmc("check", "die_hard", *EACH_LEVEL)
    assert sorted(path.name for path in the_run().iterdir()) == ["model.cfg", "result.json"]
    ran = kmc("check", "--resume", str(the_run()))
    assert (ran.exit_code, "KMC555" in ran.stderr) == (153, True)
    assert "Can go on" not in kmc("runs").stdout


def own_spec(change: Callable[[str], str] = str) -> Path:
    """A copy of the counter, changed."""
    shutil.copytree(COUNTER, "own", dirs_exist_ok=True)
    path = Path("own/spec.py")
    path.write_text(change(Path(COUNTER, "spec.py").read_text(encoding="utf-8")), encoding="utf-8")
    return path


def begun_with_own_spec() -> None:
    """A run of the copy that a bound cut short, in a child: a process reads the files of a spec once."""
    path = own_spec()
    folder = str(path.parent.resolve())
    assert in_child(lambda: None, "check", folder, *NATIVE, "--max-depth", "2", "--quiet") == 20


def test_a_changed_comment_does_not_matter() -> None:
    begun_with_own_spec()
    own_spec(lambda text: text.replace('    """At zero."""\n', '    """At the beginning."""\n\n    # A line more.\n'))
    assert resumed(the_run())["distinct"] == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("st.count + 1", "st.count + 2"), ()),
        (lambda text: text.replace("yield State(count=0)", "yield State(count=1)"), ()),
        (lambda text: text.replace('stops", 3)', 'stops", 4)'), ()),
        (str, ("--set", "Top=4")),
        (str, ("--deadlock",)),
    ],
)
def test_another_spec_or_model_is_refused(change: Callable[[str], str], words: tuple[str, ...]) -> None:
    begun_with_own_spec()
    own_spec(change)
    ran = kmc("check", "--resume", str(the_run()), *words)
    assert ran.exit_code == 153
    assert "error[KMC554]: the run in" in ran.stderr
    assert "changed since it began" in ran.stderr
    assert (the_run() / "checkpoint" / "run.json").exists()


def test_constants_that_were_set_are_kept() -> None:
    own_spec()
    kmc("check", "own", "--set", "Top=5", "--no-deadlock", *NATIVE, "--max-depth", "2", "--quiet")
    found = resumed(the_run())
    assert (found["result"], found["distinct"]) == ("ok", 6)


def test_a_bound_behind_the_saved_level_is_refused() -> None:
    kmc("check", "die_hard", *NATIVE, "--max-depth", "4")
    ran = kmc("check", "--resume", str(the_run()), "--max-depth", "3")
    assert (ran.exit_code, "error[KMC607]: the run has 4 levels already" in ran.stderr) == (2, True)
    assert "give --max-depth 4 or more" in ran.stderr


def test_a_folder_that_is_not_there_is_refused() -> None:
    ran = kmc("check", "--resume", "nowhere")
    assert (ran.exit_code, "error[KMC606]: there is no run nowhere" in ran.stderr) == (2, True)


def test_a_check_needs_a_spec_or_a_run() -> None:
    ran = kmc("check")
    assert (ran.exit_code, "missing argument 'SPEC'" in ran.stderr) == (2, True)


def test_runs_tells_of_a_run_that_is_going_on() -> None:
    kmc("check", "die_hard", *NATIVE, "--max-depth", "4")
    descriptor = DurableFolder(the_run() / "checkpoint").lock("lock")
    assert descriptor is not None
    assert "running" in kmc("runs").stdout
    ran = kmc("check", "--resume", str(the_run()))
    assert (ran.exit_code, "KMC553" in ran.stderr) == (153, True)
    os.close(descriptor)
    (run,) = json.loads(kmc("runs", "--json").stdout)["runs"]
    assert (run["running"], run["resume"]) == (False, f"kmc check --resume {the_run()} --max-depth 5")


def test_no_run_dir_leaves_nothing_to_go_on_with() -> None:
    ran = kmc("check", "die_hard", *NATIVE, "--max-depth", "4", "--no-run-dir")
    assert "Resume:" not in ran.stdout
    assert not Path(".kmc").exists()


def test_the_width_of_fingerprints_is_kept() -> None:
    kmc("check", "die_hard", *NATIVE, "--fingerprint-bits", "128", "--max-depth", "3")
    found = resumed(the_run())
    assert found["fingerprint_bits"] == 128
    same(found, check_json("die_hard", *NATIVE))


@pytest.mark.slow
def test_a_full_disk_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    write, left = os.pwrite, [40]

    def full(descriptor: int, data: Any, place: int) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data, place)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        ran = kmc("check", "kraft", "smoke", *EACH_LEVEL)
    assert (ran.exit_code, "error[KMC550]: cannot save the run: write of" in ran.stderr) == (153, True)
    assert f"levels are saved; go on with them: kmc check --resume {the_run()}" in ran.stderr
    same(resumed(the_run()), whole_smoke())


@pytest.mark.slow
def test_a_disk_that_stays_full_until_a_bound_ends_the_search_says_that_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(descriptor: int, data: Any, place: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        ran = kmc("check", "kraft", "smoke", *EACH_LEVEL, "--max-depth", "5")
    assert (ran.exit_code, "error[KMC550]: cannot save the run: write of" in ran.stderr) == (153, True)
    assert "no level had been saved, so nothing of this run is kept" in ran.stderr
    assert "--resume" not in ran.stderr
    assert list(Path(".kmc/runs").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("code", ["KMC530", "KMC531"])
def test_a_lack_of_memory_says_how_to_go_on(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provide, left = Worker.provide, [20]

    def refused(worker: Worker, status: int) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise SystemFault(code, "no memory for more")
        provide(worker, status)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "provide", refused)
        ran = kmc("check", "kraft", "smoke", *NATIVE)
    assert (ran.exit_code, f"error[{code}]: no memory for more" in ran.stderr) == (153, True)
    assert f"levels are saved; go on with them: kmc check --resume {the_run()}" in ran.stderr
    same(resumed(the_run()), whole_smoke())


def test_a_stopped_run_tells_what_its_folder_takes_and_a_finished_one_does_not() -> None:
    stopped = kmc("check", "die_hard", *NATIVE, "--max-depth", "3").stdout
    (saved,) = [line for line in stopped.splitlines() if line.startswith("Saved: ")]
    assert re.fullmatch(r"Saved: \S+ \([1-9][0-9]* [KM]B on disk\)", saved)
    finished = kmc("check", "die_hard", *NATIVE).stdout
    assert "on disk)" not in finished
