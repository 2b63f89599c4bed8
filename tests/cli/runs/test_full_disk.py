"""A disk that is full before anything of a run was saved: what was explored goes on, or the run ends at once."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import check_json, kmc

from kmc.engine.files.run_directory import RESERVE_BYTES, RunDirectory

MODEL = ("kraft", "smoke")
COMPARED = ("result", "generated", "distinct", "depth", "levels", "generated_by_action")
WRITES = ("write", "pwrite")


class Disk:
    """A disk that takes so many writes of files of a run and then none, until there is room again."""

    def __init__(self, patch: pytest.MonkeyPatch, writes: int) -> None:
        self.left = writes
        self.refused = 0
        for name in WRITES:
            patch.setattr(os, name, self._limited(getattr(os, name)))

    def _limited(self, write: Any) -> Any:
        def limited(*given: Any) -> int:
            self.left -= 1
            if self.left < 0:
                self.refused += 1
                raise OSError(errno.ENOSPC, "No space left on device")
            return int(write(*given))

        return limited

    def free(self) -> None:
        """Make room."""
        self.left = 1 << 60


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """The result of the whole model, whose compiled code is then kept: it would be on the full disk as well."""
    return check_json(*MODEL)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def the_run() -> Path:
    """The folder of the only run."""
    (run,) = Path(".kmc/runs").iterdir()
    return run


def same(found: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Return whether a result is that of the whole model."""
    return {key: found[key] for key in COMPARED} == {key: whole[key] for key in COMPARED}


@pytest.mark.slow
@pytest.mark.parametrize("writes", [20, 60, 150])
@pytest.mark.parametrize("shards", ["1", "3"])
def test_shards_save_their_last_level_in_the_reserve(
    monkeypatch: pytest.MonkeyPatch, writes: int, shards: str, whole: dict[str, Any]
) -> None:
    with monkeypatch.context() as patch:
        disk = Disk(patch, writes)
        spend = RunDirectory.spend_reserve

        def spent(directory: RunDirectory) -> None:
            if disk.left < 0:
                assert (directory.folder / "reserve").stat().st_size == RESERVE_BYTES
                disk.free()
            spend(directory)

        patch.setattr(RunDirectory, "spend_reserve", spent)
        ran = kmc("check", *MODEL, "--shards", shards, "--threads", "1")
    assert (ran.exit_code, "error[KMC550]" in ran.stderr) == (153, True)
    assert f"levels are saved; go on with them: kmc check --resume {the_run()}" in ran.stderr
    assert same(json.loads(kmc("check", "--resume", str(the_run()), "--json").stdout), whole)


def full_when_it_begins(patch: pytest.MonkeyPatch) -> Disk:
    """A disk that fills up when a search begins."""
    disk = Disk(patch, 1 << 60)
    begin = RunDirectory.begin

    def begun(directory: RunDirectory, digests: Any) -> None:
        begin(directory, digests)
        disk.left = 0

    patch.setattr(RunDirectory, "begin", begun)
    return disk


@pytest.mark.slow
def test_a_search_in_memory_goes_on_without_its_first_save(
    monkeypatch: pytest.MonkeyPatch, whole: dict[str, Any]
) -> None:
    with monkeypatch.context() as patch:
        disk = full_when_it_begins(patch)
        ran = kmc("check", *MODEL, "--save-every", "0", "--json", "--threads", "1")
    assert disk.refused > 0
    # The result cannot be written either, but it is known, and shown.
    assert same(json.loads(ran.stdout), whole)


@pytest.mark.slow
def test_a_search_in_memory_saves_once_there_is_room(monkeypatch: pytest.MonkeyPatch, whole: dict[str, Any]) -> None:
    with monkeypatch.context() as patch:
        disk = full_when_it_begins(patch)
        clean = RunDirectory.clean

        def cleaned(directory: RunDirectory, *kept: Any) -> None:
            clean(directory, *kept)
            disk.free()

        patch.setattr(RunDirectory, "clean", cleaned)
        ran = kmc("check", *MODEL, "--save-every", "0", "--max-depth", "10", "--json", "--threads", "1")
    assert (json.loads(ran.stdout)["depth"], disk.refused > 0) == (10, True)
    assert same(json.loads(kmc("check", "--resume", str(the_run()), "--json").stdout), whole)


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--shards", "2")])
def test_a_disk_without_room_for_the_reserve_ends_the_run_at_once(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    with monkeypatch.context() as patch:
        disk = Disk(patch, 1 << 60)
        begin = RunDirectory.begin

        def full(directory: RunDirectory, digests: Any) -> None:
            disk.left = 0
            begin(directory, digests)

        patch.setattr(RunDirectory, "begin", full)
        ran = kmc("check", *MODEL, *words)
    assert (ran.exit_code, "error[KMC550]: cannot save the run" in ran.stderr) == (153, True)
    assert "no level had been saved, so nothing of this run is kept" in ran.stderr
    assert not list(Path(".kmc/runs").iterdir())
