"""A search in shards that is killed at any step, or loses its machine, goes on with exact counts."""

from __future__ import annotations

import errno
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import check_json, kmc
from support.faults.crashes import KILLED, Disk, Files, dying_at, files_below, in_child, write_files
from support.oracles.results import told
from support.runs.shards import drop_rows
from support.specs.small import RIVER, model_of

from kmc import failpoints
from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory, saved_manifest
from kmc.engine.layout.search_outcome import Settings
from kmc.errors import SystemFault
from kmc.frontend.model import Model
from kmc.result import Limits, Result
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.sharded_search import ShardedSearch

TINY = Sharding(
    6,
    shards_first=1,
    shard_states=2,
    shard_states_max=2,
    task_rows=2,
    segment_rows=1,
    slice_chunks=1,
    slots_min=8,
    piece=2,
    batch=2,
    chunk_rows=1,
)
EACH_LEVEL = ("--shards", "3", "--save-every", "0")
COMPARED = ("result", "generated", "distinct", "depth", "initial", "left", "levels", "generated_by_action")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def the_run() -> Path:
    """The folder of the only run."""
    (folder,) = Path(".kmc/runs").iterdir()
    return folder


def same_when_resumed(expected: dict[str, Any], *words: str) -> None:
    found = json.loads(kmc("check", "--resume", str(the_run()), "--json", *words).stdout)
    assert {key: found[key] for key in COMPARED} == {key: expected[key] for key in COMPARED}


def left_by_kills(check: tuple[str, ...], times: dict[str, int], patch: pytest.MonkeyPatch) -> list[tuple[str, Files]]:
    """What a check leaves that is killed at a point when it comes there for so many a time."""
    passed: Counter[str] = Counter()
    found: list[tuple[str, Files]] = []

    def watch(point: str) -> None:
        passed[point] += 1
        if passed[point] == times.get(point):
            found.append((point, files_below(Path(".kmc"))))

    with patch.context() as watched:
        watched.setattr(failpoints, "reach", watch)
        kmc(*check)
    shutil.rmtree(".kmc")
    assert all(passed[point] >= number for point, number in times.items())
    return found


