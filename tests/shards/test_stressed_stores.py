"""Searches in a storage that refuses requests, cuts connections, loses answers or restarts, by plans of seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import told
from support.runs.failing_store import BUCKET, FailingStore
from support.runs.pauses import Pauses
from support.runs.s3_server import s3_server
from support.runs.stored import begun, continue_in_storage, left_in, searched
from support.specs.small import RIVER, model_of

from kmc.engine.check_model import check_native
from kmc.errors import SystemFault
from kmc.frontend.model import Model
from kmc.result import Limits
from kmc.shards.executors.executor import ThreadExecutor
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.storage import remote_folder

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

    def opened(address: str) -> tuple[Any, str]:
        return store, address.removeprefix("s3://")

    monkeypatch.setattr(remote_folder, "_opened", opened)
    return store


@pytest.fixture
def retries(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pauses]:
    """Let all folders repeat with these limits, without pauses."""

    def limited(**limits: Any) -> Pauses:
        pauses = Pauses(**limits)
        monkeypatch.setattr(remote_folder, "RETRIES", pauses.retries)
        return pauses

    return limited


@pytest.mark.parametrize(("seed", "share"), [(1, 0.2), (2, 0.4), (3, 0.4)])
def test_a_search_has_the_same_result_in_a_storage_that_fails_often(
    seed: int, share: float, river: Model, store: FailingStore, tmp_path: Path, retries: Callable[..., Pauses]
) -> None:
    pauses = retries(attempts=60, seconds_max=1e9)
    store.plan(seed, share)
    directory = begun(tmp_path / "run", ADDRESS, cache_bytes=1)
    found = searched(river, directory, sharded(TINY))
    assert found == told(check_native(river, Limits()))
    assert store.objects == {}
    assert len(pauses.waited) > store.asked * share / 2, "requests were repeated"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_search_that_fails_again_and_again_goes_on_to_the_same_result(
    seed: int, river: Model, store: FailingStore, tmp_path: Path, retries: Callable[..., Pauses]
) -> None:
    searched(river, begun(tmp_path / "run", ADDRESS), sharded(TINY), depth=2)
    retries(attempts=4, seconds_max=1e9)
    codes, found = Counter[str](), None
    for attempt in range(30):
        store.plan(100 * seed + attempt, 0.4 if attempt < 29 else 0.0)
        try:
            directory = continue_in_storage(tmp_path / f"{attempt}", ADDRESS)
            found = searched(river, directory, sharded(TINY), at_end=lambda: store.plan(0, 0.0))
            break
        except SystemFault as fault:
            codes[fault.code] += 1
    assert {"KMC573"} <= set(codes) <= {"KMC570", "KMC573"}, codes
    assert (found, store.objects) == (told(check_native(river, Limits())), {})


def test_a_removal_that_fails_is_finished_on_another_machine(
    river: Model, store: FailingStore, tmp_path: Path, retries: Callable[..., Pauses]
) -> None:
    retries(attempts=1)
    with pytest.raises(SystemFault, match="the storage is not reached"):
        searched(river, begun(tmp_path / "run", ADDRESS), sharded(TINY), at_end=lambda: store.refuse("DeleteObjects"))
    store.refuse(None)
    assert any("/data/" in path for path in store.objects)
    with pytest.raises(SystemFault, match="there is no run to resume"):
        continue_in_storage(tmp_path / "elsewhere", ADDRESS)
    assert store.objects == {}
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.slow
def test_a_server_that_fails_often_and_starts_again_in_the_middle_changes_no_result(
    river: Model, credentials: None, tmp_path: Path, retries: Callable[..., Pauses], monkeypatch: pytest.MonkeyPatch
) -> None:
    level, levels, stopped = ThreadExecutor.level, [], []
    with s3_server(tmp_path / "log") as server:

        def stopping(self: ThreadExecutor, *given: Any) -> Any:
            levels.append(1)
            if len(levels) == 4:
                server.stop()
                stopped.append(1)
            return level(self, *given)

        def start_again() -> None:
            if stopped:
                stopped.clear()
                server.start()

        retries(attempts=60, seconds_max=1e9, slept=start_again)
        monkeypatch.setattr(ThreadExecutor, "level", stopping)
        directory = begun(tmp_path / "run", server.address("runs"))
        with server.stressed(1, 0.2, path="data/"):
            found = searched(river, directory, sharded(Sharding(2)))
        assert (len(levels) > 4, stopped) == (True, [])
        assert left_in(server.address("runs")) == []
    assert found == told(check_native(river, Limits()))
