"""Faults planted in the search for lassos are caught by the comparison with the obvious search on random graphs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.drawing.lassos import disagreement, disagreement_on_verdicts
from support.oracles.lassos import Pair, SmallGraph

from kmc.engine.lassos import component_loops, condition_masks, fair_cycles, native_graph, path_loops
from kmc.engine.lassos import search as lasso_search
from kmc.engine.lassos.phase_levels import PhaseLevels
from kmc.engine.lassos.search import LassoSearch
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.intrinsics import inlined
from kmc.liveness import lasso_queries as q
from kmc.liveness.behaviour_graph import OUTSIDE, BehaviourGraph
from kmc.liveness.lasso_order import LassoRank
from kmc.liveness.problem import Lasso

GRAPHS = 200
SEEDS = 4
Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Parts:
    """Loops in which parts are replaced by others, as options are."""

    values: Mapping[str, Any]


TAKES_1 = q.Recurrence(steps=q.Labelled(frozenset({1})))
MEETS_0 = q.Recurrence(q.AtomHolds(0))


def graph_of(*steps: tuple[int, int, int], atoms: Mapping[int, set[int]]) -> BehaviourGraph:
    """A graph of steps (state, target, label) with one initial state; `atoms` are those that hold in a state."""
    states = 1 + max(max(source, target) for source, target, _ in steps)
    held = tuple(frozenset(atoms.get(state, ())) for state in range(states))
    pairs = tuple(Pair(source, target, frozenset({label}), frozenset()) for source, target, label in steps)
    return SmallGraph(states, 1, states, held, pairs).as_arrays()


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


@inlined
def nothing(conditions: component_loops.Conditions) -> int:
    """No further state matters."""
    return 0


@inlined
def never(sweep: path_loops.PhaseSweep, target: int) -> int:
    """No state waits."""
    return 0


def test_a_component_without_a_step_is_taken_for_a_cycle(monkeypatch: Patch) -> None:
    monkeypatch.setattr(fair_cycles, "stuttering_states", lambda graph, masks, candidates: candidates)
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


@pytest.mark.slow  # loops are compiled for it alone
@pytest.mark.parametrize(("part", "asked"), [("may_need_steps", TAKES_1), ("may_need_states", MEETS_0)])
def test_a_component_is_judged_by_its_first_states(monkeypatch: Patch, part: str, asked: q.Recurrence) -> None:
    ring = graph_of((0, 1, 0), (1, 2, 1), (2, 0, 0), atoms={1: {0}})
    fairness = [q.FairnessCondition("F", "F", False, q.Changing())]
    query = q.LassoQuery((q.Phase(),), (asked,))
    assert LassoSearch(ring, fairness).has_lasso(query)
    plant(monkeypatch, **{part: nothing})
    assert not LassoSearch(ring, fairness).has_lasso(query)


def test_strong_fairness_is_judged_by_the_first_states_of_a_component(monkeypatch: Patch) -> None:
    def without_strong(masks: condition_masks.ConditionMasks) -> None:
        right(masks)
        asked = np.ctypeslib.as_array((ctypes.c_int64 * max(masks.words, 1)).from_address(masks.native.asked_steps))
        asked[: len(masks.strong)] &= ~masks.strong

    right = condition_masks.ConditionMasks._fill_native
    monkeypatch.setattr(condition_masks.ConditionMasks, "_fill_native", without_strong)
    assert is_caught()


def test_the_cycle_may_leave_the_allowed_states(monkeypatch: Patch) -> None:
    right = native_graph.fair_components

    def everywhere(graph: BehaviourGraph, masks: Any, states: Any, steps: Any) -> Any:
        return right(graph, masks, np.ones_like(states), steps)

    monkeypatch.setattr(fair_cycles, "fair_components", everywhere)
    assert is_caught()


def test_the_cycle_may_take_other_steps(monkeypatch: Patch) -> None:
    right = native_graph.fair_components
    monkeypatch.setattr(
        fair_cycles, "fair_components", lambda graph, masks, states, _: right(graph, masks, states, None)
    )
    trimmed = native_graph.trimmed
    monkeypatch.setattr(fair_cycles, "trimmed", lambda graph, states, _: trimmed(graph, states, None))
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


@pytest.mark.slow
def test_a_pair_has_one_label_only(monkeypatch: Patch) -> None:
    monkeypatch.setattr("kmc.engine.behaviour_graph.sets.StepBlock.of_pairs", lambda block, found: found)
    assert is_caught()


def test_a_phase_may_begin_anywhere() -> None:
    class Anywhere(LassoSearch):
        def find(self, check: q.TemporalCheck, below: LassoRank | None = None) -> Lasso | None:
            query = check.queries[0]
            phases = tuple(replace(phase, enters_at=q.AllStates()) for phase in query.phases)
            return super().find(replace(check, queries=(replace(query, phases=phases),)), below)

    assert is_caught(Anywhere)


def test_phases_may_meet_in_one_state(monkeypatch: Patch) -> None:
    def without_first_phase(search: LassoSearch, check: q.TemporalCheck) -> Any:
        query = check.queries[0]
        kept = query.phases[-1:] if query.phases[0] == q.Phase() else query.phases
        return right(search, replace(check, queries=(replace(query, phases=kept),)))

    right = LassoSearch.find
    monkeypatch.setattr(LassoSearch, "find", without_first_phase)
    assert is_caught()


@pytest.mark.slow
def test_a_component_is_fair_whatever_else_recurs(monkeypatch: Patch) -> None:
    monkeypatch.setattr(lasso_search, "NEAREST_STATES", 1)
    right = native_graph.FairComponents.counts
    monkeypatch.setattr(native_graph.FairComponents, "counts", lambda found, states: right(found, states | True))
    assert is_caught(least=False)


@pytest.fixture
def in_parts(monkeypatch: Patch) -> Patch:
    """Every query is asked of the states on fair cycles alone, as in a large graph."""
    monkeypatch.setattr(lasso_search, "NEAREST_STATES", 1)
    monkeypatch.setattr(lasso_search, "_WHOLE_FROM", 1 << 30)
    monkeypatch.setattr(lasso_search, "_TIMES_LEFT", 0)
    monkeypatch.setattr(lasso_search, "_FEW_OF", 1)
    return monkeypatch


def test_states_on_cycles_are_trimmed_before_queries_are_asked(in_parts: Patch) -> None:
    def without_last(cycles: fair_cycles.FairCycles) -> Any:
        left = right(cycles)
        left[np.flatnonzero(left)[-1:]] = False
        return left

    in_parts.setattr(lasso_search, "_TIMES_LEFT", 1 << 30)
    right = fair_cycles.FairCycles.left
    in_parts.setattr(fair_cycles.FairCycles, "left", without_last)
    assert is_caught(least=False)


def test_a_part_has_no_states_to_stay_in(in_parts: Patch) -> None:
    def of_components(cycles: fair_cycles.FairCycles) -> Any:
        right(cycles)
        assert cycles._all is not None
        return cycles._all.numbered(cycles.graph.states) != 0

    right = fair_cycles.FairCycles.on_cycles
    in_parts.setattr(fair_cycles.FairCycles, "on_cycles", of_components)
    assert is_caught(least=False)


def test_a_part_has_no_components(in_parts: Patch) -> None:
    in_parts.setattr(fair_cycles.FairCycles, "on_cycles", lambda cycles: cycles._states_to_stay_in().copy())
    assert is_caught(least=False)


def test_steps_out_of_a_part_do_not_enable(in_parts: Patch) -> None:
    def without_others(graph: BehaviourGraph, numbers: Any) -> BehaviourGraph:
        part = right(graph, numbers)
        sources = np.repeat(np.arange(part.states), np.diff(part.offsets))
        kept = np.isin(part.targets, numbers)
        offsets = np.concatenate(([0], np.cumsum(np.bincount(sources[kept], minlength=part.states)))).astype(np.int64)
        arrays = {name: getattr(part, name)[kept] for name in ("targets", "labels", "step_bits")}
        return replace(part, offsets=offsets, **arrays)

    # 1 is enabled in 0 and 1, and leads to 3, which no fair cycle visits.
    graph = graph_of(
        (0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 0, 0), (0, 3, 1), (1, 3, 1), (3, 4, 1), atoms={2: {0}, 4: {0}}
    )
    fairness = [q.FairnessCondition("F", "F", False, q.AndSteps((q.Labelled(frozenset({1})), q.Changing())))]
    query = q.LassoQuery((q.Phase(),), (), (q.Response(q.AtomHolds(0), q.Recurrence()),))
    assert not LassoSearch(graph, fairness).has_lasso(query)
    right = fair_cycles._part_of
    in_parts.setattr(fair_cycles, "_part_of", without_others)
    assert LassoSearch(graph, fairness).has_lasso(query)


@pytest.mark.slow
def test_steps_of_a_part_lead_to_other_states_than_those_of_the_graph(in_parts: Patch) -> None:
    in_parts.setattr(
        fair_cycles._SetsOfPart, "_are_in", lambda sets, states, numbers, _: sets._whole.states(states)[numbers[::-1]]
    )
    assert is_caught(least=False)


def test_the_steps_of_a_part_lead_from_other_states_than_those_of_the_graph(in_parts: Patch) -> None:
    in_parts.setattr(fair_cycles._SetsOfPart, "_source_numbers", lambda sets, block: block.sources)
    assert is_caught(least=False)


def test_cycles_are_searched_among_the_states_of_one_expected_query_only(in_parts: Patch) -> None:
    in_parts.setattr(fair_cycles, "_worth_expecting", lambda cycles: frozenset([each.visited for each in cycles][:1]))
    in_parts.setattr(fair_cycles.FairCycles, "is_expected", lambda cycles, cycle: True)
    assert disagreement_on_verdicts(0, GRAPHS)[0] is not None


def test_a_cycle_that_was_not_expected_is_searched_where_others_were(in_parts: Patch) -> None:
    in_parts.setattr(fair_cycles.FairCycles, "is_expected", lambda cycles, cycle: True)
    assert disagreement_on_verdicts(0, GRAPHS)[0] is not None


def test_states_of_a_part_are_taken_for_others(in_parts: Patch) -> None:
    in_parts.setattr(fair_cycles.FairCyclesOfPart, "numbers_of", lambda _, states: np.flatnonzero(states))
    assert is_caught(least=False)


def test_the_states_of_another_query_are_taken(in_parts: Patch) -> None:
    in_parts.setattr(fair_cycles.CycleDescription, "__eq__", lambda one, other: True)
    assert is_caught(least=False)


@pytest.mark.slow  # loops are compiled for it alone
def test_a_sweep_follows_steps_upwards_only(in_parts: Patch) -> None:
    # The second phase begins in 3, and the way from there to the cycle of 2 and 4 is by 1.
    graph = graph_of((0, 3, 0), (3, 1, 0), (1, 2, 0), (2, 4, 0), (4, 2, 0), atoms={3: {0}})
    query = q.LassoQuery((q.Phase(), q.Phase(enters_at=q.AtomHolds(0))), (q.Recurrence(steps=q.Changing()),))
    assert LassoSearch(graph, ()).has_lasso(query)
    plant(in_parts, has_to_wait=never)
    assert not LassoSearch(graph, ()).has_lasso(query)


def test_a_phase_begins_in_initial_states_to_which_no_step_leads(in_parts: Patch) -> None:
    def with_all_initial(distances: native_graph.PhaseDistances) -> Any:
        first = distances._firsts[1]
        return np.arange(distances.graph.states) if first is None else np.flatnonzero(first)

    graph = graph_of((0, 1, 0), atoms={0: {0}})
    again = q.LassoQuery((q.Phase(), q.Phase(enters_at=q.AtomHolds(0))))
    assert not LassoSearch(graph, ()).has_lasso(again)
    in_parts.setattr(native_graph.PhaseDistances, "_entering_second", with_all_initial)
    assert LassoSearch(graph, ()).has_lasso(again)


def test_a_stem_is_not_the_shortest(monkeypatch: Patch) -> None:
    right = PhaseLevels.by_distance
    monkeypatch.setattr(PhaseLevels, "by_distance", lambda distances: list(right(distances))[::-1])
    assert is_caught()