@pytest.mark.slow
def test_a_run_that_is_killed_at_any_step_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    check = ("check", "die_hard", *EACH_LEVEL, "--threads", "1")
    points: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", points.append)
        expected = json.loads(kmc(*check, "--json").stdout)
    shutil.rmtree(".kmc")
    last = {point: points.count(point) for point in points}
    for kind in ("rows", "bits", "run", "words"):
        for step in ("create", "write", "sync", "remove"):
            assert f"before {step} {kind}" in last or (step == "remove" and kind in ("rows", "bits")), (step, kind)
    middle = [(point, (count + 1) // 2) for point, count in last.items()]
    for half in (middle[: len(middle) // 2], middle[len(middle) // 2 :]):
        resumed: list[Files] = []
        for point, files in left_by_kills(check, dict(half), monkeypatch):
            if files in resumed:
                continue
            write_files(files, Path(".kmc"))
            if (the_run() / "checkpoint" / "run.json").exists():
                same_when_resumed(expected, "--threads", "2", "--shards", "2")
                resumed.append(files)
            else:
                # It had not begun, or it had ended and its result is there.
                begun = points.index(point) >= points.index("after create run.json")
                assert begun == (the_run() / "result.json").exists(), point
            shutil.rmtree(".kmc")
        drop_rows(monkeypatch)


@pytest.mark.slow
def test_a_run_that_a_refuted_property_ends_goes_on_without_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    drop_rows(monkeypatch)
    check = ("check", "two_phase_commit", "unfair", *EACH_LEVEL, "--threads", "1")
    points: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", points.append)
        ended = json.loads(kmc(*check, "--json").stdout)
    expected = check_json("two_phase_commit", "unfair")
    assert {key: ended[key] for key in COMPARED} == {key: expected[key] for key in COMPARED}
    shutil.rmtree(".kmc")
    saves = points.count("after rename run.json")
    # Before and behind the level of the refutation, after the last save, and while the result is written.
    behind = len(expected["levels"]) + 1
    for point in (
        f"after rename run.json:{behind - 2}",
        f"after rename run.json:{behind}",
        f"after rename run.json:{saves}",
        "after search model:1",
        "before show result:1",
    ):
        assert in_child(dying_at(point), *check) == KILLED, point
        same_when_resumed(expected, "--threads", "2", "--shards", "2")
        shutil.rmtree(".kmc")


@pytest.mark.slow
def test_a_run_that_is_killed_in_the_search_for_its_trace_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    drop_rows(monkeypatch)
    check, points = ("check", "die_hard", "solution", "--shards", "3", "--threads", "1"), list[str]()
    go_to = ShardedSearch.go_to

    def noted(search: ShardedSearch, level: int) -> None:
        points.append("begin")
        go_to(search, level)
        points.append("end")

    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", points.append)
        patch.setattr(ShardedSearch, "go_to", noted)
        expected = json.loads(kmc(*check, "--json").stdout)
    shutil.rmtree(".kmc")
    begin, end = points.index("begin"), points.index("end")
    for place in (begin + 1, (begin + end) // 2, end - 1):
        number = points[: place + 1].count(points[place])
        assert in_child(dying_at(f"{points[place]}:{number}"), *check) == KILLED
        found = json.loads(kmc("check", "--resume", str(the_run()), "--json", "--shards", "2").stdout)
        assert {key: found[key] for key in COMPARED} == {key: expected[key] for key in COMPARED}
        assert found["counterexample"] == expected["counterexample"]
        shutil.rmtree(".kmc")


def river(folder: Path) -> Model:
    folder.mkdir(parents=True, exist_ok=True)
    return model_of(folder, RIVER, "INVARIANT NotAcross CHECK_DEADLOCK FALSE")


def searched(model: Model, directory: RunDirectory, history_bytes: int = 1 << 28) -> Result:
    settings = Settings(save_seconds=0.0, history_bytes=history_bytes)
    return check_native(model, Limits(), keep_going=True, settings=settings, directory=directory, search_of=SHARDED)


SHARDED = sharded(TINY)


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
def test_a_run_whose_machine_dies_at_any_step_goes_on(tmp_path: Path) -> None:
    model = river(tmp_path / "spec")
    wanted = told(check_native(model, Limits(), keep_going=True))
    directory = RunDirectory.created(tmp_path, {})
    left: list[tuple[bool, bool, Files]] = []

    def watch() -> None:
        if len(disk.points) % 23 == 5:
            renamed = itertools.dropwhile("after rename run.json".__ne__, disk.points)
            is_saved = "after sync checkpoint" in renamed
            both = [(is_saved, kept, disk.after_power_loss(names_kept=kept)) for kept in (False, True)]
            left.extend(each for each in both if each not in left)

    disk = Disk(directory.folder, watch)
    with pytest.MonkeyPatch.context() as patch:
        disk.install(patch)
        searched(model, directory)
    directory.close()
    resumed = 0
    for number, (is_saved, names_kept, files) in enumerate(left):
        lost = tmp_path / f"lost{number}"
        write_files(files, lost / "checkpoint")
        if saved_manifest(lost) is None:
            assert not is_saved
            with pytest.raises(SystemFault, match="there is no run to resume"):
                RunDirectory.opened(lost)
            continue
        again = RunDirectory.opened(lost)
        # One of them goes on without the rows of older levels.
        assert told(searched(model, again, names_kept << 28)) == wanted
        resumed += again.manifest.levels > 0
        again.discard()
    assert resumed > 5


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.slow
def test_a_full_disk_says_how_to_go_on(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if threads == "2":
        drop_rows(monkeypatch)
    write, left = os.write, [150]

    def full(descriptor: int, data: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        ran = kmc("check", "kraft", "smoke", *EACH_LEVEL, "--threads", threads)
    assert (ran.exit_code, "error[KMC550]: cannot save the run: write of" in ran.stderr) == (153, True)
    assert f"levels are saved; go on with them: kmc check --resume {the_run()}" in ran.stderr
    same_when_resumed(check_json("kraft", "smoke"))


@pytest.mark.slow
def test_a_disk_that_is_full_for_processes_says_how_to_go_on() -> None:
    limit = 1 << 20

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "kmc", "check", "kraft", "corrected_whole", *EACH_LEVEL, "--processes", "2"]
    # kmc keeps what it compiles, and that may be larger.
    kmc("check", "kraft", "corrected_whole", *EACH_LEVEL, "--max-depth", "3")
    shutil.rmtree(".kmc")
    ran = subprocess.run(command, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert (ran.returncode, "error[KMC550]" in ran.stderr, "levels are saved" in ran.stderr) == (153, True, True)
    manifest = saved_manifest(the_run())
    assert manifest is not None
    depth = str(manifest.levels + 1)
    same_when_resumed(check_json("kraft", "corrected_whole", "--max-depth", depth), "--max-depth", depth)


@pytest.mark.slow
@pytest.mark.usefixtures("rows")
def test_what_a_killed_run_left_over_is_swept() -> None:
    kmc("check", "kraft", "smoke", "--shards", "3", "--max-depth", "5")
    folder = the_run() / "checkpoint"
    manifest = saved_manifest(the_run())
    assert manifest is not None
    orphans = [f"{kind}-4-0-0123456789abcdef" for kind in ("rows", "bits", "run", "words", "sent")]
    for name in (*orphans, "mine"):
        (folder / name).write_bytes(b"\0" * 16)
    RunDirectory.opened(the_run()).close()
    assert {path.name for path in folder.iterdir()} == {*manifest.files, "run.json", "lock", "mine"}
