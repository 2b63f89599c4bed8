"""One file after another in a folder held open: when each reaches the disk, what is refused, and nothing left open."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands.descriptors import opened_in

from kmc import failpoints
from kmc.engine.files.durable_file import DataFile
from kmc.engine.files.durable_folder import DurableFolder
from kmc.engine.files.run_directory import FOLDER, RunDirectory
from kmc.engine.files.run_manifest import Snapshot, parse_manifest
from kmc.errors import SystemFault
from kmc.failpoints import FAILPOINT_VARIABLE, reach

SNAPSHOT = Snapshot((), (), (), 0, 0, 0, 0, 0, 0, (), (), 0, 0.0, 0.0)


class Watched:
    """The syncs and renames of a folder, with the content of a file when it is synced."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.steps: list[tuple[Any, ...]] = []
        self._rename = os.replace
        patch.setattr(os, "fsync", self.sync)
        patch.setattr(os, "replace", self.replace)

    def sync(self, descriptor: int) -> None:
        """Note what is synced."""
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        self.steps.append(("sync", path.name, path.read_bytes() if path.is_file() else None))

    def replace(self, old: str, new: str, **folders: Any) -> None:
        """Note a rename, and do it."""
        self.steps.append(("rename", old, new))
        self._rename(old, new, **folders)


def test_a_file_is_replaced_when_its_content_is_on_the_disk_and_the_name_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.json").write_bytes(b"old")
    (tmp_path / "run.json.new").write_bytes(b"left over by a kill, and longer than what comes")
    watched = Watched(monkeypatch)
    with DurableFolder(tmp_path) as folder:
        folder.replace("run.json", b"new content")
    assert watched.steps == [
        ("sync", "run.json.new", b"new content"),
        ("rename", "run.json.new", "run.json"),
        ("sync", tmp_path.name, None),
    ]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"run.json": b"new content"}


def test_a_file_that_is_written_anew_holds_nothing_of_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(b"a longer content")
    with DurableFolder(tmp_path) as folder:
        folder.write("run.json", b"short")
        assert folder.read("run.json") == b"short"
        folder.write("run.json", b"")
        assert folder.read("run.json") == b""


def test_what_the_system_writes_in_pieces_arrives_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, pwrite = os.write, os.pwrite
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, place: pwrite(descriptor, data[:5], place))
    words = np.arange(1, 9, dtype=np.int64) << 40
    with DurableFolder(tmp_path) as folder:
        folder.replace("run.json", bytes(range(100)))
        folder.write("lock", bytes(range(50)))
        file = DataFile(folder, "known")
        file.write(words.ctypes.data, 8, 2)
        file.close()
    assert (tmp_path / "run.json").read_bytes() == bytes(range(100))
    assert (tmp_path / "lock").read_bytes() == bytes(range(50))
    assert (tmp_path / "known").read_bytes() == bytes(16) + words.tobytes()


def test_words_of_a_data_file_are_synced_when_that_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch)
    word = ctypes.c_int64(7)
    with DurableFolder(tmp_path) as folder:
        file = DataFile(folder, "known")
        file.write(ctypes.addressof(word), 1, 0)
        assert watched.steps == []
        file.sync()
        assert watched.steps == [("sync", "known", bytes(word))]
        file.close()
        file.close()


def test_a_file_with_a_second_name_is_read_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "known").write_bytes(b"content")
    os.link(tmp_path / "known", tmp_path / "elsewhere")
    with DurableFolder(tmp_path) as folder:
        assert folder.read("known") == b"content"
        refused("KMC556", lambda: folder.write("known", b"x"))
        refused("KMC556", lambda: folder.open("known"))
    assert (tmp_path / "elsewhere").read_bytes() == b"content"


def test_a_folder_that_is_closed_twice_closes_nothing_else(tmp_path: Path) -> None:
    folder = DurableFolder(tmp_path)
    folder.close()
    # It gets the descriptor that the folder had.
    other = os.open(tmp_path, os.O_RDONLY)
    folder.close()
    os.close(other)


