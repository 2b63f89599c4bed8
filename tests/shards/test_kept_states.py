"""The states of a check in shards can be read when it is over: all of them, level by level, each once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.kept_runs import SMALL, checked, interpreted, kept, listed
from support.native_results import CASES
from support.shipped_models import shipped_model
from support.small_specs import model_of

from kmc.engine.files import run_directory
from kmc.errors import SystemFault
from kmc.result import Limits
from kmc.shards.kept_states import kept_states
from kmc.shards.sharding import Sharding

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


def test_rows_that_do_not_fit_the_memory_of_a_listing_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kmc.shards.listing._WORDS", 100)
    monkeypatch.setattr("kmc.shards.listing._ROWS", 1)
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, Sharding(2), limits=Limits(depth=12))
    with kept(model, tmp_path) as (compiled, states):
        for level, count in enumerate(states.levels, 1):
            found = dict(listed(compiled, states, level, rows_max=1 << 17))
            assert len(found) == count
            assert all(compiled.record(state).fingerprint == fingerprint for fingerprint, state in found.items())


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
