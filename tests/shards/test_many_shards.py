"""Shards cost what they receive: many shards take as many files as few, and a search divides itself as it grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import told
from support.runs.kept import checked, kept, listed, written_by_threads
from support.runs.shards import store_in, words_of
from support.specs.shipped import shipped_model
from support.specs.small import RIVER, model_of

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory, saved_manifest
from kmc.engine.layout.search_outcome import Settings
from kmc.errors import SystemFault
from kmc.frontend.model import Model
from kmc.result import Limits, Result
from kmc.shards import redivide
from kmc.shards.executors.executor import ThreadExecutor
from kmc.shards.files.store import FileWords, FolderStore, Output
from kmc.shards.level.merger import Merger
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import MergeTask
from kmc.shards.on_one_machine import sharded
from kmc.tables.write_tables import Wanted

MANY = 4096
ALL_IN_USE = Sharding(64, shards_first=64)
"""As many shards as a search that has grown has from its first level on."""

GROWING = Sharding(16, shards_first=1, shard_states=20, shard_states_max=20)
"""Divided again and again while `kraft smoke` is searched."""

TINY = Sharding(
    9,
    shards_first=2,
    shard_states=2,
    shard_states_max=2,
    task_rows=2,
    segment_rows=1,
    slice_chunks=1,
    slots_min=8,
    piece=2,
)


def searched(
    model: Model, folder: Path, sharding: Sharding, processes: int | None = None, depth: int | None = None
) -> Result:
    """The result of a search in shards, which can be resumed if it was cut short."""
    folder.mkdir(exist_ok=True)
    directory = RunDirectory.opened(folder) if saved_manifest(folder) is not None else RunDirectory.created(folder, {})
    settings = Settings(save_seconds=0.0)
    try:
        return check_native(
            model, Limits(depth), settings=settings, directory=directory, search_of=sharded(sharding, processes)
        )
    finally:
        directory.close()


def counted_calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many files of each kind are written, read and removed from now on."""
    calls: Counter[str] = Counter()
    writing, read, remove = FolderStore.writing, FolderStore.read, FolderStore.remove

    def counted_writing(self: FolderStore, name: str) -> AbstractContextManager[Output]:
        calls[f"write {name.split('-')[0]}"] += 1
        return writing(self, name)

    def counted_read(self: FolderStore, name: str, words: int) -> FileWords:
        calls[f"read {name.split('-')[0]}"] += 1
        return read(self, name, words)

    def counted_remove(self: FolderStore, names: Iterable[str]) -> None:
        wanted = list(names)
        calls.update(f"remove {name.split('-')[0]}" for name in wanted)
        remove(self, wanted)

    monkeypatch.setattr(FolderStore, "writing", counted_writing)
    monkeypatch.setattr(FolderStore, "read", counted_read)
    monkeypatch.setattr(FolderStore, "remove", counted_remove)
    return calls


@pytest.mark.parametrize(
    ("shards", "states", "wanted"),
    [
        (1, 10**12, 1),
        (3, 0, 3),
        (64, 0, 4),
        (64, 4 * 65_536, 4),
        (64, 4 * 65_536 + 1, 16),
        (64, 16 * 65_536 + 1, 64),
        (64, 10**12, 64),
        (20, 16 * 65_536 + 1, 20),
        (4096, 10**6, 16),
        (4096, 1024 * 65_536 + 1, 4096),
    ],
)
def test_a_search_has_the_shards_that_its_states_fill(shards: int, states: int, wanted: int) -> None:
    assert Sharding(shards).shards_for(states, 1000) == wanted


@pytest.mark.parametrize(
    ("slots", "states", "wanted"),
    [
        (1, 10**6, 4),
        (1, 4 << 24, 4),
        (1, (4 << 24) + 1, 16),
        (2, 10**8, 16),
        (2, (16 << 24) + 1, 64),
        (16, 10**8, 64),
        (64, 10**7, 256),
        (64, 10**8, 256),
        (1, 10**12, 4096),
    ],
)
def test_more_shards_than_slots_have_use_for_come_with_larger_ones(slots: int, states: int, wanted: int) -> None:
    assert Sharding(MANY).shards_for(states, slots) == wanted


@pytest.mark.parametrize(
    ("rows", "slots", "wanted"),
    [
        (0, 4, 1),
        (100, 4, 25),
        (10**6, 4, 1 << 17),
        (4096 << 17, 4, 1 << 17),
        (2 * 4096 << 17, 4, 1 << 18),
        (100 * 4096 << 17, 4, 1 << 19),
        # 16 tasks for each slot come first.
        (4096 << 17, 1000, 1 << 17),
        (32 * 1000 << 17, 1000, 1 << 18),
    ],
)
def test_a_level_of_many_tasks_has_larger_ones(rows: int, slots: int, wanted: int) -> None:
    assert Sharding(4).rows_of_task(rows, slots) == wanted


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
def test_a_small_model_takes_the_same_files_with_many_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = shipped_model("kraft", "smoke")
    calls = counted_calls(monkeypatch)
    few = told(searched(model, tmp_path / "few", Sharding(4), depth=11))
    wanted = dict(calls)
    calls.clear()
    many = searched(model, tmp_path / "many", Sharding(MANY), depth=11)
    assert (told(many), dict(calls)) == (few, wanted)
    assert many.shards is not None
    assert (many.shards.shards, many.shards.shards_used) == (MANY, 4)