def refuse(*_: object, **__: object) -> None:
    """What a system without room answers."""
    raise OSError(errno.ENOSPC, "No space left on device")


def refused(code: str, action: Callable[[], object]) -> None:
    """An action ends in this error."""
    with pytest.raises(SystemFault) as caught:
        action()
    assert caught.value.code == code


ACTIONS: dict[str, Callable[[DurableFolder], object]] = {
    "read": lambda folder: folder.read("file"),
    "write": lambda folder: folder.write("file", b"x"),
    "replace": lambda folder: folder.replace("file", b"x"),
    "remove": lambda folder: folder.remove("file"),
    "ask for a lock": lambda folder: folder.is_locked("file"),
    "read a link": lambda folder: refused("KMC556", lambda: folder.read("link")),
    "write a link": lambda folder: refused("KMC556", lambda: folder.write("link", b"x")),
    "read a FIFO": lambda folder: refused("KMC556", lambda: folder.read("fifo")),
    "lock what is locked": lambda folder: folder.lock("locked"),
    "remove the folder": lambda folder: folder.remove_folder(),
    "enter one": lambda folder: DurableFolder.inside(folder.path / "inner", create=True).close(),
    "enter a file": lambda folder: refused("KMC556", lambda: DurableFolder.inside(folder.path / "file")),
    "enter a link": lambda folder: refused("KMC556", lambda: DurableFolder.inside(folder.path / "link")),
    "enter nothing": lambda folder: refused("KMC550", lambda: DurableFolder.inside(folder.path / "none")),
}


@pytest.mark.parametrize("title", ACTIONS)
def test_nothing_stays_open(title: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    with DurableFolder(tmp_path) as folder:
        lock = folder.lock("locked")
        assert lock is not None
        before = opened_in(tmp_path)
        ACTIONS[title](folder)
        assert opened_in(tmp_path) == before
        os.close(lock)


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "ftruncate"])
def test_a_full_disk_is_one_error_and_leaves_nothing_open(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"content")
    with DurableFolder(tmp_path) as folder:
        before = opened_in(tmp_path)
        with monkeypatch.context() as patch:
            patch.setattr(os, call, refuse)
            refused("KMC550", lambda: (folder.write if call == "ftruncate" else folder.replace)("file", b"x"))
        assert opened_in(tmp_path) == before
        assert folder.read("file") == b"content"


def test_a_lock_is_held_until_its_descriptor_is_closed(tmp_path: Path) -> None:
    with DurableFolder(tmp_path) as folder:
        assert not folder.is_locked("lock")
        held = folder.lock("lock")
        assert held is not None
        assert folder.is_locked("lock")
        assert folder.lock("lock") is None
        os.close(held)
        assert not folder.is_locked("lock")
        again = folder.lock("lock")
        assert again is not None
        os.close(again)


def test_a_file_is_made_where_it_is_opened_to_be_written(tmp_path: Path) -> None:
    with DurableFolder(tmp_path) as folder:
        with pytest.raises(FileNotFoundError):
            folder.read("known")
        assert folder.names() == []
        os.close(folder.open("known"))
        os.close(folder.open("known"))
        assert folder.names() == ["known"]


