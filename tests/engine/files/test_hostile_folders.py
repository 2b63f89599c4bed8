"""A folder of a run in which other things lie: nothing outside is touched, and nothing of another is removed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.kernels.grid import Grid
from support.runs.saved import begin, go_on, search_in, told, whole

from kmc.engine.files import durable_folder
from kmc.engine.files.run_directory import FOLDER, RunDirectory, is_locked, saved_manifest
from kmc.engine.files.run_manifest import _checksum
from kmc.errors import SystemFault
from kmc.result import Limits

GRID = Grid(3, 6, sum=5)
PRECIOUS = b"precious " * 1000
SECONDS_MAX = 30


@pytest.fixture(autouse=True)
def _never_waiting() -> Iterator[None]:
    """What waits for the other end of a FIFO fails instead."""

    def fail(*_: object) -> None:
        raise AssertionError("it hangs")  # not an OSError, which kmc would handle

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(SECONDS_MAX)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def precious(tmp_path: Path) -> Iterator[Path]:
    """A file outside the run, which must be what it was in the end."""
    path = tmp_path / "outside" / "precious"
    path.parent.mkdir()
    path.write_bytes(PRECIOUS)
    before = path.stat()
    yield path
    assert path.read_bytes() == PRECIOUS
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert [found.name for found in path.parent.iterdir()] == ["precious"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that a bound cut short after five levels."""
    directory = begin(tmp_path / "run")
    assert search_in(directory, GRID, limits=Limits(depth=5)).run().stopped is not None
    directory.close()
    return tmp_path / "run"


def refused(path: Path, *codes: str) -> SystemFault:
    """The one error that going on with a run ends in."""
    with pytest.raises(SystemFault) as caught:
        go_on(path, GRID)
    assert caught.value.code in codes
    assert str(path / FOLDER) in caught.value.message
    return caught.value


NAMES = ("known", "rows-5", "rows-6", "run.json", "run.json.new", "lock")


@pytest.mark.parametrize("name", NAMES)
def test_a_symlink_in_the_place_of_a_file_is_not_followed(name: str, run: Path, precious: Path) -> None:
    (run / FOLDER / name).unlink(missing_ok=True)
    (run / FOLDER / name).symlink_to(precious)
    assert "it is a symbolic link" in refused(run, "KMC556").message
    assert (run / FOLDER / name).is_symlink()


@pytest.mark.parametrize("name", NAMES)
def test_a_symlink_to_nothing_makes_no_file(name: str, run: Path, precious: Path) -> None:
    (run / FOLDER / name).unlink(missing_ok=True)
    (run / FOLDER / name).symlink_to(precious.parent / "new")
    refused(run, "KMC556")


@pytest.mark.parametrize("name", ["known", "rows-6", "lock"])
def test_a_file_with_a_name_elsewhere_is_not_written(name: str, run: Path, tmp_path: Path) -> None:
    (run / FOLDER / name).touch()
    elsewhere = tmp_path / "elsewhere"
    os.link(run / FOLDER / name, elsewhere)
    before = elsewhere.read_bytes()
    if name == "rows-6":
        # It is not part of the saved level: it is removed under this name, and stays under the other.
        assert told(go_on(run, GRID)) == whole(GRID)
    else:
        assert "has another name" in refused(run, "KMC556").message
    assert elsewhere.read_bytes() == before


def put_fifo(path: Path) -> None:
    os.mkfifo(path)


def put_folder(path: Path) -> None:
    path.mkdir()


def put_socket(path: Path) -> None:
    descriptor = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{descriptor}/{path.name}")
    os.close(descriptor)


def put_device(path: Path) -> None:
    try:
        os.mknod(path, 0o20600, os.makedev(1, 5))  # /dev/zero: reading it never ends
    except PermissionError:
        pytest.skip("only root makes devices")


def put_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("put", [put_fifo, put_folder, put_socket, put_device, put_loop])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_a_file_is_one_error(put: Callable[[Path], None], name: str, run: Path) -> None:
    (run / FOLDER / name).unlink(missing_ok=True)
    put(run / FOLDER / name)
    assert is_locked(run) is False
    assert (saved_manifest(run) is None) == (name == "run.json")
    refused(run, "KMC550", "KMC551", "KMC556")
    assert os.path.lexists(run / FOLDER / name)


