"""A run in a storage whose objects are damaged, exchanged or not listed between two sessions, or that meets another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import told
from support.runs.failing_store import BUCKET, FailingStore
from support.runs.stored import begun, continue_in_storage, searched
from support.specs.small import RIVER, model_of

from kmc.engine.check_model import check_native
from kmc.errors import SystemFault
from kmc.frontend.model import Model
from kmc.result import Limits
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.storage import remote_folder
from kmc.shards.storage.run_in_storage import RunInStorage, StoredRun

TINY = Sharding(2, task_rows=4, segment_rows=2, slice_chunks=1, slots_min=8, piece=2, batch=2, chunk_rows=2)
ADDRESS = f"s3://{BUCKET}/runs/run"

pytestmark = pytest.mark.usefixtures("compiled_once")


@pytest.fixture
def river(tmp_path: Path) -> Model:
    """A model of some states and levels, with a counterexample."""
    (tmp_path / "spec").mkdir()
    return model_of(tmp_path / "spec", RIVER, "INVARIANT NotAcross CHECK_DEADLOCK FALSE")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> FailingStore:
    """The store of all addresses."""
    store = FailingStore()
    monkeypatch.setattr(remote_folder, "_opened", lambda address: (store, address.removeprefix("s3://")))
    return store


@pytest.fixture
def saved(river: Model, store: FailingStore, tmp_path: Path) -> dict[str, bytes]:
    """The objects of a run that was cut short."""
    searched(river, begun(tmp_path / "run", ADDRESS), sharded(TINY), depth=5)
    return dict(store.objects)


def result_or_code(model: Model, folder: Path) -> dict[str, Any] | str:
    """What a run finds that is taken up, or the code of its error."""
    try:
        return searched(model, continue_in_storage(folder, ADDRESS), sharded(TINY))
    except SystemFault as fault:
        return fault.code


def flipped(data: bytes, _: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes, bytes], bytes | None]] = {
    "flipped": flipped,
    "cut": lambda data, other: data[:-8],
    "removed": lambda data, other: None,
    "exchanged": lambda data, other: other,
}


def kind_of(path: str) -> str:
    return path.split("/")[-1].split("-")[0]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_object_is_one_error_or_changes_nothing(
    damage: str, river: Model, store: FailingStore, saved: dict[str, bytes], tmp_path: Path
) -> None:
    wanted, codes = told(check_native(river, Limits())), Counter[str]()
    # The largest object of each kind.
    largest = {kind_of(path): path for path in sorted(saved, key=lambda path: len(saved[path]))}
    for kind, path in largest.items():
        data = saved[path]
        others = [other for name, other in saved.items() if name != path and kind_of(name) == kind]
        # One of the same size if there is one.
        other = max(others, key=lambda other: len(other) == len(data), default=b"")
        damaged = DAMAGES[damage](data, other)
        store.objects = {**saved, path: damaged} if damaged is not None else {**saved}
        if damaged is None:
            del store.objects[path]
        found = result_or_code(river, tmp_path / f"again-{kind}")
        assert found in (wanted, "KMC551", "KMC555"), path
        codes[found if isinstance(found, str) else "right"] += 1
        # Without its only manifest there is no run.
        assert found != "KMC555" or kind == "manifest"
    assert codes["KMC551"] > 2


def test_a_new_run_does_not_take_the_place_of_another(
    store: FailingStore, saved: dict[str, bytes], tmp_path: Path
) -> None:
    with pytest.raises(SystemFault, match="another run lies in s3://") as caught:
        begun(tmp_path / "second", ADDRESS)
    assert (caught.value.code, store.objects) == ("KMC576", saved)


def test_a_list_that_does_not_show_what_was_written_ends_the_run(
    river: Model, store: FailingStore, tmp_path: Path
) -> None:
    store.lags = lambda path: "manifest-" in path
    with pytest.raises(SystemFault, match="which was just written") as caught:
        searched(river, begun(tmp_path / "run", ADDRESS), sharded(TINY))
    assert caught.value.code == "KMC570"


def test_a_list_that_lags_lets_nothing_be_removed_that_the_run_needs(
    river: Model, store: FailingStore, saved: dict[str, bytes], tmp_path: Path
) -> None:
    searched(river, continue_in_storage(tmp_path / "on", ADDRESS), sharded(TINY), depth=7)
    newest = dict(store.objects)
    old = next(path for path in saved if "/manifest-" in path)
    # The list still has the manifest of level 5, whose files are gone in part, and not yet that of level 7.
    store.objects[old] = saved[old]
    store.lags = lambda path: "/manifest-" in path and path != old
    assert result_or_code(river, tmp_path / "lagging") == "KMC551"
    store.lags = lambda path: False
    assert newest.items() <= store.objects.items()
    assert result_or_code(river, tmp_path / "later") == told(check_native(river, Limits()))


def test_an_owner_that_is_not_listed_is_not_called_a_rival(store: FailingStore, tmp_path: Path) -> None:
    run = RunInStorage(ADDRESS, tmp_path / "cache")
    store.lags = lambda path: "/owner-" in path
    with pytest.raises(SystemFault, match="somebody removed what says that it owns it") as caught:
        run.require_owned()
    assert caught.value.code == "KMC571"


def test_a_manifest_is_never_replaced(river: Model, store: FailingStore, tmp_path: Path) -> None:
    directory = begun(tmp_path / "run", ADDRESS)
    searched(river, directory, sharded(TINY), depth=3)
    run, (before,) = directory.copy, [path for path in store.objects if "/manifest-" in path]
    assert run is not None
    run.commit(directory.manifest)
    (after,) = [path for path in store.objects if "/manifest-" in path]
    assert (before < after, after) == (True, f"{before}-000001")
    assert StoredRun(ADDRESS).manifest() == directory.manifest