def test_names_are_sorted_and_only_regular_files_count_as_files(tmp_path: Path) -> None:
    for name in ("rows-2", "known", "rows-10", "a"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("known")
    (tmp_path / "folder").mkdir()
    with DurableFolder(tmp_path) as folder:
        assert folder.names() == ["a", "folder", "known", "link", "rows-10", "rows-2"]
        assert [name for name in (*folder.names(), "none") if folder.is_file(name)] == [
            "a",
            "known",
            "rows-10",
            "rows-2",
        ]
        for name in (*folder.names(), "none"):
            folder.remove(name)
        assert folder.names() == ["folder", "link"]
        assert folder.owner == tmp_path.stat().st_uid


def test_a_folder_is_removed_when_it_is_empty_and_where_it_was(tmp_path: Path) -> None:
    with DurableFolder.inside(tmp_path / "checkpoint", create=True) as folder:
        (tmp_path / "checkpoint" / "notes").touch()
        folder.remove_folder()
        assert (tmp_path / "checkpoint" / "notes").exists()
        (tmp_path / "checkpoint" / "notes").unlink()
        (tmp_path / "checkpoint").rename(tmp_path / "moved")
        (tmp_path / "checkpoint").mkdir()
        folder.remove_folder()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "moved"]
        (tmp_path / "checkpoint").rmdir()
        (tmp_path / "moved").rename(tmp_path / "checkpoint")
        folder.remove_folder()
        assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_entered_and_only_made_where_that_is_asked(tmp_path: Path) -> None:
    with pytest.raises(SystemFault, match=f"open of {tmp_path}/checkpoint: No such file"):
        DurableFolder.inside(tmp_path / "checkpoint")
    (tmp_path / "file").touch()
    with pytest.raises(SystemFault, match=f"open of {tmp_path}/file: Not a directory"):
        DurableFolder.inside(tmp_path / "file" / "checkpoint", create=True)
    (tmp_path / "file").unlink()
    for _ in range(2):
        DurableFolder.inside(tmp_path / "checkpoint", create=True).close()
    DurableFolder.inside(tmp_path / "checkpoint").close()
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


def test_each_step_stands_between_its_failpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points: list[str] = []
    monkeypatch.setattr(failpoints, "reach", points.append)
    with DurableFolder(tmp_path) as folder:
        points.clear()
        folder.replace("run.json", b"x")
        folder.remove("rows-12")
        refused("KMC550", lambda: folder.write("no/folder", b"x"))
    steps = ["before write", "before sync", "after write", "before rename", "after rename"]
    assert points[:5] == [f"{name} run.json" for name in steps]
    kind = tmp_path.name.split("-")[0]
    assert points[5:] == [
        f"before sync {kind}",
        f"after sync {kind}",
        "before remove rows",
        "after remove rows",
        "before create folder",
    ]


@pytest.mark.parametrize(("wanted", "killed_at"), [("after sync known", 1), ("after sync known:3", 3), ("other", None)])
def test_a_failpoint_kills_where_the_environment_says(
    wanted: str, killed_at: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kills: list[tuple[int, int]] = []
    monkeypatch.setattr(failpoints, "_passed", type(failpoints._passed)())
    monkeypatch.setattr(os, "kill", lambda process, number: kills.append((process, number)))
    reach("after sync known")
    monkeypatch.setenv(FAILPOINT_VARIABLE, wanted)
    for passed in range(1, 4):
        reach("before sync known")
        reach("after sync known")
        assert (kills != []) == (killed_at is not None and passed >= killed_at)
    assert set(kills) <= {(os.getpid(), signal.SIGKILL)}


def test_the_first_checkpoint_puts_the_names_of_its_folders_on_the_disk_before_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs" / "r1").mkdir(parents=True)
    directory = RunDirectory.created(tmp_path / "runs" / "r1", {})
    first, second = (replace(directory.manifest, snapshot=replace(SNAPSHOT, levels=(1,) * n)) for n in (1, 2))
    manifest = [("sync", "run.json.new"), ("rename", "run.json.new"), ("sync", "checkpoint")]
    watched = Watched(monkeypatch)
    directory.commit(first)
    assert [step[:2] for step in watched.steps] == [
        ("sync", "r1"), ("sync", "runs"), ("sync", "checkpoint"), *manifest,
    ]  # fmt: skip
    assert watched.steps[3][2] == first.as_bytes()
    watched.steps.clear()
    directory.commit(second)
    assert [step[:2] for step in watched.steps] == [("sync", "checkpoint"), *manifest]
    assert directory.manifest == second
    directory.close()


def test_a_new_run_may_leave_its_first_manifest_to_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch)
    directory = RunDirectory.created(tmp_path, {"argv": []})
    directory.begin({"kernels": "ab"})
    directory.close()
    assert watched.steps == []
    assert parse_manifest((tmp_path / FOLDER / "run.json").read_bytes(), tmp_path).digests == {"kernels": "ab"}
