"""TLC's golden cases of temporal properties in shards: counts, verdicts, graphs and lassos are those of memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.runs.sharded_graphs import (
    TINY,
    all_said,
    checked_in_memory,
    checked_in_shards,
    graphs_of_checks,
    unequal_fields,
)
from support.specs.shipped import shipped_model
from support.specs.temporal import LivenessCase, liveness_cases, reductions

from kmc.errors import KmcError
from kmc.result import Limits
from kmc.shards.graph import graph_maker
from kmc.shards.level.sharding import Sharding

IN_THE_SUITE = {"d57_nested_scc", "d78_long_stem", "d33_not_gf", "c46_cat_none", "c21_alloc_sf_ClientsWillReturn"}
"""A case takes a tenth of a second for each number of shards: `make golden` runs the others."""

MANY_STATES = 600
"""Where tasks of three rows would be too many."""

WAYS: tuple[tuple[Sharding, int | None], ...] = (
    (Sharding(1), None),
    (replace(TINY, shards=16, shard_states=5, shard_states_max=5), None),
)
MORE_WAYS: tuple[tuple[Sharding, int | None], ...] = ((Sharding(64, shards_first=64), None), (Sharding(4), 2))
"""How the state space is divided, and the number of processes; without these, two threads."""


def _when(case: LivenessCase) -> Any:
    return pytest.mark.slow if case.id in IN_THE_SUITE else pytest.mark.golden_large


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("case", [pytest.param(case, id=case.id, marks=_when(case)) for case in liveness_cases()])
def test_a_golden_case_has_the_answer_of_memory(case: LivenessCase, tmp_path: Path) -> None:
    model = case.model()
    number = [each.id for each in liveness_cases()].index(case.id)
    ways = WAYS if case.id in IN_THE_SUITE or number % 10 else (*WAYS, *MORE_WAYS)
    if case.graph.get("distinct", 0) > MANY_STATES:
        ways = ((Sharding(4), None),)
    with graphs_of_checks() as graphs:
        wanted = _outcome(partial(checked_in_memory, model))
        for place, way in enumerate(ways):
            # One of two ways, and another one in the next case, has no rows of older levels.
            history = (place + number) % 2 << 28
            check = partial(checked_in_shards, model, tmp_path, *way, history_bytes=history)
            assert _outcome(check) == wanted
    assert all(unequal_fields(graphs[0], graph) == [] for graph in graphs[1:])


@pytest.mark.usefixtures("rows")
@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize(("spec", "name", "early"), [("two_phase_commit", "unfair", 8), ("kraft", "no_leader", 92)])
def test_a_search_in_shards_ends_where_one_in_memory_does(
    spec: str, name: str, early: int, keep_going: bool, tmp_path: Path
) -> None:
    model = shipped_model(spec, name)
    wanted = checked_in_memory(model, keep_going=keep_going)
    assert (sum(wanted.levels) == early) is not keep_going
    with graphs_of_checks() as graphs:
        for limits in (None, Limits(states=early + 1), Limits(depth=len(wanted.levels))):
            found = checked_in_shards(model, tmp_path, Sharding(3), None, limits, keep_going)
            assert all_said(found) == all_said(checked_in_memory(model, limits, keep_going))
    assert unequal_fields(graphs[0], graphs[1]) == []


def _outcome(check: Any) -> Any:
    """What a check says, or the code of its error."""
    try:
        return all_said(check())
    except KmcError as error:
        return error.code


@pytest.mark.golden_large
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("case", [case for case in reductions() if "CONSTRAINT" in case.cfg], ids=lambda case: case.id)
def test_what_a_constraint_cuts_is_told(case: LivenessCase, tmp_path: Path) -> None:
    model = case.model()
    wanted = checked_in_memory(model)
    assert wanted.cut_fairness
    for sharding, processes in WAYS:
        assert all_said(checked_in_shards(model, tmp_path, sharding, processes)) == all_said(wanted)


@pytest.mark.golden_large
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("limits", [Limits(depth=4), Limits(states=9)])
def test_a_bounded_search_refutes_as_much(limits: Limits, tmp_path: Path) -> None:
    for case in liveness_cases():
        if case.answer["kind"] == "c" and case.graph["distinct"] < MANY_STATES:
            model = case.model()
            wanted = checked_in_memory(model, limits)
            found = checked_in_shards(model, tmp_path, replace(TINY, shards=3), limits=limits)
            assert all_said(found) == all_said(wanted), case.id


@pytest.mark.usefixtures("rows")
@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("name", sorted(IN_THE_SUITE))
def test_a_graph_that_does_not_fit_is_searched_in_its_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = [case for case in liveness_cases() if case.id == name]
    model = case.model()
    monkeypatch.setattr(graph_maker, "PART_STATES", 3)
    with graphs_of_checks() as graphs:
        found = checked_in_shards(model, tmp_path, Sharding(2), limits=Limits(memory_bytes=1))
    assert graphs == [], "no graph was put together"
    assert all_said(found) == all_said(checked_in_memory(model))
