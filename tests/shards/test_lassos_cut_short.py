"""A search in shards whose lassos are not searched to the end goes on from its last level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runs.sharded_graphs import all_said, checked_in_memory
from support.specs.temporal import liveness_cases

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.lassos.patience import poll_now
from kmc.engine.layout.search_outcome import Settings
from kmc.frontend.model import Model
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Bound, Limits, Result, Verdict
from kmc.shards.graph.graph_maker import GraphMaker
from kmc.shards.graph.part_tasks import TellTask
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded


@pytest.fixture
def model() -> Model:
    (case,) = [case for case in liveness_cases() if case.id == "d57_nested_scc"]
    return case.model()


def checked(model: Model, directory: RunDirectory, limits: Limits | None = None) -> Result:
    problem = accepted_problem(model)
    return check_native(
        model,
        limits or Limits(),
        settings=Settings(save_seconds=0),
        directory=directory,
        search_of=sharded(Sharding(2)),
        problem=problem,
    )


def goes_on(model: Model, folder: Path) -> None:
    """The run in the folder was saved, leaves no files of its graph, and has the answer of memory."""
    directory = RunDirectory.opened(folder)
    kinds = {name.split("-")[0] for name in directory.files.names()}
    assert not kinds & {"known", "asked", "told", "graph"}
    assert all_said(checked(model, directory)) == all_said(checked_in_memory(model))
    directory.discard()


@pytest.mark.usefixtures("rows")
@pytest.mark.usefixtures("compiled_once")
def test_ctrl_c_while_the_graph_is_made_leaves_a_run_that_goes_on(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(task: TellTask, store: Any) -> Any:
        raise KeyboardInterrupt

    directory = RunDirectory.created(tmp_path, {})
    with monkeypatch.context() as patch:
        patch.setattr(TellTask, "run", interrupted)
        assert checked(model, directory).verdict is Verdict.INTERRUPTED
    assert not directory.ended
    directory.close()
    goes_on(model, tmp_path)


@pytest.mark.usefixtures("rows")
@pytest.mark.usefixtures("compiled_once")
def test_a_limit_on_time_is_heard_of_while_the_graph_is_made(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = GraphMaker._each

    def late(maker: GraphMaker, tasks: Any) -> Any:
        each(maker, tasks)
        monkeypatch.setattr("kmc.engine.check_model.time.monotonic", lambda: 1e9)
        poll_now()
        raise AssertionError("the limit was not heard of")

    directory = RunDirectory.created(tmp_path, {})
    with monkeypatch.context() as patch:
        patch.setattr(GraphMaker, "_each", late)
        assert checked(model, directory, Limits(seconds=1e6)).bound is Bound.TIME
    monkeypatch.undo()
    directory.close()
    goes_on(model, tmp_path)
