"""A check whose files lie in a storage: what is refused at once, what is said of a lost storage, how it goes on."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import check_json, kmc
from support.runs.s3_server import S3Server, s3_server

from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import SystemFault
from kmc.failpoints import FAILPOINT_VARIABLE
from kmc.shards.executors.executor import ThreadExecutor
from kmc.shards.storage import remote_folder
from kmc.shards.storage.retries import Retries
from kmc.shards.storage.run_in_storage import RunInStorage

COMPARED = ("result", "generated", "distinct", "depth", "levels", "generated_by_action")
DIE_HARD = ("check", "die_hard", "--shards", "2", "--save-every", "0", "--threads", "1")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def runs(s3: S3Server, tmp_path: Path) -> str:
    """The address of a storage for runs."""
    return s3.address(tmp_path.name)


def the_run() -> Path:
    (folder,) = Path(".kmc/runs").iterdir()
    return folder


def counts(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in COMPARED}


def resume_listed(runs: str, *words: str) -> dict[str, Any]:
    """Go on as `kmc runs` says, with other words too."""
    (run,) = json.loads(kmc("runs", runs, "--json").stdout)["runs"]
    found: dict[str, Any] = json.loads(kmc(*shlex.split(run["resume"])[1:], "--json", *words).stdout)
    return found


@pytest.mark.parametrize(
    ("words", "status", "code", "help"),
    [
        (("--shards", "2", "--storage", "a/folder"), 2, "KMC621", "write s3://BUCKET/FOLDER"),
        (("--storage", "file:///tmp/x"), 2, "KMC616", "add --shards N"),
        (("--resume", "x", "--storage", "file:///tmp/x"), 2, "KMC622", "leave out --storage"),
        (("--shards", "2", "--storage", "file:///dev/null/x"), 153, "KMC570", "see that the service runs"),
    ],
)
def test_a_storage_that_cannot_be_is_refused(words: tuple[str, ...], status: int, code: str, help: str) -> None:
    ran = kmc("check", "die_hard", *words)
    assert (ran.exit_code, f"error[{code}]" in ran.stderr, help in ran.stderr) == (status, True, True)
    assert not list(Path().rglob("run.json"))


def test_a_missing_bucket_is_refused_before_the_search(s3: S3Server) -> None:
    ran = kmc("check", "die_hard", "--shards", "2", "--storage", s3.address("x", bucket="no-such-bucket"))
    assert (ran.exit_code, "error[KMC575]" in ran.stderr) == (153, True)
    assert "help: make the bucket, or correct the address" in ran.stderr
    assert list(Path(".kmc/runs").iterdir()) == []


def test_a_storage_without_pyarrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
    ran = kmc("check", "die_hard", "--shards", "2", "--storage", "s3://bucket/x")
    assert (ran.exit_code, "error[KMC572]" in ran.stderr) == (153, True)
    assert f"install it: {sys.executable} -m pip install 'kraft-model-checker[storage]'" in ran.stderr


@pytest.mark.slow
def test_the_result_of_a_run_that_ended_is_listed(runs: str) -> None:
    assert kmc("runs", runs).stdout.startswith("No run is saved in s3://")
    found = json.loads(kmc(*DIE_HARD, "--storage", runs, "--json").stdout)
    assert counts(found) == counts(check_json("die_hard"))
    (run,) = json.loads(kmc("runs", runs, "--json").stdout)["runs"]
    assert (run["result"]["distinct"], run["resume"]) == (found["distinct"], None)
    assert run["folder"].startswith("s3://")
    assert {path.name for path in the_run().iterdir()} == {"model.cfg", "result.json"}


@pytest.mark.slow
def test_a_run_goes_on_from_its_storage_alone(runs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = kmc(*DIE_HARD, "--storage", runs, "--max-depth", "3")
    assert "Resume: kmc check --resume .kmc/runs/die_hard" in ran.stdout
    listed = kmc("runs", runs).stdout
    assert "Can go on:" in listed
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    found = resume_listed(runs, "--max-depth", "90")
    assert counts(found) == counts(check_json("die_hard"))
    assert "Can go on:" not in kmc("runs", runs).stdout


@pytest.mark.slow
def test_a_run_is_not_put_into_the_folder_of_another(runs: str) -> None:
    kmc(*DIE_HARD, "--storage", runs, "--max-depth", "3")
    Path(".kmc/runs").rename("saved")
    kmc(*DIE_HARD, "--max-depth", "3")
    (run,) = json.loads(kmc("runs", runs, "--json").stdout)["runs"]
    the_run().rename(Path(".kmc/runs") / next(Path("saved").iterdir()).name)
    ran = kmc("check", "--resume", run["folder"])
    assert (ran.exit_code, "error[KMC623]" in ran.stderr, "another --run-dir" in ran.stderr) == (2, True, True)
    found = json.loads(kmc("check", "--resume", run["folder"], "--run-dir", "saved", "--json").stdout)
    assert counts(found) == counts(check_json("die_hard"))


@pytest.mark.parametrize("name", ["a-run-20261122-101500", "no-run"])
def test_a_run_that_a_storage_does_not_have_is_not_resumed(name: str, runs: str) -> None:
    address = runs.replace("?", f"/{name}?")
    ran = kmc("check", "--resume", address)
    assert (ran.exit_code, "error[KMC555]" in ran.stderr) == (153, True)
    assert not list(Path().rglob(name))


@pytest.mark.slow
@pytest.mark.parametrize("point", ["before put manifest:4", "after put manifest:4"])
def test_a_driver_that_is_killed_loses_nothing(point: str, runs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [sys.executable, "-m", "kmc", *DIE_HARD, "--storage", runs]
    ran = subprocess.run(words, env={**os.environ, FAILPOINT_VARIABLE: point}, capture_output=True, check=False)
    assert ran.returncode == -signal.SIGKILL
    if point.startswith("before"):
        Path("elsewhere").mkdir()
        monkeypatch.chdir("elsewhere")
        found = resume_listed(runs)
    else:
        found = json.loads(kmc("check", "--resume", str(the_run()), "--json").stdout)
    assert counts(found) == counts(check_json("die_hard"))


@pytest.mark.slow
def test_a_run_that_another_process_took_over_ends_with_one_error(
    runs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    level, levels = ThreadExecutor.level, []

    def rival(self: ThreadExecutor, *given: Any) -> Any:
        levels.append(1)
        if len(levels) == 5:
            address = json.loads(kmc("runs", runs, "--json").stdout)["runs"][0]["folder"]
            RunInStorage(address, tmp_path / "cache").resumed()
        return level(self, *given)

    monkeypatch.setattr(ThreadExecutor, "level", rival)
    ran = kmc(*DIE_HARD, "--storage", runs)
    assert (ran.exit_code, "error[KMC571]" in ran.stderr) == (153, True)
    assert f"process {os.getpid()} of " in ran.stderr
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def fragile_s3(tmp_path: Path, credentials: None) -> Iterator[S3Server]:
    """A server of its own, to be stopped."""
    with s3_server(tmp_path / "log") as server:
        yield server


@pytest.mark.slow
def test_a_service_that_stops_leaves_a_run_that_goes_on(fragile_s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    level, levels = ThreadExecutor.level, []

    def stopping(self: ThreadExecutor, *given: Any) -> Any:
        levels.append(1)
        if len(levels) == 5:
            fragile_s3.stop()
        return level(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(ThreadExecutor, "level", stopping)
        patch.setattr(remote_folder, "RETRIES", Retries(attempts=1))
        ran = kmc(*DIE_HARD, "--storage", fragile_s3.address("runs"))
    assert (ran.exit_code, "error[KMC570]" in ran.stderr, "Traceback" in ran.stderr) == (153, True, False)
    assert "see that the service runs" in ran.stderr
    assert f"4 levels are saved; go on with them: kmc check --resume {the_run()}" in ran.stderr
    assert the_run().is_dir()
    fragile_s3.start()
    found = json.loads(kmc("check", "--resume", str(the_run()), "--json").stdout)
    assert counts(found) == counts(check_json("die_hard"))
    assert [name for name in fragile_s3.names("runs") if "/data/" in name or "/control/" in name] == []


@pytest.mark.parametrize(("every", "note"), [("1h", "nothing to resume"), ("0", "1 levels are saved; go on with them")])
def test_a_storage_that_lets_nothing_be_removed_is_one_error(every: str, note: str, runs: str, s3: S3Server) -> None:
    with s3.failing(1, status=403, methods=("DELETE", "POST")):
        ran = kmc("check", "die_hard", "--shards", "2", "--threads", "1", "--save-every", every, "--storage", runs)
    assert (ran.exit_code, "error[KMC574]" in ran.stderr, note in ran.stderr) == (153, True, True)
    assert "give credentials that may read, write, list and remove there" in ran.stderr


@pytest.mark.slow
def test_kept_states_of_a_storage_are_written_as_tables(runs: str) -> None:
    kmc(*DIE_HARD, "--storage", runs, "--keep-states")
    assert [path.name for path in the_run().glob("s*")] == ["states"]
    address = json.loads(kmc("runs", runs, "--json").stdout)["runs"][0]["folder"]
    ran = kmc("states", address)
    assert (ran.exit_code, "error[KMC634]" in ran.stderr) == (2, True)
    for words in ((str(the_run()),), (address, "--out", "tables")):
        ran = kmc("states", *words, "--json")
        assert json.loads(ran.stdout)["states"] == check_json("die_hard")["distinct"]
    assert not list(the_run().glob("copies*"))
    with pytest.raises(SystemFault, match="there is no run to resume"):
        RunDirectory.opened(the_run())
