"""A saved search goes on with another number of shards: the known states are divided anew, the levels stay."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from support.commands.cli_runner import check_json, kmc
from support.faults.crashes import KILLED, dying_at, in_child
from support.runs.shards import drop_rows, fingerprints_in, store_in, words_of

from kmc.engine.files.run_directory import saved_manifest
from kmc.errors import SystemFault
from kmc.shards import redivide
from kmc.shards.files.store import FileWords, FolderStore
from kmc.shards.level.merger import Merger, check_run
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import MergeTask, SortedRun
from kmc.shards.redivide import Redivision, owners

SCATTER = 0x9E3779B97F4A7C15


def test_owners_are_those_of_the_loops() -> None:
    rng = random.Random(1)
    fingerprints = [1, 2**64 - 1, *(rng.getrandbits(64) for _ in range(1000))]
    for shards in (1, 2, 3, 64, 4096):
        found = owners(np.array(fingerprints, np.uint64).view(np.int64), shards)
        assert found.tolist() == [(n * SCATTER % 2**64) * shards >> 64 for n in fingerprints]


@pytest.mark.parametrize("shards", [2, 3, 5, 64, 100, 4095])
def test_a_shard_begins_where_the_one_before_ends(shards: int) -> None:
    inverse = pow(SCATTER, -1, 2**64)
    begins = [-(-shard * 2**64 // shards) for shard in range(1, shards)]
    for below in (0, 1):
        fingerprints = [(begin - below) * inverse % 2**64 for begin in begins]
        found = owners(np.array(fingerprints, np.uint64).view(np.int64), shards)
        assert found.tolist() == [shard - below for shard in range(1, shards)]


Known = list[tuple[int, ...]]


def known_in_shards(
    store: FolderStore, shards: int, count: int, *, wide: bool
) -> tuple[Known, list[tuple[SortedRun, ...]]]:
    """Some fingerprints that a search knows, and their runs, of which each shard has two."""
    rng = random.Random(shards * 100 + count)
    merger = Merger(Sharding(1, piece=7), store, wide=wide, ranked=False)
    known: Known = [tuple(rng.getrandbits(64) for _ in range(1 + wide)) for _ in range(count)]
    own = owners(np.array([entry[0] for entry in known], np.uint64).view(np.int64), shards).tolist()
    runs: list[tuple[SortedRun, ...]] = []
    for shard in range(shards):
        entries = [entry for entry, owner in zip(known, own, strict=True) if owner == shard]
        first = merger.merge(MergeTask(1, shard, ()), [words_of(entries[: len(entries) * 3 // 4])])
        runs.append(merger.merge(MergeTask(2, shard, first.runs), [words_of(entries)]).runs)
    return known, runs


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 1), (3, 5), (5, 3), (2, 2), (40, 1), (7, 64), (64, 7)])
def test_each_new_shard_has_the_fingerprints_that_it_owns(
    before: int, after: int, wide: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redivide, "_PIECE", 16)  # so that runs are divided in several pieces
    width = 1 + wide
    store = store_in(tmp_path)
    merger = Merger(Sharding(1, piece=7), store, wide=wide, ranked=False)
    known, runs = known_in_shards(store, before, 500, wide=wide)
    names = set(store.names())
    tasks = Redivision(Sharding(1, piece=7), after, 3, wide).tasks(runs)
    divided = [pickle.loads(pickle.dumps(task)).run(store) for task in tasks]
    assert set(store.names()) - names == {run.name for shard_runs in divided for run in shard_runs}
    own = owners(np.array([entry[0] for entry in known], np.uint64).view(np.int64), after).tolist()
    for shard in range(after):
        wanted = sorted(entry for entry, owner in zip(known, own, strict=True) if owner == shard)
        assert [entry for run in divided[shard] for entry in fingerprints_in(store, run, width)] == wanted
        for run in divided[shard]:
            check_run(run, store.read(run.name, run.words))
        # The index leads to each of them.
        again = merger.merge(MergeTask(4, shard, divided[shard], store=False), [words_of(wanted)])
        assert (again.new, again.distinct) == (0, len(wanted))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 3), (2, 3)])
def test_a_division_refuses_each_file_that_was_damaged_before_it_reads_the_file(
    before: int, after: int, wide: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(tmp_path)
    _, runs = known_in_shards(store, before, 30, wide=wide)
    tasks = Redivision(Sharding(1, piece=7), after, 3, wide).tasks(runs)
    read, opened = FolderStore.read, list[tuple[Path, bytes]]()

    def read_damaged(self: FolderStore, name: str, words: int) -> FileWords:
        path = tmp_path / name
        opened.append((path, path.read_bytes()))
        if len(opened) == damaged:
            # A low bit of the first fingerprint: the order of a run and the owner of a fingerprint stay.
            path.write_bytes(bytes([opened[-1][1][0] ^ 1]) + opened[-1][1][1:])
        return read(self, name, words)

    def divide() -> None:
        for task in tasks:
            task.run(store)

    monkeypatch.setattr(FolderStore, "read", read_damaged)
    damaged = 0
    divide()
    for damaged in range(1, len(opened) + 1):
        opened.clear()
        with pytest.raises(SystemFault, match="its checksum is wrong") as caught:
            divide()
        assert (caught.value.code, len(opened)) == ("KMC551", damaged)
        path, before_damage = opened[-1]
        path.write_bytes(before_damage)


@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 1), (3, 5), (40, 7), (7, 64), (1000, 64), (64, 1000)])
def test_a_new_shard_reads_only_the_old_shards_that_it_meets(before: int, after: int) -> None:
    runs = [(SortedRun(f"run-1-{shard}-0", 1, 1, 1, 0),) for shard in range(before)]
    tasks = Redivision(Sharding(1), after, 2, wide=False).tasks(runs)
    whole = [run for task in tasks for run in task.whole]
    parts = [run for task in tasks for run in task.parts]
    assert {*whole, *parts} == {run for shard in runs for run in shard}
    assert len(whole) == len(set(whole)), "a shard goes to one other as a whole"
    assert set(whole).isdisjoint(parts)
    assert len(whole) + len(parts) <= before + after


COMPARED = ("result", "generated", "distinct", "depth", "levels", "generated_by_action")


def the_run() -> Path:
    """The folder of the only run."""
    (folder,) = Path(".kmc/runs").iterdir()
    return folder


def resumed(*words: str) -> dict[str, object]:
    found = json.loads(kmc("check", "--resume", str(the_run()), "--json", *words).stdout)
    return {key: found[key] for key in COMPARED}


def sharding_of_the_run() -> tuple[int, int]:
    """How many shards the run has, and the last level that was saved."""
    manifest = saved_manifest(the_run())
    assert manifest is not None
    assert manifest.sharded is not None
    assert len(manifest.sharded["runs"]) == min(4, manifest.sharded["shards"]), "a small search fills no more"
    return manifest.sharded["shards"], manifest.levels


@pytest.mark.slow
def test_a_run_goes_on_with_other_shards_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kmc("check", "kraft", "smoke", "--shards", "4", "--max-depth", "6")
    for shards, depth in ((1, 9), (64, 12), (3, 15)):
        resumed("--shards", str(shards), "--max-depth", str(depth))
        assert sharding_of_the_run() == (shards, depth)
    resumed("--max-depth", "16")
    assert sharding_of_the_run() == (3, 16), "without --shards, those that it has"
    wanted = check_json("kraft", "smoke")
    assert resumed("--shards", "2") == {key: wanted[key] for key in COMPARED}


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--shards", "2"), ("--shards", "9", "--processes", "2")])
def test_the_counterexample_is_the_same_with_other_shards(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check = ("kraft", "restarts", "--trace", "tlc")
    if "--processes" in words:
        drop_rows(monkeypatch)
    dying = dying_at("after rename run.json:4")
    assert in_child(dying, "check", *check, "--shards", "4", "--save-every", "0") == KILLED
    ran = kmc("check", "--resume", str(the_run()), "--trace", "tlc", *words)
    expected = kmc("check", *check, "--no-run-dir")
    assert ran.exit_code == expected.exit_code == 12
    shown, wanted = (text.stdout[: text.stdout.index("states generated")] for text in (ran, expected))
    assert shown == wanted


@pytest.mark.parametrize("option", ["--shards", "--processes"])
def test_a_run_in_memory_cannot_go_on_in_shards(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kmc("check", "die_hard", "--max-depth", "3")
    ran = kmc("check", "--resume", str(the_run()), option, "2")
    assert (ran.exit_code, f"error[KMC620]: the run is not in shards, so it has no {option}" in ran.stderr) == (2, True)
