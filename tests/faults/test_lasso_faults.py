"""Faults planted in the search for lassos are caught by the comparison with the obvious search on random graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.random_lassos import disagreement

from kmc.engine.liveness import component_loops, lasso_search, native_graph
from kmc.engine.liveness.lasso_search import LassoSearch
from kmc.engine.liveness.phase_levels import PhaseLevels
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.intrinsics import inlined
from kmc.liveness import lasso_queries as q
from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph

GRAPHS = 200
SEEDS = 4
Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Parts:
    """Loops in which parts are replaced by others, as options are."""

    values: Mapping[str, Any]


def is_caught(
    search_of: Callable[[BehaviourGraph, Sequence[Any]], LassoSearch] = LassoSearch, *, least: bool = True
) -> bool:
    """Whether the comparison tells that something is wrong."""
    try:
        return any(disagreement(search_of, seed, GRAPHS, least=least)[0] for seed in range(SEEDS))
    except AssertionError:
        return True


def plant(patch: Patch, **parts: Callable[..., int]) -> None:
    """Replace parts of the native loops."""
    loops: dict[Any, NativeLoop] = {}

    def loop_of(function: Callable[..., int]) -> NativeLoop:
        return loops.setdefault(function, NativeLoop(function, Parts(parts)))  # type: ignore[arg-type]  # replaces parts

    patch.setattr(native_graph, "graph_loop", loop_of)


@inlined
def always(search: component_loops.ComponentSearch, state: int) -> int:
    """Every state triggers."""
    return 1


def test_a_component_without_a_step_is_taken_for_a_cycle(monkeypatch: Patch) -> None:
    monkeypatch.setattr(lasso_search, "stuttering_states", lambda graph, masks, candidates: candidates)
    assert is_caught()


def test_a_step_to_the_state_itself_enables() -> None:
    def with_self_steps(graph: BehaviourGraph, fairness: Sequence[q.FairnessCondition]) -> LassoSearch:
        conditions = []
        for each in fairness:
            labelled = each.steps.parts[0] if isinstance(each.steps, q.AndSteps) else each.steps
            enabled = q.HasStep(labelled)
            answer = q.Recurrence(steps=each.steps)
            weak = q.Recurrence(q.NotStates(enabled), each.steps)
            conditions.append(SimpleNamespace(condition=q.Response(enabled, answer) if each.strong else weak))
        return LassoSearch(graph, conditions)  # type: ignore[arg-type]  # conditions that no fairness has

    assert is_caught(with_self_steps)


@pytest.mark.slow  # loops are compiled for it alone
def test_a_component_without_strong_fairness_is_discarded_whole(monkeypatch: Patch) -> None:
    plant(monkeypatch, triggers=always)
    assert is_caught()


def test_the_cycle_may_leave_the_allowed_states(monkeypatch: Patch) -> None:
    right = lasso_search.fair_components

    def everywhere(graph: BehaviourGraph, masks: Any, states: Any, steps: Any) -> Any:
        return right(graph, masks, np.ones_like(states), steps)

    monkeypatch.setattr(lasso_search, "fair_components", everywhere)
    assert is_caught()


def test_the_cycle_may_take_other_steps(monkeypatch: Patch) -> None:
    right = lasso_search.fair_components
    monkeypatch.setattr(
        lasso_search, "fair_components", lambda graph, masks, states, _: right(graph, masks, states, None)
    )
    trimmed = lasso_search.trimmed
    monkeypatch.setattr(lasso_search, "trimmed", lambda graph, states, _: trimmed(graph, states, None))
    assert is_caught()


def test_a_dropped_step_is_taken() -> None:
    def inside(graph: BehaviourGraph, fairness: Sequence[q.FairnessCondition]) -> LassoSearch:
        targets = np.where(graph.targets == OUTSIDE, np.uint32(0), graph.targets)
        return LassoSearch(replace(graph, targets=targets), fairness)

    assert is_caught(inside)


def test_a_dropped_step_does_not_enable() -> None:
    def without(graph: BehaviourGraph, fairness: Sequence[q.FairnessCondition]) -> LassoSearch:
        sources = np.repeat(np.arange(graph.states), np.diff(graph.offsets))
        kept = graph.targets != OUTSIDE
        offsets = np.concatenate(([0], np.cumsum(np.bincount(sources[kept], minlength=graph.states))))
        parts = {name: getattr(graph, name)[kept] for name in ("targets", "labels", "step_bits")}
        return LassoSearch(replace(graph, offsets=offsets.astype(np.int64), **parts), fairness)

    assert is_caught(without)


def test_a_pair_has_one_label_only(monkeypatch: Patch) -> None:
    monkeypatch.setattr("kmc.engine.liveness.graph_sets.StepBlock.of_pairs", lambda block, found: found)
    assert is_caught()


def test_a_phase_may_begin_anywhere() -> None:
    class Anywhere(LassoSearch):
        def find(self, check: q.TemporalCheck) -> Any:
            query = check.queries[0]
            phases = tuple(replace(phase, enters_at=q.AllStates()) for phase in query.phases)
            return super().find(replace(check, queries=(replace(query, phases=phases),)))

    assert is_caught(Anywhere)


def test_phases_may_meet_in_one_state(monkeypatch: Patch) -> None:
    def without_first_phase(search: LassoSearch, check: q.TemporalCheck) -> Any:
        query = check.queries[0]
        kept = query.phases[-1:] if query.phases[0] == q.Phase() else query.phases
        return right(search, replace(check, queries=(replace(query, phases=kept),)))

    right = LassoSearch.find
    monkeypatch.setattr(LassoSearch, "find", without_first_phase)
    assert is_caught()


def test_a_component_is_fair_whatever_else_recurs(monkeypatch: Patch) -> None:
    monkeypatch.setattr(lasso_search, "NEAREST_STATES", 1)
    right = native_graph.FairComponents.counts
    monkeypatch.setattr(native_graph.FairComponents, "counts", lambda found, states: right(found, states | True))
    assert is_caught(least=False)


def test_a_stem_is_not_the_shortest(monkeypatch: Patch) -> None:
    right = PhaseLevels.by_distance
    monkeypatch.setattr(PhaseLevels, "by_distance", lambda distances: list(right(distances))[::-1])
    assert is_caught()
