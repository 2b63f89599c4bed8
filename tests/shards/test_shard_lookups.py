"""Rows of older levels are dropped, and found again by another search when a counterexample needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import told
from support.runs.sharded_graphs import all_said
from support.specs.small import COUNTER, model_of

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import FOLDER, RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.model_search import ModelSearch, SearchMaker
from kmc.errors import InternalError, SystemFault
from kmc.frontend.model import Model
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, LookingBack, Result
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.sharded_search import ShardedSearch

DROPPING = Settings(history_bytes=0)

CUT_BEFORE_ITS_END = """
from kmc.spec import WEAK, always

class State(Record):
    n: Int(0, 30)

@spec.init
def init():
    yield State(n=0)

@spec.action
def up(st):
    if st.n < 9:
        yield st.set(n=st.n + 1)

@spec.action(fair=WEAK)
def leave(st):
    if st.n == 1:
        yield st.set(n=30)

@spec.constraint
def Small(st):
    return st.n < 10

@spec.liveness
def Stays():
    return always(lambda st: st.n != 2)
"""
"""A constraint drops the fair step of the second state, and the third refutes the property."""

pytestmark = pytest.mark.usefixtures("compiled_once")


def noted_in(searches: list[ShardedSearch]) -> SearchMaker:
    """What makes a search in three shards, and puts it into a list."""

    def search_of(*given: Any, **named: Any) -> ModelSearch:
        found = sharded(Sharding(3))(*given, **named)
        assert isinstance(found, ShardedSearch)
        searches.append(found)
        return found

    return search_of


def searched(model: Model, folder: Path, settings: Settings, *, keep_going: bool) -> tuple[Result, ShardedSearch]:
    """The result of a model, and its search, whose files are still there."""
    searches: list[ShardedSearch] = []
    directory = RunDirectory.created(folder, {})
    result = check_native(
        model, Limits(), keep_going=keep_going, settings=settings, directory=directory, search_of=noted_in(searches)
    )
    return result, searches[0]


def files_of(kind: str, folder: Path) -> set[str]:
    """The files of a kind in the folder of a run."""
    return {path.name for path in (folder / FOLDER).iterdir() if path.name.startswith(f"{kind}-")}


@pytest.mark.parametrize(("history", "kept"), [(0, {20}), (1 << 40, {*range(1, 21)})])
def test_rows_of_older_levels_are_kept_up_to_a_size(history: int, kept: set[int], tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 19 INVARIANT NotNegative CHECK_DEADLOCK FALSE")
    # A save in between, on a slow machine, would keep what it names.
    settings = Settings(history_bytes=history, save_seconds=1e9)
    result, search = searched(model, tmp_path, settings, keep_going=False)
    assert result.counters.distinct == 20
    assert set(search.levels) == kept
    for kind in ("rows", "bits"):
        assert len(files_of(kind, tmp_path)) == len(kept), "a level of one state is in one shard"


def test_all_rows_are_kept_where_states_are_asked_for(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 19 INVARIANT NotNegative CHECK_DEADLOCK FALSE")
    _, search = searched(model, tmp_path, Settings(history_bytes=0, keep_states=True), keep_going=False)
    assert set(search.levels) == {*range(1, 21)}


def test_a_counterexample_takes_one_other_search_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 19 INVARIANT BelowTwo CHECK_DEADLOCK FALSE")
    again: list[int] = []
    go_to = ShardedSearch.go_to

    def noted(search: ShardedSearch, level: int) -> None:
        again.append(level)
        go_to(search, level)

    monkeypatch.setattr(ShardedSearch, "go_to", noted)
    result, search = searched(model, tmp_path, Settings(history_bytes=0), keep_going=True)
    assert told(result) == told(check_native(model, Limits(), keep_going=True))
    assert again == [2], "the level of the failure, and from there all levels before it"
    assert set(search.levels) == {20}
    assert len(files_of("rows", tmp_path)) == 1
    assert files_of("run", tmp_path) == {run.name for runs in search.state.runs for run in runs}


@pytest.mark.parametrize("failing", [KeyboardInterrupt(), SystemFault("KMC550", "no space left")])
def test_a_search_for_a_trace_that_ends_early_leaves_no_file_and_goes_on_from_the_failure(
    failing: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 19 INVARIANT BelowTwo CHECK_DEADLOCK FALSE")
    searches: list[ShardedSearch] = []
    progress: list[LookingBack | None] = []
    made = ShardedSearch._make_level

    def failing_in_level_two(search: ShardedSearch, *given: Any, **more: Any) -> bool:
        if search.target is None:
            return made(search, *given, **more)
        figures = searches[0].counters().shards
        assert figures is not None
        progress.append(figures.looking_back)
        if len(progress) == 2:
            raise failing
        return made(search, *given, **more)

    directory = RunDirectory.created(tmp_path, {})
    monkeypatch.setattr(ShardedSearch, "_make_level", failing_in_level_two)
    with pytest.raises(type(failing)):
        check_native(model, Limits(), settings=DROPPING, directory=directory, search_of=noted_in(searches))
    assert progress == [LookingBack(1, 2), LookingBack(2, 2)]
    assert directory.manifest.levels == 3, "the level of the failure is saved"
    assert {path.name for path in (tmp_path / FOLDER).iterdir()} - {
        "lock",
        "reserve",
        "run.json",
    } == directory.manifest.files
    directory.close()
    monkeypatch.undo()
    directory = RunDirectory.opened(tmp_path)
    result = check_native(model, Limits(), settings=DROPPING, directory=directory, search_of=sharded(Sharding(2)))
    assert told(result) == told(check_native(model, Limits()))
    directory.close()


def test_a_state_before_an_early_end_is_found_again(tmp_path: Path) -> None:
    model = model_of(tmp_path, CUT_BEFORE_ITS_END, "CONSTRAINT Small PROPERTY Stays CHECK_DEADLOCK FALSE")
    problem = accepted_problem(model)
    directory = RunDirectory.created(tmp_path, {})
    search_of = sharded(Sharding(3))
    found = check_native(model, Limits(), settings=DROPPING, directory=directory, search_of=search_of, problem=problem)
    wanted = check_native(model, Limits(), problem=problem)
    assert all_said(found) == all_said(wanted)
    # The state whose step the constraint drops is the second one, and the rows of its level were dropped.
    assert [cut.state for cut in found.cut_fairness] == ["n = 1"]
    assert (found.levels, len(wanted.levels)) == (wanted.levels, 4)
    directory.discard()


def test_a_level_that_is_not_found_again_is_an_error(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 3 INVARIANT NotNegative CHECK_DEADLOCK FALSE")
    _, search = searched(model, tmp_path, Settings(), keep_going=False)
    with pytest.raises(InternalError, match="level 5 was not found again") as caught:
        search.predecessors._search_again(5)
    assert caught.value.code == "KMC930"


def test_states_that_are_gone_are_not_kept_from_here_on(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 9 INVARIANT NotNegative CHECK_DEADLOCK FALSE")
    dropping, keeping = Settings(history_bytes=0), Settings(history_bytes=0, keep_states=True)
    directory = RunDirectory.created(tmp_path, {})
    check_native(model, Limits(states=4), settings=dropping, directory=directory, search_of=sharded(Sharding(3)))
    directory.close()
    directory = RunDirectory.opened(tmp_path)
    with pytest.raises(SystemFault, match="are not kept") as caught:
        check_native(model, Limits(), settings=keeping, directory=directory, search_of=sharded(Sharding(3)))
    assert caught.value.code == "KMC557"
    result = check_native(model, Limits(), settings=dropping, directory=directory, search_of=sharded(Sharding(3)))
    assert result.counters.distinct == 10
    directory.close()