def test_a_checkpoint_that_is_a_link_is_refused(run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.move(run / FOLDER, outside)
    (run / FOLDER).symlink_to(outside)
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    refused(run, "KMC556")
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
    assert saved_manifest(run) is None


def test_a_run_may_be_given_through_a_link(run: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(run)
    assert told(go_on(tmp_path / "link", GRID)) == whole(GRID)


def test_a_folder_that_is_swapped_while_the_search_runs_is_not_left(tmp_path: Path, precious: Path) -> None:
    directory = begin(tmp_path / "run")
    shutil.move(tmp_path / "run", tmp_path / "moved")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / FOLDER).symlink_to(precious.parent)
    search_in(directory, GRID, limits=Limits(depth=5)).run()
    directory.close()
    assert told(go_on(tmp_path / "moved", GRID)) == whole(GRID)


@pytest.mark.parametrize("others", [0o0, 12345])
def test_a_run_of_another_user_is_refused(others: int, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        os.chown(run / FOLDER, others, -1)
    else:
        monkeypatch.setattr("os.geteuid", lambda: others or os.getuid())
    if others:
        assert "it belongs to another user" in refused(run, "KMC556").message
        assert saved_manifest(run) is None
    else:
        assert told(go_on(run, GRID)) == whole(GRID)


STRANGE_FILES = ("notes.txt", "rows-77.bak", "known ", "rows-1x")


def put_strangers(folder: Path, precious: Path) -> Callable[[], None]:
    """Put things of another's into a folder; call the result when they must still be there."""
    for name in STRANGE_FILES:
        (folder / name).write_text("mine")
    (folder / "rows-78").symlink_to(precious)
    os.mkfifo(folder / "rows-79")
    (folder / "rows-80").mkdir()
    (folder / "rows-80" / "known").write_text("mine")
    strangers = (*STRANGE_FILES, "rows-78", "rows-79", "rows-80", "rows-80/known")
    found = {name: (folder / name).lstat() for name in strangers}

    def check() -> None:
        for name, before in found.items():
            now = (folder / name).lstat()
            assert (now.st_ino, now.st_size, now.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)

    return check


def test_only_files_of_kmc_are_removed_at_the_end(tmp_path: Path, precious: Path) -> None:
    directory = begin(tmp_path / "run")
    strangers = put_strangers(directory.folder, precious)
    search_in(directory, GRID, threads=2).run()
    strangers()
    directory.discard()
    strangers()
    left = {path.name for path in directory.folder.iterdir()}
    assert left == {*STRANGE_FILES, "rows-78", "rows-79", "rows-80"}


def test_only_files_of_kmc_are_removed_when_a_run_goes_on(run: Path, precious: Path) -> None:
    (run / FOLDER / "rows-99").write_text("left over by a kill")
    strangers = put_strangers(run / FOLDER, precious)
    assert told(go_on(run, GRID)) == whole(GRID)
    strangers()
    assert not (run / FOLDER / "rows-99").exists()


def rewritten(run: Path, change: Callable[[Any], object]) -> None:
    """Change the manifest, and make its checksum right."""
    path = run / FOLDER / "run.json"
    found = json.loads(path.read_bytes())
    change(found["run"])
    path.write_text(json.dumps({**found, "checksum": _checksum(found["run"])}))


@pytest.mark.parametrize("words", [0, 1])
@pytest.mark.parametrize("part", ["known", "met", "chunks", "dictionary", "blocks"])
@pytest.mark.parametrize(
    "name",
    ["../../outside/precious", "/etc/passwd", "rows-5/../known", "..", ".", "", "lock", "run.json", "rows-5\0", "é"],
)
def test_a_manifest_that_leads_out_of_the_folder_is_refused(
    name: str, part: str, words: int, run: Path, precious: Path
) -> None:
    def change(found: Any) -> None:
        extent = {**found, **found["frontier"]}[part]
        for each in extent if part == "blocks" else [extent]:
            each.update(file=name, words=words and max(words, each["words"]))

    rewritten(run, change)
    assert repr(name) in refused(run, "KMC551").message


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["known"].update(place=-1),
        lambda found: found["frontier"]["blocks"][0].update(place=-(1 << 40)),
        lambda found: found["frontier"]["blocks"][0].update(words=-1),
        lambda found: found["frontier"]["blocks"][0].update(file="known"),
        lambda found: found["frontier"].update(blocks=[]),
        lambda found: found["frontier"].pop("chunks"),
        lambda found: found.update(frontier=None),
        lambda found: found.update(known=None),
        lambda found: found.update(met=3),
        lambda found: found.update(snapshot=[]),
        lambda found: found.clear(),
    ],
)
def test_a_manifest_that_misleads_is_damaged(change: Callable[[Any], object], run: Path) -> None:
    rewritten(run, change)
    refused(run, "KMC551")


def test_a_run_that_ends_while_it_is_opened_is_over_and_not_damaged(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = RunDirectory.opened(run)

    def lock_of_a_removed_file(*_: object) -> int:
        first.discard()
        return os.open(os.devnull, os.O_RDONLY)

    monkeypatch.setattr(durable_folder.DurableFolder, "lock", lock_of_a_removed_file)
    with pytest.raises(SystemFault, match="there is no run to resume") as caught:
        RunDirectory.opened(run)
    assert caught.value.code == "KMC555"