@pytest.mark.parametrize("wide", [False, True])
def test_a_shard_that_receives_nothing_has_no_files(wide: bool, tmp_path: Path) -> None:
    store = store_in(tmp_path)
    merger = Merger(Sharding(1), store, wide=wide, ranked=False)
    first = merger.merge(MergeTask(1, 0, (), noted=True), [words_of([(number,) * (1 + wide) for number in (1, 2)])])
    names = store.names()
    for sent in ([], [words_of([])], [words_of([]), words_of([])]):
        found = merger.merge(MergeTask(2, 0, first.runs, noted=True), sent)
        assert (found.bits, found.found, found.runs, found.replaced) == (None, None, first.runs, ())
        assert (found.new, found.received, found.distinct, found.digest, found.written_bytes) == (0, 0, 0, 0, 0)
    assert store.names() == names


@pytest.mark.slow
def test_a_level_writes_one_file_of_bits_and_runs_where_states_are_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted_calls(monkeypatch)
    make, levels = ThreadExecutor.level, []

    def level_of(self: ThreadExecutor, source: Any, tasks: Any, merges: Any, ended: Any) -> Any:
        before = calls["write bits"], calls["write run"]
        opened = calls["read bits"]
        expanded, merged = make(self, source, tasks, merges, ended)
        received = sum(part.received > 0 for part in merged)
        new = sum(part.new > 0 for part in merged) if merges[0].store else 0
        levels.append((received, new))
        # The tasks of a level share the file that one of them has opened.
        assert calls["read bits"] - opened == min(1, len(levels) - 1)
        assert (calls["write bits"] - before[0], calls["write run"] - before[1]) == (min(1, received), new)
        return expanded, merged

    monkeypatch.setattr(ThreadExecutor, "level", level_of)
    searched(shipped_model("kraft", "smoke"), tmp_path, replace(ALL_IN_USE, segment_rows=4, task_rows=16), depth=9)
    assert levels[0] == (1, 1), "one initial state"
    assert max(received for received, _ in levels) > 30, "and wide levels reach most of them"


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("processes", [None, 2])
@pytest.mark.parametrize("sharding", [ALL_IN_USE, GROWING], ids=["all in use", "growing"])
def test_the_result_is_that_in_memory(sharding: Sharding, processes: int | None, tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    found = searched(model, tmp_path, replace(sharding, segment_rows=16, task_rows=50), processes, depth=11)
    assert told(found) == told(check_native(model, Limits(11)))
    assert found.shards is not None
    assert found.shards.shards_used == sharding.shards


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
def test_a_search_goes_on_with_other_shards_before_and_after_it_was_divided(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    model = model_of(tmp_path / "spec", RIVER, "CHECK_DEADLOCK FALSE")
    whole = searched(model, tmp_path / "whole", Sharding(1))
    wanted = told(whole)
    assert whole.shards is not None
    for number, shards in enumerate((1, 3, 9, 64)):
        folder, before = tmp_path / f"run {number}", 1
        for depth in range(1, len(whole.levels)):
            now = replace(TINY, shards=(9, shards)[depth % 2])
            searched(model, folder, now, depth=depth)
            manifest = saved_manifest(folder)
            assert manifest is not None
            assert manifest.sharded is not None
            known = sum(whole.levels[:depth])
            before = min(now.shards, max(before, now.shards_for(known, 1)))
            assert len(manifest.sharded["runs"]) == before
            assert manifest.sharded["shards"] == now.shards
        last = searched(model, folder, TINY)
        assert last.shards is not None
        assert (told(last), last.shards.digest) == (wanted, whole.shards.digest)


@pytest.mark.usefixtures("compiled_once")
def test_a_division_that_fails_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spec").mkdir()
    model = model_of(tmp_path / "spec", RIVER, "CHECK_DEADLOCK FALSE")
    wanted = told(searched(model, tmp_path / "whole", Sharding(1)))

    def full(self: Any, *given: Any) -> Any:
        raise SystemFault("KMC550", "no space left on device", help="make room")

    with monkeypatch.context() as patch:
        patch.setattr(redivide.NewShard, "run", full)
        with pytest.raises(SystemFault, match="no space left"):
            searched(model, tmp_path / "run", TINY)
    assert saved_manifest(tmp_path / "run") is not None
    assert told(searched(model, tmp_path / "run", TINY)) == wanted


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
def test_tables_are_the_same_from_many_shards(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    limits = Limits(depth=7)
    found = []
    for number, sharding in enumerate((Sharding(1), Sharding(MANY), ALL_IN_USE, GROWING)):
        folder = tmp_path / str(number)
        folder.mkdir()
        checked(model, folder, sharding, limits=limits)
        with kept(model, folder) as (compiled, states):
            levels = [
                sorted(fingerprint for fingerprint, _ in listed(compiled, states, level, 100)) for level in range(1, 8)
            ]
            wanted = Wanted(parents=True)
            written = written_by_threads(compiled.spec, states, folder / "tables", wanted, threads=2, part_rows=64)
        found.append((levels, written.states, written.parents))
    assert found[1:] == found[:1] * 3
