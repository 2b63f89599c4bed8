"""A search whose files lie in a storage: native counts, and a run that outlives its process, its machine, a rival."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands.cli_runner import kmc
from support.oracles.results import told
from support.runs.s3_server import S3Server
from support.runs.shards import drop_rows
from support.runs.stored import begun, continue_in_storage, left_in, searched
from support.specs.shipped import shipped_model
from support.specs.small import RIVER, model_of

from kmc import failpoints
from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import SystemFault
from kmc.frontend.model import Model
from kmc.result import Limits
from kmc.shards.files.store import new_name
from kmc.shards.files.word_files import write_words
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.storage import remote_folder, stored_directories
from kmc.shards.storage.run_in_storage import RunInStorage, StoredRun

DIVIDED = Sharding(3, task_rows=100, segment_rows=16)
TINY = Sharding(2, task_rows=4, segment_rows=2, slice_chunks=1, slots_min=8, piece=2, batch=2, chunk_rows=2)

# All of them, because the server takes seconds to start.
pytestmark = [pytest.mark.usefixtures("compiled_once"), pytest.mark.slow]


def test_a_check_in_a_storage_has_the_native_result(s3: S3Server, tmp_path: Path) -> None:
    model, address = shipped_model("two_phase_commit", "smoke"), s3.address(tmp_path.name)
    wanted = told(check_native(model, Limits()))
    for processes in (None, 2):
        folder = tmp_path / f"run{processes}"
        assert searched(model, begun(folder, address), sharded(DIVIDED, processes)) == wanted
        assert left_in(address) == []
        assert list(folder.iterdir()) == []


def test_a_temporal_check_goes_on_from_its_storage_alone(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address, check = s3.address(tmp_path.name), ("check", "two_phase_commit", "fair", "--json")
    wanted = json.loads(kmc(*check, "--max-depth", "99").stdout)
    kmc(*check, "--shards", "2", "--storage", address, "--save-every", "0", "--max-depth", "6", "--run-dir", "lost")
    levels = [name for name in s3.names(tmp_path.name) if "/control/level-" in name]
    assert len(levels) == 5, "those but the last are files of their own"
    shutil.rmtree("lost")
    (run,) = json.loads(kmc("runs", address, "--json").stdout)["runs"]
    found = json.loads(kmc("check", "--resume", run["folder"], "--max-depth", "99", "--json").stdout)
    for name in ("result", "generated", "distinct", "levels", "properties"):
        assert found[name] == wanted[name]
    assert {name.split("/")[-1] for name in s3.names(tmp_path.name)} == {"model.cfg", "result.json"}


def river(folder: Path) -> Model:
    folder.mkdir()
    return model_of(folder, RIVER, "INVARIANT NotAcross CHECK_DEADLOCK FALSE")


@pytest.fixture
def small(tmp_path: Path) -> Model:
    """A model of some states and some levels, with a counterexample."""
    return river(tmp_path / "spec")


class Steps:
    """Numbers the steps on files; `at` is called with the number before each of those in `wanted`."""

    def __init__(self, wanted: Collection[int] = (), at: Callable[[int], object] = lambda number: None) -> None:
        self._wanted, self._at = wanted, at
        self.points: list[str] = []

    def reach(self, point: str) -> None:
        self.points.append(point)
        if len(self.points) in self._wanted:
            self._at(len(self.points))

    def searched(self, small: Model, folder: Path) -> dict[str, Any]:
        """A whole search, with its files in `folder`/storage/run."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(remote_folder, "_REMOVERS", 1)
            patch.setattr(failpoints, "reach", self.reach)
            return searched(small, begun(folder / "run", f"file://{folder}/storage/run"), sharded(TINY))


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The steps of a whole search."""
    folder, steps = tmp_path_factory.mktemp("points"), Steps()
    steps.searched(river(folder / "spec"), folder)
    return steps.points


def chosen(points: list[str], about: int) -> list[int]:
    """The numbers of some steps, more of those on what says which files count than of others."""
    control = [number for number, point in enumerate(points, 1) if point.split()[-1] in ("owner", "manifest", "ended")]
    return sorted({*control[:: 2 * len(control) // about], *range(1, len(points), 2 * len(points) // about)})


def test_a_run_whose_machine_is_lost_at_any_step_goes_on_from_its_storage(
    small: Model, points: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = told(check_native(small, Limits()))
    resumed, numbers = 0, chosen(points, 24)
    (tmp_path / "storage").mkdir()
    Steps(numbers, lambda number: shutil.copytree(tmp_path / "storage", tmp_path / f"{number}")).searched(
        small, tmp_path
    )
    for number in numbers:
        if number == numbers[len(numbers) // 2]:
            drop_rows(monkeypatch)
        address = f"file://{tmp_path}/{number}/run"
        if goes_on(address):
            found = searched(small, continue_in_storage(tmp_path / f"again{number}", address), sharded(Sharding(3)))
            assert found == wanted, points[number - 1]
            assert left_in(f"file://{tmp_path}/{number}") == []
            resumed += 1
    assert resumed > 10


def goes_on(address: str) -> bool:
    stored = StoredRun(address)
    return not stored.ended and stored.manifest() is not None


@pytest.mark.parametrize("at_once", [True, False])
def test_a_rival_at_any_step_takes_over_and_nothing_is_lost(
    at_once: bool, small: Model, points: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = told(check_native(small, Limits()))
    # Kept first, so that it is back at the end, whatever is there when it is set again.
    monkeypatch.setattr(failpoints, "reach", failpoints.reach)
    codes: Counter[str] = Counter()
    for last in chosen(points, 12):
        folder = tmp_path / f"{last}"
        address = f"file://{folder}/storage/run"
        taken: list[RunDirectory] = []
        found: list[dict[str, Any]] = []

        def rival(
            _: int, folder: Path = folder, address: str = address, taken: Any = taken, found: Any = found
        ) -> None:
            if goes_on(address):
                monkeypatch.setattr(failpoints, "reach", lambda point: None)
                taken.append(continue_in_storage(folder / "rival", address))
                if at_once:
                    found.append(searched(small, taken[0], sharded(TINY)))

        try:
            Steps([last], rival).searched(small, folder)
            codes["none"] += 1
        except SystemFault as fault:
            codes[fault.code] += 1
        if taken and not at_once:
            found.append(searched(small, taken[0], sharded(TINY)))
        assert found == [wanted] * len(taken), points[last - 1]
        # What the first one writes when the run is over, stays; the rival's is the last word otherwise.
        assert at_once or left_in(f"file://{folder}/storage") == []
    # What the first one misses, the rival removed; the command line says so, see `HeldRun.noted`. KMC570 is what it
    # meets if the rival removes the directory in which it is about to make a file.
    assert set(codes) <= {"KMC571", "KMC551", "KMC570", "none"}
    assert codes["KMC571"] > 4


def test_two_that_take_over_at_once_do_not_both_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"file://{tmp_path}/storage"
    owners = [RunInStorage(address, tmp_path / "cache0")]
    failed = []

    def another(point: str) -> None:
        monkeypatch.setattr(failpoints, "reach", lambda point: None)
        owners.append(RunInStorage(address, tmp_path / "cache1"))

    monkeypatch.setattr(failpoints, "reach", another)
    with pytest.raises(SystemFault, match="has taken it over") as caught:
        owners.append(RunInStorage(address, tmp_path / "cache2"))
    assert caught.value.code == "KMC571"
    for owner in owners:
        try:
            owner.require_owned()
        except SystemFault:
            failed.append(owner)
    assert failed == owners[:1]


def test_a_former_owner_removes_nothing(tmp_path: Path) -> None:
    address, name = f"file://{tmp_path}/storage", new_name("sent", 3, 0)
    former = RunInStorage(address, tmp_path / "cache0")
    successor = RunInStorage(address, tmp_path / "cache1")
    write_words(successor.store, name, [np.arange(3)])
    # As where processes died: what they sent is known by its kind.
    with pytest.raises(SystemFault, match="has taken it over"):
        former.store.remove(former.store.names())
    assert successor.store.names() == [name]
    former.store.remove([])
    for act in (former.keep, former.discard, lambda: former.publish({"result.json": "{}"})):
        with pytest.raises(SystemFault, match="has taken it over"):
            act()
    assert left_in(address) == ["control", "data"]


def test_a_run_whose_files_are_gone_is_not_resumed(small: Model, tmp_path: Path, s3: S3Server) -> None:
    saved(small, tmp_path, s3)
    s3.files.delete_dir(f"kmc-bucket/{tmp_path.name}")
    here = RunDirectory.opened(tmp_path / "run")
    with pytest.raises(SystemFault, match="there is no run to resume in s3://"):
        stored_directories.continue_in_storage(here)
    here.close()
    assert s3.names(tmp_path.name) == []


def saved(small: Model, tmp_path: Path, s3: S3Server, depth: int = 5) -> str:
    """The address of a run that was cut short."""
    address = s3.address(f"{tmp_path.name}/run")
    searched(small, begun(tmp_path / "run", address), sharded(TINY), depth=depth)
    return address


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 4])


def truncated(data: bytes) -> bytes:
    return data[:-8]


@pytest.mark.parametrize("kind", ["directory", "s3"])
def test_a_cache_of_almost_nothing_changes_no_result(
    kind: str, small: Model, address_of: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "s3":
        drop_rows(monkeypatch)
    directory = begun(tmp_path / "run", address_of(kind), cache_bytes=1)
    assert searched(small, directory, sharded(TINY)) == told(check_native(small, Limits()))


@pytest.mark.parametrize("damage", [flipped, truncated])
def test_a_damaged_file_is_one_error_or_nothing(damage: Callable[[bytes], bytes], small: Model, tmp_path: Path) -> None:
    wanted = told(check_native(small, Limits()))
    whole = tmp_path / "storage"
    searched(small, begun(tmp_path / "run", f"file://{whole}"), sharded(TINY), depth=5)
    largest = {
        file.name.split("-")[0]: file for file in sorted(whole.rglob("*-*"), key=lambda file: file.stat().st_size)
    }
    errors: set[str] = set()
    for kind, file in largest.items():
        copy = tmp_path / f"copy-{kind}"
        shutil.copytree(whole, copy)
        (copy / file.relative_to(whole)).write_bytes(damage(file.read_bytes()))
        found = result_or_code(small, tmp_path / f"again-{kind}", f"file://{copy}")
        if found != wanted:
            assert found == "KMC551", kind
            errors.add(kind)
    assert {"manifest", "run", "words", "rows"} <= errors <= set(largest) - {"owner"}


@pytest.mark.parametrize("damage", [flipped, truncated])
def test_a_damaged_object_is_one_error(
    damage: Callable[[bytes], bytes], small: Model, tmp_path: Path, s3: S3Server
) -> None:
    address = saved(small, tmp_path, s3)
    run = next(name for name in s3.names(f"{tmp_path.name}/run") if name.startswith("data/run-"))
    s3.write(f"{tmp_path.name}/run/{run}", damage(s3.read(f"{tmp_path.name}/run/{run}")))
    assert result_or_code(small, tmp_path / "again", address) == "KMC551"


def result_or_code(small: Model, folder: Path, address: str) -> dict[str, Any] | str:
    """What a run finds that is taken up from a storage, or the code of its error."""
    try:
        return searched(small, continue_in_storage(folder, address), sharded(TINY))
    except SystemFault as fault:
        return fault.code


def test_a_manifest_that_was_cut_off_is_not_the_one_that_counts(small: Model, tmp_path: Path, s3: S3Server) -> None:
    address = saved(small, tmp_path, s3)
    wanted = told(check_native(small, Limits()))
    (last,) = [name for name in s3.names(f"{tmp_path.name}/run/control") if name.startswith("manifest-")]
    epoch, levels = last.split("-")[1:]
    cut = s3.read(f"{tmp_path.name}/run/control/{last}")[:100]
    s3.write(f"{tmp_path.name}/run/control/manifest-{epoch}-{int(levels) + 1:09}", cut)
    assert searched(small, continue_in_storage(tmp_path / "again", address), sharded(TINY)) == wanted


def test_an_object_that_is_gone_is_one_error(small: Model, tmp_path: Path, s3: S3Server) -> None:
    address = saved(small, tmp_path, s3)
    run = next(name for name in s3.names(f"{tmp_path.name}/run/data") if name.startswith("run-"))
    s3.files.delete_file(f"kmc-bucket/{tmp_path.name}/run/data/{run}")
    with pytest.raises(SystemFault, match="it is not there") as caught:
        searched(small, continue_in_storage(tmp_path / "again", address), sharded(TINY))
    assert (caught.value.code, run in caught.value.message) == ("KMC551", True)


def test_files_of_lost_attempts_are_swept_and_those_of_others_stay(small: Model, tmp_path: Path, s3: S3Server) -> None:
    address = saved(small, tmp_path, s3)
    base = f"{tmp_path.name}/run"
    before = s3.names(f"{base}/data")
    for name in ("rows-4-0-0123456789abcdef", "sent-4-0-0123456789abcdef", "mine"):
        s3.write(f"{base}/data/{name}", b"12345678")
    directory = continue_in_storage(tmp_path / "again", address)
    assert s3.names(f"{base}/data") == sorted([*before, "mine"])
    directory.discard()
    assert s3.names(base) == ["data/mine"]


def test_a_run_that_ended_is_not_resumed(small: Model, tmp_path: Path, s3: S3Server) -> None:
    address = saved(small, tmp_path, s3)
    directory = continue_in_storage(tmp_path / "kept", address)
    directory.keep()
    for folder in ("once", "twice"):
        with pytest.raises(SystemFault, match="there is no run to resume in s3://") as caught:
            continue_in_storage(tmp_path / folder, address)
        assert caught.value.code == "KMC555"
    again = RunDirectory.adopted(tmp_path / "once", directory.manifest)
    with pytest.raises(SystemFault, match="there is no run to resume in s3://"):
        stored_directories.continue_in_storage(again)
    again.close()
    assert len([name for name in s3.names(f"{tmp_path.name}/run/control") if name.startswith("owner-")]) == 1


def test_a_removal_that_was_cut_off_is_finished(small: Model, tmp_path: Path, s3: S3Server) -> None:
    address = saved(small, tmp_path, s3)
    here = RunDirectory.opened(tmp_path / "run")
    s3.write(f"{tmp_path.name}/run/control/ended", b"removed")
    with pytest.raises(SystemFault, match="there is no run to resume in s3://"):
        stored_directories.continue_in_storage(here)
    here.close()
    assert left_in(s3.address(tmp_path.name)) == []
    assert address
