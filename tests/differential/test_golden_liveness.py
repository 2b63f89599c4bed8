"""TLC's golden cases of liveness: both engines give its counts of every graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.specs.temporal import STOPPED_EARLY, LivenessCase, liveness_cases

from kmc.actions.relation import NextStateRelation
from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.result import Limits, Result

LARGE_INTERPRETED = 3_000
"""The interpreter makes graphs of more states with `make golden` only."""

LARGE_TO_COMPILE = {"kip_996", "kip_996_draft"}
"""The native engine compiles each model of these for two seconds: with `make golden` only, but for some."""

COMPILED_YET = {
    "a_new_live_quiet2_LivenessSpec_ValuesEventuallyAcked",
    "a_new_live_add_LivenessSpec_EventuallyLeaderElected",
    "a_draft_live_con1_2_LivenessSpec_EventuallyLeaderElected",
}

FAST = {"c52_dij_free", "d27_gf_ring", "d70_mutex_sf_one"}
"""Compiled in `make test-fast` too."""


def _graphs() -> list[LivenessCase]:
    """A case of each graph: many cases ask about the same one."""
    found: dict[str, LivenessCase] = {}
    for case in liveness_cases():
        if case.graph and case.id not in STOPPED_EARLY:
            found.setdefault(case.graph_key, case)
    return list(found.values())


def _when_interpreted(case: LivenessCase) -> Any:
    return pytest.mark.golden_large if case.graph["distinct"] > LARGE_INTERPRETED else ()


def _when_compiled(case: LivenessCase) -> Any:
    if case.root.name in LARGE_TO_COMPILE and case.id not in COMPILED_YET:
        return pytest.mark.golden_large
    return () if case.id in FAST else pytest.mark.slow


def _parameters(marks: Callable[[LivenessCase], Any]) -> list[Any]:
    return [pytest.param(case, id=case.id, marks=marks(case)) for case in _graphs()]


def _counts(result: Result) -> dict[str, int]:
    counters = result.counters
    return {
        "distinct": counters.distinct,
        "generated": counters.generated,
        "depth": counters.depth,
        "initial": result.initial,
    }


def _pairs(model: Model) -> int:
    """How many pairs of states are a step, one to itself included."""
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    waiting = list(initial_states(model))
    known, pairs = set(waiting), set()
    while waiting:
        state = waiting.pop()
        after = {successor for _, _, successor in relation.steps(state)}
        pairs |= {(state, successor) for successor in after}
        waiting += after - known
        known |= after
    return len(pairs)


@pytest.mark.parametrize("case", _parameters(_when_interpreted))
def test_the_interpreter_gives_the_graph_of_tlc(case: LivenessCase) -> None:
    expected = dict(case.graph)
    edges = expected.pop("edges", None)
    assert _counts(Search(case.graph_model(), view_order=fingerprint_order).run()) == expected
    assert edges is None or _pairs(case.graph_model()) == edges


@pytest.mark.parametrize("case", _parameters(_when_compiled))
def test_the_native_engine_gives_the_graph_of_tlc(case: LivenessCase) -> None:
    found = _counts(check_native(case.graph_model(), Limits()))
    assert found == {name: count for name, count in case.graph.items() if name in found}


def test_cases_of_one_graph_have_the_same_counts() -> None:
    graphs: dict[str, set[tuple[int, ...]]] = {}
    for case in liveness_cases():
        if case.graph and case.id not in STOPPED_EARLY:
            counts = tuple(case.graph[name] for name in ("distinct", "generated", "depth", "initial"))
            graphs.setdefault(case.graph_key, set()).add(counts)
    assert [len(counts) for counts in graphs.values()] == [1] * len(_graphs())


def test_what_is_compiled_in_other_suites_too_is_a_graph_of_ours() -> None:
    assert {case.id for case in _graphs()} >= COMPILED_YET | FAST
