"""Damaged files of a search in shards: exact counts, or one error with a code, never another verdict."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.oracles.results import told
from support.specs.shipped import shipped_model
from support.specs.small import RIVER, model_of
from support.specs.temporal import liveness_cases

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.errors import KmcError, SystemFault
from kmc.frontend.model import Model
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Result, Verdict
from kmc.shards.executors.executor import ThreadExecutor
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import SortedRun
from kmc.shards.on_one_machine import sharded
from kmc.shards.redivide import NewShard, Redivision

TINY = Sharding(3, task_rows=2, segment_rows=1, slice_chunks=1, slots_min=8, piece=2, batch=2, chunk_rows=1)
KINDS = ("rows", "bits", "run", "words", "run.json")
Damage = Callable[[Path, Sequence[Path]], None]


def flipped(place: int) -> Damage:
    def flip(path: Path, others: Sequence[Path]) -> None:
        data = bytearray(path.read_bytes())
        data[place * (len(data) - 1) // 8] ^= 4
        path.write_bytes(data)

    return flip


def cut(path: Path, others: Sequence[Path]) -> None:
    path.write_bytes(path.read_bytes()[:-8])


def emptied(path: Path, others: Sequence[Path]) -> None:
    path.write_bytes(b"")


def removed(path: Path, others: Sequence[Path]) -> None:
    path.unlink()


def exchanged(path: Path, others: Sequence[Path]) -> None:
    """Put another file of the kind there, of the same size if there is one."""
    size, others = path.stat().st_size, [other for other in others if other != path]
    same = [other for other in others if other.stat().st_size == size] or list(others)
    if same:
        path.write_bytes(same[-1].read_bytes())


DAMAGES: dict[str, Damage] = {
    **{f"a bit at {place}/8": flipped(place) for place in (0, 5, 8)},
    "cut": cut,
    "emptied": emptied,
    "removed": removed,
    "exchanged": exchanged,
}


def river(folder: Path) -> Model:
    return model_of(folder, RIVER, "INVARIANT NotAcross CHECK_DEADLOCK FALSE")


def searched(model: Model, directory: RunDirectory, depth: int | None = None) -> Result:
    settings, problem = Settings(save_seconds=0.0), accepted_problem(model)
    search_of = sharded(TINY)
    return check_native(
        model, Limits(depth), settings=settings, directory=directory, search_of=search_of, problem=problem
    )


def resumed(model: Model, run: Path) -> dict[str, Any] | str:
    """The result of going on with a run, or the code of the error."""
    try:
        directory = RunDirectory.opened(run)
    except KmcError as error:
        return error.code
    try:
        return told(searched(model, directory))
    except KmcError as error:
        return error.code
    finally:
        directory.close()


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_a_saved_run_is_one_error_or_nothing(damage: str, tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    model = river(tmp_path / "spec")
    wanted = told(check_native(model, Limits()))
    saved = tmp_path / "saved"
    saved.mkdir()
    directory = RunDirectory.created(saved, {})
    searched(model, directory, depth=5)
    directory.close()
    errors: Counter[str] = Counter()
    for name in sorted(path.name for path in (saved / "checkpoint").iterdir() if path.name != "lock"):
        kind = name if name == "run.json" else name.split("-")[0]
        copy = tmp_path / "copy"
        shutil.copytree(saved, copy)
        path = copy / "checkpoint" / name
        if path.stat().st_size:
            DAMAGES[damage](path, sorted(copy.glob(f"checkpoint/{kind}-*")))
        found = resumed(model, copy)
        if found != wanted:
            assert found in ("KMC551", "KMC555" if kind == "run.json" else "KMC551"), (name, found)
            errors[kind] += 1
        else:
            assert kind != "run", "the known states are all checked"
        shutil.rmtree(copy)
    # The trace leads through all levels, so nothing is spared.
    wanted_kinds = {"rows", "bits", "run", "words"} if damage == "exchanged" else set(KINDS)
    assert set(errors) == wanted_kinds


NOTED = ("found", "states", "sources", "steps")
"""The kinds of the files of the behaviour graph."""


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize("damage", ["a bit at 0/8", "a bit at 5/8", "cut", "exchanged"])
def test_a_damaged_file_of_the_behaviour_graph_is_one_error_or_nothing(damage: str, tmp_path: Path) -> None:
    (case,) = [case for case in liveness_cases() if case.id == "d57_nested_scc"]
    model = case.model()
    wanted = told(check_native(model, Limits(), problem=accepted_problem(model)))
    assert wanted["verdict"] is Verdict.LIVENESS
    saved = tmp_path / "saved"
    saved.mkdir()
    directory = RunDirectory.created(saved, {})
    searched(model, directory, depth=3)
    directory.close()
    errors: Counter[str] = Counter()
    for name in sorted(path.name for path in (saved / "checkpoint").iterdir() if path.name.startswith(NOTED)):
        copy = tmp_path / "copy"
        shutil.copytree(saved, copy)
        kind = name.split("-")[0]
        DAMAGES[damage](copy / "checkpoint" / name, sorted(copy.glob(f"checkpoint/{kind}-*")))
        found = resumed(model, copy)
        assert found in (wanted, "KMC551"), name
        errors[kind] += found != wanted
        shutil.rmtree(copy)
    assert all(errors[kind] for kind in NOTED), errors


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("shards", [3, 2])
@pytest.mark.parametrize("damage", ["a bit at 5/8", "the first fingerprints", "a fingerprint fewer"])
def test_known_states_are_checked_before_a_resumed_search_does_anything(
    damage: str, shards: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = river(tmp_path / "spec")
    directory = RunDirectory.created(tmp_path, {})
    searched(model, directory, depth=5)
    directory.close()
    for path in directory.folder.glob("run-*"):
        RUN_DAMAGES[damage](path, ())
    files = {path: path.read_bytes() for path in directory.folder.glob("*-*")}
    work: list[str] = []
    monkeypatch.setattr(ThreadExecutor, "level", lambda *given: work.append("a level is made"))
    # A division copies runs into new ones with checksums of their own, so it comes after the check.
    monkeypatch.setattr(Redivision, "tasks", lambda *given: work.append("the runs are divided anew"))
    directory = RunDirectory.opened(tmp_path)
    with pytest.raises(SystemFault) as caught:
        check_native(model, Limits(), directory=directory, search_of=sharded(replace(TINY, shards=shards)))
    directory.close()
    assert (caught.value.code, work) == ("KMC551", [])
    assert {path: path.read_bytes() for path in files} == files, "the run is as it was"


def struck(
    monkeypatch: pytest.MonkeyPatch, folder: Path, level: int, kind: str, damage: Damage, number: int = 0
) -> None:
    """Before this level, damage the largest file of a kind."""
    make = ThreadExecutor.level
    levels = []

    def level_of(self: ThreadExecutor, *given: Any) -> Any:
        levels.append(1)
        if len(levels) == level:
            files = sorted(folder.glob(f"{kind}-*"), key=lambda path: path.stat().st_size)
            damage(files[-1 - number], files[:-1])
        return make(self, *given)

    monkeypatch.setattr(ThreadExecutor, "level", level_of)


def scrambled_fingerprints(path: Path, others: Sequence[Path]) -> None:
    """Let a run forget its first fingerprints."""
    words = np.fromfile(path, np.int64)
    words[:40] ^= 1
    words.tofile(path)


def scrambled_index(path: Path, others: Sequence[Path]) -> None:
    """Let the index of a run lead anywhere."""
    words = np.fromfile(path, np.int64)
    words[-20:] = [1 << 40, -5, 1 << 62, -(1 << 50)] * 5
    words.tofile(path)


def shifted(path: Path, others: Sequence[Path]) -> None:
    """Let a run forget its last fingerprints, as if it had fewer; its size stays."""
    words = np.fromfile(path, np.int64)
    words[1:8] = 0
    words.tofile(path)


RUN_DAMAGES: dict[str, Damage] = {
    "a bit at 5/8": flipped(5),
    "the first fingerprints": scrambled_fingerprints,
    "a fingerprint fewer": shifted,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        ("run", scrambled_fingerprints),
        ("run", scrambled_index),
        ("run", cut),
        ("run", removed),
        ("rows", removed),
        ("rows", flipped(2)),
        ("bits", flipped(7)),
        ("bits", removed),
    ],
)
def test_a_file_damaged_while_the_search_runs_is_one_error(
    kind: str, damage: Damage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = shipped_model("kraft", "smoke")
    directory = RunDirectory.created(tmp_path, {})
    struck(monkeypatch, directory.folder, 20, kind, _last_level(directory.folder, kind, damage))
    with pytest.raises(SystemFault) as caught:
        check_native(model, Limits(), directory=directory, search_of=sharded(Sharding(2)))
    assert caught.value.code == "KMC551"


def _last_level(folder: Path, kind: str, damage: Damage) -> Damage:
    """Of rows and bits, only those of the last level are needed when nothing fails."""

    def strike(path: Path, others: Sequence[Path]) -> None:
        if kind == "run":
            damage(path, others)
            return
        newest = max(folder.glob(f"{kind}-*"), key=lambda path: (int(path.name.split("-")[1]), path.stat().st_size))
        damage(newest, others)

    return strike


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("damage", RUN_DAMAGES)
def test_known_states_that_were_damaged_before_a_division_are_one_error(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = RunDirectory.created(tmp_path, {})
    tasks, divisions = Redivision.tasks, list[int]()

    def damaged_tasks(self: Redivision, before: Sequence[Sequence[SortedRun]]) -> list[NewShard]:
        divisions.append(len(before))
        runs = sorted((run for shard in before for run in shard), key=lambda run: run.count)
        RUN_DAMAGES[damage](directory.folder / runs[-1].name, ())
        return tasks(self, before)

    monkeypatch.setattr(Redivision, "tasks", damaged_tasks)
    dividing = sharded(replace(TINY, shards=9, shards_first=2, shard_states=2, shard_states_max=2))
    with pytest.raises(SystemFault, match="its checksum is wrong") as caught:
        check_native(river(tmp_path / "spec"), Limits(), directory=directory, search_of=dividing)
    directory.close()
    assert (caught.value.code, divisions) == ("KMC551", [2])
