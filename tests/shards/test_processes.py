"""A search on processes: the result of one on threads, no compiler in them, and none of them is indispensable."""

from __future__ import annotations

import json
import multiprocessing.spawn
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest
from support.commands.cli_runner import check_json
from support.commands.cli_runner import kmc as run
from support.oracles.results import told
from support.runs.shards import drop_rows
from support.runs.warm_processes import cold_processes
from support.specs.small import BALLOT, IMPORTS, RIVER, model_of

import kmc.shards.executors.on_processes
from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory, saved_manifest
from kmc.engine.model_search import ModelSearch
from kmc.errors import SystemFault
from kmc.failpoints import FAILPOINT_VARIABLE
from kmc.frontend.model import Model
from kmc.result import Limits, Result
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

TINY = Sharding(3, task_rows=2, segment_rows=1, slice_chunks=1, batch=2, chunk_rows=1)


@pytest.fixture(scope="module", autouse=True)
def _cold_processes() -> Iterator[None]:
    with cold_processes():
        yield


def river(folder: Path) -> Model:
    return model_of(folder, RIVER, "CHECK_DEADLOCK FALSE")


def on_processes(
    model: Model, folder: Path, *, processes: int = 2, sharding: Sharding = TINY, bits: int = 64
) -> Result:
    directory = RunDirectory.created(folder, {})
    try:
        search_of = sharded(sharding, processes)
        found = check_native(model, Limits(), fingerprint_bits=bits, directory=directory, search_of=search_of)
        assert not [name for name in directory.files.names() if name.startswith("sent")]
        return found
    finally:
        directory.discard()


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 128])
def test_a_search_with_a_view_and_a_violation_has_one_result(
    bits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bits == 128:
        drop_rows(monkeypatch)
    model = model_of(
        tmp_path, BALLOT, "CONSTANT Server = {a, b, c} TrustOne = 40 TrustTwo = 40 VIEW forgetful INVARIANT Below"
    )
    result = on_processes(model, tmp_path, bits=bits)
    assert result.violation is not None
    assert told(result) == told(check_native(model, Limits(), fingerprint_bits=bits))


@pytest.mark.slow
def test_processes_compile_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, empty = river(tmp_path), tmp_path / "empty"
    wanted = told(check_native(model, Limits(), directory=RunDirectory.created(tmp_path, {}), search_of=sharded(TINY)))

    def without_cache(*given: Any, **named: Any) -> ModelSearch:
        found = sharded(TINY, 2)(*given, **named)
        monkeypatch.setenv("KMC_CACHE_DIR", str(empty))
        return found

    other = tmp_path / "other"
    other.mkdir()
    result = check_native(model, Limits(), directory=RunDirectory.created(other, {}), search_of=without_cache)
    assert told(result) == wanted
    assert not empty.exists(), "what a process has to compile, it keeps in the cache"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "times"),
    [("after create rows", 5), ("after create sent", 5), ("before create bits", 7), ("after create run", 5)],
)
def test_tasks_of_processes_that_die_are_run_again(
    point: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = river(tmp_path)
    wanted = told(check_native(model, Limits()))
    pools: list[ProcessPoolExecutor] = []

    def counted(*given: Any) -> ProcessPoolExecutor:
        pools.append(ProcessPoolExecutor(*given))
        return pools[-1]

    with monkeypatch.context() as patch:
        patch.setattr(kmc.shards.executors.on_processes, "ProcessPoolExecutor", counted)
        # Each process dies when it comes there so many times: two do, and a third one ends the search.
        patch.setenv(FAILPOINT_VARIABLE, f"{point}:{times}")
        assert told(on_processes(model, tmp_path, processes=1)) == wanted
    assert len(pools) > 2


@pytest.mark.slow
def test_processes_that_always_die_are_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(FAILPOINT_VARIABLE, "after create rows")
        with pytest.raises(SystemFault, match="died 3 times in a row") as caught:
            on_processes(river(tmp_path), tmp_path, processes=1)
    assert caught.value.code == "KMC532"


def overdue(number: int, frame: object) -> NoReturn:
    raise TimeoutError("whoever starts a process waits for ever when it dies before it reads")


@pytest.mark.slow
def test_processes_that_die_before_they_read_their_job_are_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    larger_than_a_pipe = 1 << 20
    to_bytes = CompiledSpec.to_bytes
    monkeypatch.setattr(CompiledSpec, "to_bytes", lambda spec: to_bytes(spec) + bytes(larger_than_a_pipe))
    resource_tracker.ensure_running()  # a process of Python that is not one of ours
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", os.fsencode(shutil.which("false") or ""))
    before = signal.signal(signal.SIGALRM, overdue)
    signal.setitimer(signal.ITIMER_REAL, 600)
    try:
        with pytest.raises(SystemFault, match="died 3 times in a row") as caught:
            on_processes(river(tmp_path), tmp_path, processes=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught.value.code == "KMC532"


@pytest.mark.slow
@pytest.mark.usefixtures("rows")
def test_processes_that_always_die_leave_a_run_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check = ("check", "die_hard", "--shards", "2", "--save-every", "0")
    run(*check, "--max-depth", "3")
    (folder,) = Path(".kmc/runs").iterdir()
    with monkeypatch.context() as patch:
        patch.setenv(FAILPOINT_VARIABLE, "after create rows")
        ran = run("check", "--resume", str(folder), "--processes", "1")
    assert (ran.exit_code, "error[KMC532]" in ran.stderr) == (153, True)
    assert f"3 levels are saved; go on with them: kmc check --resume {folder}" in ran.stderr
    found = json.loads(run("check", "--resume", str(folder), "--json").stdout)
    assert found["distinct"] == check_json("die_hard")["distinct"]


ROAD = """
class State(Record):
    field: Int(0, 2_000_000)
    lane: Int(0, 2)


@spec.init
def init():
    yield State(field=0, lane=0)


@spec.action
def drive(st, lane: Int(0, 2)):
    yield st.set(field=st.field + 1, lane=lane)
"""
"""Two million levels, and in all but the first a row for each process."""


def started(*words: str) -> subprocess.Popen[str]:
    """A search of an hour in processes, in a session of its own, once it has printed that it makes a third level."""
    Path("road.py").write_text(IMPORTS + ROAD, encoding="utf-8")
    command = [sys.executable, "-m", "kmc", "check", "road.py", "--shards", "3", "--processes", "2"]
    process = subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    # After what is compiled. A level before the last one has been saved, or will be.
    depths = (re.match(r"Progress\((\d+)\)", line) for line in process.stderr)
    assert any(depth is not None and int(depth[1]) > 1 for depth in depths)
    return process


def goes_on() -> None:
    """The only run makes another level, on threads, with the counts of an uninterrupted one."""
    (folder,) = Path(".kmc/runs").iterdir()
    saved = saved_manifest(folder)
    assert saved is not None
    depth = saved.levels + 1
    found = json.loads(run("check", "--resume", str(folder), "--max-depth", str(depth), "--json").stdout)
    wanted = check_json("road.py", "--max-depth", str(depth))
    assert {key: found[key] for key in ("generated", "levels")} == {key: wanted[key] for key in ("generated", "levels")}


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_leaves_a_run_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    process = started("--json")
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=600)
    assert (process.returncode, json.loads(output)["result"]) == (130, "interrupted")
    assert "Traceback" not in errors
    assert "--processes 2" in json.loads(output)["resume"]
    goes_on()


def ended(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=600)[1]


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    process = started("--save-every", "0")
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    assert len(children) >= 2
    assert ended(children)
    goes_on()


def saved_levels(folder: Path) -> int:
    saved = saved_manifest(folder)
    return 0 if saved is None else saved.levels


def shard_processes(process: subprocess.Popen[str]) -> list[psutil.Process]:
    children = psutil.Process(process.pid).children()
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


@pytest.mark.slow
def test_a_process_that_is_killed_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search goes on for two levels after the kill, however fast the machine is, and is interrupted then."""
    monkeypatch.chdir(tmp_path)
    process = started("--save-every", "0", "--json")
    (folder,) = Path(".kmc/runs").iterdir()
    killed, *_ = shard_processes(process)
    killed.kill()
    wanted = saved_levels(folder) + 2
    deadline = time.monotonic() + 600
    while saved_levels(folder) < wanted:
        assert time.monotonic() < deadline, "the search did not go on"
        time.sleep(0.05)
    replaced = [child for child in shard_processes(process) if child.pid != killed.pid]
    os.killpg(process.pid, signal.SIGINT)
    found = json.loads(process.communicate(timeout=600)[0])
    assert (found["result"], len(replaced)) == ("interrupted", 2)
    goes_on()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--shards", "2", "--processes", "2", "--threads", "2"), "KMC619"),
        (("--processes", "2"), "KMC616"),
    ],
)
def test_processes_without_what_they_need_are_refused(words: tuple[str, ...], error: str) -> None:
    ran = run("check", "die_hard", *words)
    assert (ran.exit_code, f"error[{error}]" in ran.stderr) == (2, True)
