"""The folder of a run without a search: what is found there, what is refused, and what is removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.commands.descriptors import opened_in

from kmc.engine.files.durable_folder import DurableFolder
from kmc.engine.files.run_directory import FOLDER, RunDirectory, is_locked, saved_manifest
from kmc.engine.files.run_manifest import Extent, Frontier, RunManifest, Snapshot
from kmc.errors import SystemFault

SNAPSHOT = Snapshot((1, 2), (3,), (), 0, 3, 1, 40, 0, 0, (), (), 0, 0.5, 0.5)
BLOCK, DICTIONARY = Extent("rows-2", 0, 40, 1), Extent("rows-2", 512, 8, 2)
MANIFEST = RunManifest(
    {"argv": ["check"]}, {"kernels": "ab"}, 64, SNAPSHOT, Extent("known", 0, 3, 3), Extent("rows-2", 0, 0, 0),
    Frontier((BLOCK,), Extent("rows-2", 40, 4, 4), DICTIONARY),
)  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with two levels saved; its files end with the last word that the manifest speaks of."""
    (tmp_path / "run").mkdir()
    directory = RunDirectory.created(tmp_path / "run", MANIFEST.about)
    assert (directory.resumed, directory.ended) == (False, False)
    directory.begin(MANIFEST.digests)
    np.arange(3).tofile(directory.folder / "known")
    np.arange(520).tofile(directory.folder / "rows-2")
    directory.commit(MANIFEST)
    directory.close()
    return tmp_path / "run"


def refused(path: Path, code: str, why: str) -> None:
    """A run is not opened, for this reason, and nothing stays open or locked."""
    with pytest.raises(SystemFault, match=why) as caught:
        RunDirectory.opened(path)
    assert caught.value.code == code
    assert not opened_in(path)
    assert not is_locked(path)


def names(path: Path) -> list[str]:
    """What lies in the checkpoint of a run."""
    return sorted(found.name for found in (path / FOLDER).iterdir())


def test_a_saved_run_is_opened_with_its_manifest(run: Path) -> None:
    directory = RunDirectory.opened(run)
    assert (directory.manifest, directory.resumed, directory.ended) == (MANIFEST, True, False)
    assert (directory.path, directory.folder) == (run, run / FOLDER)
    assert directory.mapped("rows-2").array.tolist() == list(range(520))
    directory.close()
    assert saved_manifest(run) == MANIFEST


def test_a_run_is_locked_while_it_is_open(run: Path) -> None:
    assert not is_locked(run)
    directory = RunDirectory.opened(run)
    assert is_locked(run)
    assert saved_manifest(run) == MANIFEST
    with pytest.raises(SystemFault, match="another process is working on") as caught:
        RunDirectory.opened(run)
    assert caught.value.code == "KMC553"
    directory.close()
    assert not is_locked(run)
    assert not opened_in(run)


def test_a_run_that_is_closed_twice_closes_nothing_else(run: Path) -> None:
    directory = RunDirectory.opened(run)
    directory.close()
    others = [os.open(run, os.O_RDONLY) for _ in range(2)]
    directory.close()
    directory.discard()
    for other in others:
        os.close(other)
    assert names(run) == ["known", "lock", "rows-2", "run.json"]


def empty_manifest(folder: Path) -> None:
    (folder / "run.json").write_bytes(b"")


def no_manifest(folder: Path) -> None:
    (folder / "run.json").unlink()


def no_folder(folder: Path) -> None:
    folder.rename(folder.parent / "other")


@pytest.mark.parametrize("change", [empty_manifest, no_manifest, no_folder])
def test_where_nothing_was_saved_there_is_nothing_to_resume(change: Callable[[Path], None], run: Path) -> None:
    change(run / FOLDER)
    refused(run, "KMC555", f"there is no run to resume in {run}")
    assert saved_manifest(run) is None


def test_a_run_that_saved_no_level_is_opened(run: Path) -> None:
    # A run that ended before its first checkpoint goes on from its initial states.
    (run / FOLDER / "run.json").write_bytes(RunManifest({}).as_bytes())
    directory = RunDirectory.opened(run)
    assert directory.manifest.levels == 0
    assert names(run) == ["lock", "run.json"]
    directory.close()


@pytest.mark.parametrize(("name", "words"), [("known", 3), ("rows-2", 520)])
def test_a_file_that_lacks_a_word_is_cut_off(name: str, words: int, run: Path) -> None:
    path = run / FOLDER / name
    os.truncate(path, words * 8 - 1)
    refused(run, "KMC551", f"{path}: it is cut off")
    os.truncate(path, words * 8)
    RunDirectory.opened(run).close()


def test_a_file_that_is_gone_is_named(run: Path) -> None:
    (run / FOLDER / "known").unlink()
    refused(run, "KMC551", "known: No such file or directory")


def test_a_manifest_that_cannot_be_read_is_not_called_damaged(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(DurableFolder, "read", fail)
    refused(run, "KMC558", "run.json: Input/output error")


@pytest.mark.parametrize(("owner", "is_accepted"), [(1000, True), (0, True), (1, False), (1001, False)])
def test_a_run_must_belong_to_its_user_or_to_root(
    owner: int, is_accepted: bool, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DurableFolder, "owner", property(lambda folder: owner))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    if is_accepted:
        RunDirectory.opened(run).close()
    else:
        refused(run, "KMC556", "it belongs to another user")


def test_only_the_same_search_goes_on(run: Path) -> None:
    directory = RunDirectory.opened(run)
    directory.begin({"kernels": "ab"})
    for digests in ({"kernels": "cd"}, {"kernels": "ab", "bounds": "x"}):
        with pytest.raises(SystemFault, match="changed since it began") as caught:
            directory.begin(digests)
        assert caught.value.code == "KMC554"
    assert directory.manifest == MANIFEST
    directory.close()


def put(run: Path, *files: str) -> None:
    """Put files into the checkpoint of a run."""
    for name in files:
        (run / FOLDER / name).write_text("left")


def test_what_a_kill_left_over_is_removed_when_the_run_is_opened(run: Path) -> None:
    put(run, "rows-3", "run.json.new", "notes")
    RunDirectory.opened(run).close()
    assert names(run) == ["known", "lock", "notes", "rows-2", "run.json"]


def test_files_that_are_needed_are_not_removed(run: Path) -> None:
    directory = RunDirectory.opened(run)
    put(run, "rows-3", "rows-4", "rows-5")
    for name in ("rows-2", "rows-3"):
        directory.remove(name)
    assert names(run) == ["known", "lock", "rows-2", "rows-4", "rows-5", "run.json"]
    directory.clean(frozenset({"rows-4"}))
    assert names(run) == ["known", "lock", "rows-2", "rows-4", "run.json"]
    directory.close()


def test_nothing_is_left_of_a_run_that_is_discarded(run: Path) -> None:
    directory = RunDirectory.opened(run)
    put(run, "run.json.new", "rows-7")
    directory.discard()
    assert not (run / FOLDER).exists()
    assert not opened_in(run)
