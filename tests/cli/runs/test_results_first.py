"""The result of a check is on the disk before what could be resumed is removed, whenever the process is killed."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import COUNTER, kmc
from support.faults.crashes import KILLED, dying_at, in_child

from kmc import failpoints
from kmc.engine.files import durable_folder

MODELS = {"violation": (COUNTER, "two"), "no violation": (COUNTER, "smoke")}
TIMES = ("seconds", "cpu_seconds", "compile_seconds", "peak_memory_bytes", "trace_file")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def the_run() -> Path:
    """The folder of the only run."""
    (folder,) = Path(".kmc/runs").iterdir()
    return folder


def lasting(text: str | bytes) -> dict[str, Any]:
    """What of the result's JSON is the same in every run."""
    found: dict[str, Any] = json.loads(text)
    return {key: value for key, value in found.items() if key not in TIMES}


def saved_files() -> dict[str, Any]:
    """What is saved in the folder of the run, but for times, and for the commands of the page, which name the run."""
    read = {path.name: path.read_bytes() for path in the_run().iterdir() if path.is_file()}
    if (page := read.get("trace.html")) is not None:
        read["trace.html"], commands = re.subn(rb"<pre>kmc check .*?</pre>", b"", page, flags=re.DOTALL)
        assert commands == 1
    return {**read, "result.json": lasting(read["result.json"])}


@pytest.fixture(params=MODELS)
def words(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The words of a check that writes everything that a check can write."""
    return ("check", *MODELS[request.param], "--threads", "2", "--save-every", "0", "--junit", "report.xml")


def points_from_the_end_of_the_search(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The failpoints between the end of the search and the removal of what could be resumed, each named apart."""
    points: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", points.append)
        kmc(*words)
    numbered = [f"{point}:{points[: at + 1].count(point)}" for at, point in enumerate(points)]
    return numbered[numbered.index("after search model:1") : numbered.index("before remove run.json:1") + 1]


@pytest.mark.slow
def test_a_run_that_is_killed_after_its_search_gives_the_whole_result(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = points_from_the_end_of_the_search(words, monkeypatch)
    expected, report = saved_files(), Path("report.xml")
    steps = {point.rpartition(":")[0] for point in points}
    assert {"before write junit", "after rename result.json", "before show result", "after show result"} <= steps
    for point in points:
        shutil.rmtree(".kmc")
        report.unlink()
        assert in_child(dying_at(point), *words) == KILLED, point
        report.unlink(missing_ok=True)
        ran = kmc("check", "--resume", str(the_run()), "--threads", "2", "--json", "--junit", "report.xml")
        shown = lasting(ran.stdout)
        assert shown == expected["result.json"], point
        assert (ran.exit_code, report.exists()) == (shown["exit_status"], True)
        assert {name: text for name, text in saved_files().items() if not name.endswith(".new")} == expected
        assert not (the_run() / "checkpoint").exists()


def test_what_is_written_is_on_the_disk_before_the_run_is_discarded(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def sync(descriptor: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    removed = durable_folder.DurableFolder.remove

    def remove(folder: durable_folder.DurableFolder, name: str) -> None:
        synced.append(f"removed {name}")
        removed(folder, name)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(durable_folder.DurableFolder, "remove", remove)
    kmc(*words)
    before = synced[: synced.index("removed run.json")]
    written = {path.name for path in the_run().iterdir()}
    assert written >= {"model.cfg", "result.json"}
    assert {f"{name}.new" for name in written} | {"report.xml.new", the_run().name, "runs"} <= {*before}


@pytest.mark.parametrize("name", ["model.cfg", "trace.itf.json", "result.json", "trace.html"])
def test_a_file_that_cannot_be_written_costs_neither_the_others_nor_the_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def full(source: str, target: str, **folders: int) -> None:
        if target == name:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target, **folders)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        ran = kmc("check", COUNTER, "two", "--threads", "2")
    assert (ran.exit_code, f"error[KMC502]: cannot write {the_run()}/{name}: No space left" in ran.stderr) == (
        153,
        True,
    )
    assert "is violated" in ran.stdout
    command = f"kmc check --resume {the_run()}"
    assert f"the run is kept; this gives its result again: {command}" in ran.stderr
    written = {path.name for path in the_run().iterdir()}
    # A result names its trace, so there is none without it.
    lost = {name, "result.json"} if name == "trace.itf.json" else {name}
    assert {"model.cfg", "trace.itf.json", "trace.tlc.json", "result.json", "trace.html"} - written == lost
    assert kmc(*command.split()[1:]).exit_code == 12
    assert all((the_run() / each).exists() for each in lost)
    assert not (the_run() / "checkpoint").exists()


def test_a_report_that_cannot_be_written_costs_neither_the_result_nor_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def full(path: Path, mode: str = "r", **options: Any) -> Any:
        if (path.name, mode) == ("report.xml.new", "w"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        ran = kmc("check", COUNTER, "two", "--threads", "2", "--junit", "report.xml")
    assert (ran.exit_code, "error[KMC503]: cannot write report.xml: No space left" in ran.stderr) == (153, True)
    assert "the run is kept" in ran.stderr
    assert (the_run() / "result.json").exists()
