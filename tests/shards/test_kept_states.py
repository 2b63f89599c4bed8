"""The states of a check in shards can be read when it is over: all of them, level by level, each once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import CASES
from support.runs.kept import SMALL, checked, interpreted, kept, listed
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.engine.files import run_directory
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.files.run_manifest import RunManifest
from kmc.errors import SystemFault
from kmc.result import Limits
from kmc.shards.kept_states import kept_states
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import SegmentRef

CHOSEN = (
    "no deadlock asked",
    "constraint",
    "an action constraint fails",
    "reachable properties reached",
    "depth",
    "states",
    "both symmetric, going on",
    "violations under symmetry",
    *(name for name in CASES if "view" in name),
)


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("name", CHOSEN)
def test_the_listed_states_of_each_level_are_those_of_the_interpreter(name: str, bits: int, tmp_path: Path) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    checked(model, tmp_path, bits=bits, limits=case.limits, keep_going=case.keep_going)
    graph = interpreted(model, case)
    with kept(model, tmp_path, bits) as (compiled, states):
        assert list(states.levels) == graph.levels
        for level in range(1, len(graph.levels) + 1):
            found = list(listed(compiled, states, level, rows_max=3))
            wanted = [number for number in range(len(graph.states)) if graph.level_of(number) == level]
            assert sorted(_number(graph, state) for _, state in found) == wanted
            assert all(compiled.record(state).fingerprint == fingerprint for fingerprint, state in found)


def _number(graph: Any, state: Any) -> int:
    number: int | None = graph.stored(state)
    assert number is not None, f"{state} was not explored"
    return number


@pytest.mark.slow
def test_rows_that_do_not_fit_the_memory_of_a_listing_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kmc.shards.level.listing._WORDS", 100)
    monkeypatch.setattr("kmc.shards.level.listing._ROWS", 1)
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, Sharding(2), limits=Limits(depth=12))
    with kept(model, tmp_path) as (compiled, states):
        for level, count in enumerate(states.levels, 1):
            found = dict(listed(compiled, states, level, rows_max=1 << 17))
            assert len(found) == count
            assert all(compiled.record(state).fingerprint == fingerprint for fingerprint, state in found.items())


@pytest.mark.slow
def test_the_order_of_states_does_not_depend_on_how_they_are_read(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, SMALL, limits=Limits(depth=8))
    with kept(model, tmp_path) as (compiled, states):
        for level in range(1, 9):
            ways = [[found for found, _ in listed(compiled, states, level, rows_max)] for rows_max in (1, 7, 1 << 17)]
            assert ways[0] == ways[1] == ways[2]


def test_a_run_that_is_over_cannot_be_resumed(tmp_path: Path) -> None:
    checked(model_of(tmp_path, CASES["no deadlock asked"].source, "CHECK_DEADLOCK FALSE"), tmp_path)
    with pytest.raises(SystemFault, match="there is no run to resume"):
        run_directory.RunDirectory.opened(tmp_path)
    assert run_directory.saved_manifest(tmp_path) is None


def test_a_run_without_states_says_how_to_keep_them(tmp_path: Path) -> None:
    with pytest.raises(SystemFault, match="not kept") as caught, kept_states(tmp_path):
        pass
    assert caught.value.code == "KMC557"
    assert "--keep-states" in (caught.value.help or "")


@pytest.mark.slow
def test_a_task_takes_segments_until_it_has_enough_rows(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=7))
    with kept_states(tmp_path) as states:
        files = states.state.levels[7].rows
        segments = [SegmentRef(file, number) for file in files for number in range(len(file.segments))]
        for rows_max in (1, 3, 5, 1 << 20):
            tasks = states.tasks(7, rows_max)
            assert [segment for task in tasks for segment in task.segments] == segments
            assert [task.number for task in tasks] == list(range(len(tasks)))
            rows = [[segment.rows for segment in task.segments] for task in tasks]
            assert all(sum(each) >= rows_max for each in rows[:-1])
            assert all(sum(each[:-1]) < rows_max for each in rows)
        assert len(states.tasks(7, 1)) == len(segments) > 3


def kept_manifest(folder: Path) -> tuple[RunDirectory, RunManifest]:
    checked(shipped_model("kraft", "smoke"), folder, limits=Limits(depth=4))
    directory = RunDirectory.opened(folder)
    return directory, directory.manifest


def code_of_what_is_kept(folder: Path) -> str:
    with pytest.raises(SystemFault) as caught, kept_states(folder):
        pass
    return caught.value.code


@pytest.mark.slow
def test_a_run_without_the_files_of_a_level_has_no_states(tmp_path: Path) -> None:
    directory, manifest = kept_manifest(tmp_path)
    assert manifest.sharded is not None
    levels = manifest.sharded["levels"]
    for missing in ("1", "2", "4"):
        left = {number: files for number, files in levels.items() if number != missing}
        directory.commit(replace(manifest, sharded={**manifest.sharded, "levels": left}))
        directory.close()
        assert code_of_what_is_kept(tmp_path) == "KMC557"
        directory = RunDirectory.opened(tmp_path)
    directory.close()


@pytest.mark.slow
def test_a_manifest_that_does_not_tell_the_files_is_damaged(tmp_path: Path) -> None:
    directory, manifest = kept_manifest(tmp_path)
    assert manifest.sharded is not None
    directory.commit(replace(manifest, sharded={**manifest.sharded, "met": 5}))
    directory.close()
    assert code_of_what_is_kept(tmp_path) == "KMC551"


def test_a_run_that_has_only_begun_has_no_states(tmp_path: Path) -> None:
    RunDirectory.created(tmp_path, {}).close()
    assert code_of_what_is_kept(tmp_path) == "KMC557"


@pytest.mark.slow
def test_a_run_in_memory_has_no_states(tmp_path: Path) -> None:
    directory = RunDirectory.created(tmp_path, {})
    check_native(shipped_model("kraft", "smoke"), Limits(depth=4), directory=directory)
    directory.close()
    assert code_of_what_is_kept(tmp_path) == "KMC557"
