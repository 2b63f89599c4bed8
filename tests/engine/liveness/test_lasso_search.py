"""The search for fair lassos in a behaviour graph, against the obvious search and on graphs with one trap each."""

from __future__ import annotations

from itertools import product
from random import Random

import networkx as nx
import numpy as np
import pytest
from support.drawing.lassos import (
    disagreement,
    disagreement_on_verdicts,
    random_fairness,
    random_graph,
    random_query,
    random_steps,
)
from support.oracles.lassos import Pair, SmallGraph

from kmc.engine.behaviour_graph.sets import GraphSets
from kmc.engine.lassos import native_graph
from kmc.engine.lassos import search as lasso_search
from kmc.engine.lassos.condition_masks import ConditionMasks, SetColumns
from kmc.engine.lassos.native_graph import fair_components, trimmed
from kmc.engine.lassos.search import LassoSearch
from kmc.liveness import lasso_queries as q
from kmc.liveness.behaviour_graph import OUTSIDE
from kmc.liveness.lasso_order import LassoRank
from kmc.liveness.problem import Lasso

ANY = q.LassoQuery((q.Phase(),))
STAYS_IN_0 = q.LassoQuery((q.Phase(), q.Phase(states=q.AtomHolds(0))))


def graph_of(
    *steps: tuple[int, int | None, int], atoms: dict[int, set[int]] | None = None, initial: int = 1
) -> SmallGraph:
    """A graph of steps (state, target, label); `atoms` are those that hold in a state."""
    states = max(max(s, -1 if t is None else t) for s, t, _ in steps) + 1
    pairs: dict[tuple[int, int | None], set[int]] = {}
    for state, target, label in steps:
        pairs.setdefault((state, target), set()).add(label)
    held = tuple(frozenset((atoms or {}).get(state, ())) for state in range(states))
    found = [Pair(s, t, frozenset(labels), frozenset()) for (s, t), labels in pairs.items()]
    return SmallGraph(states, initial, states, held, tuple(found))


def fair(*labels: int, strong: bool = False) -> q.FairnessCondition:
    """Weak or strong fairness of the actions with these labels."""
    steps = q.AndSteps((q.Labelled(frozenset(labels)), q.Changing()))
    return q.FairnessCondition("F", "F", strong, steps)


def lasso_of(graph: SmallGraph, *fairness: q.FairnessCondition, query: q.LassoQuery = ANY) -> Lasso | None:
    """The lasso that is found."""
    return LassoSearch(graph.as_arrays(), fairness).find(q.TemporalCheck("P", "", (query,)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_lassos_are_those_of_the_obvious_search(seed: int) -> None:
    difference, found = disagreement(LassoSearch, seed, graphs=500)
    assert difference is None
    assert 300 < found < 1200, "of 1500 questions"


# The whole graph is not looked at first, or trimmed; or its fair cycles are found, as a graph of their own or not.
@pytest.mark.slow
@pytest.mark.parametrize(("times_left", "few_of"), [(9, 1), (1 << 30, 1), (0, 1), (0, 1 << 30)])
def test_a_search_that_begins_with_few_states_gives_the_same_verdicts(
    monkeypatch: pytest.MonkeyPatch, times_left: int, few_of: int
) -> None:
    monkeypatch.setattr(lasso_search, "NEAREST_STATES", 1)
    monkeypatch.setattr(lasso_search, "_WHOLE_FROM", 1 if times_left == 9 else 1 << 30)
    monkeypatch.setattr(lasso_search, "_TIMES_LEFT", times_left)
    monkeypatch.setattr(lasso_search, "_FEW_OF", few_of)
    assert disagreement(LassoSearch, few_of + times_left, graphs=120, least=False)[0] is None


@pytest.mark.slow
@pytest.mark.parametrize("nearest", [1, 3, 1 << 18])
def test_whether_there_is_a_lasso_is_what_the_search_for_a_short_one_says(
    monkeypatch: pytest.MonkeyPatch, nearest: int
) -> None:
    monkeypatch.setattr(lasso_search, "NEAREST_STATES", nearest)
    monkeypatch.setattr(lasso_search, "_WHOLE_FROM", 1 if nearest == 1 else 4)
    monkeypatch.setattr(lasso_search, "_TIMES_LEFT", nearest // 3)
    monkeypatch.setattr(lasso_search, "_FEW_OF", nearest)
    monkeypatch.setattr(native_graph, "PHASES_OF_SWEEP", 1 if nearest == 3 else 4)
    difference, found = disagreement_on_verdicts(nearest, graphs=300)
    assert difference is None
    assert 200 < found < 700, "of 900 questions"


@pytest.mark.parametrize("label", [0, 1])
def test_the_last_phase_is_entered_by_the_steps_that_are_asked_for(label: int) -> None:
    last = q.Phase(enters_at=q.AtomHolds(0), entered_by=q.Labelled(frozenset({label})))
    search = LassoSearch(graph_of((0, 1, 0), atoms={1: {0}}).as_arrays(), ())
    assert search.has_lasso(q.LassoQuery((q.Phase(), last))) is (label == 0)


def test_components_of_a_few_states_are_those_of_the_states_that_are_entered() -> None:
    graph = graph_of((0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 0), (3, 4, 0), (4, 3, 0)).as_arrays()
    masks = ConditionMasks(SetColumns(GraphSets(graph), ()), ())
    for most, members in ((1, []), (2, [0, 1]), (3, [0, 1, 2]), (4, [0, 1, 2]), (5, [0, 1, 2, 3, 4])):
        found = fair_components(graph, masks, np.ones(5, np.bool_), None, states_max=most)
        assert sorted(found.members.tolist()) == members


def test_what_is_trimmed_is_on_no_cycle_and_small_graphs_without_cycles_are_trimmed_away() -> None:
    random = Random(5)
    left = removed = 0
    for number in range(200):
        pairs = [(random.randrange(9), random.randrange(9)) for _ in range(random.randrange(1, 22))]
        graph = graph_of(*((source, target, 0) for source, target in pairs), (8, 8, 0)).as_arrays()
        asked = np.array([random.random() < 0.9 for _ in range(9)])
        steps = None if number % 2 else np.array([random.random() < 0.8 for _ in graph.targets])
        taken = np.ones(len(graph.targets), np.bool_) if steps is None else steps
        sources = np.repeat(np.arange(9), np.diff(graph.offsets))
        there = [(s, int(t)) for s, t, may in zip(sources.tolist(), graph.targets, taken, strict=True) if may]
        allowed = nx.DiGraph((s, t) for s, t in there if asked[s] and asked[t])
        on_cycles = {s for part in nx.strongly_connected_components(allowed) if len(part) > 1 for s in part}
        found = set(np.flatnonzero(trimmed(graph, asked, steps)).tolist())
        assert on_cycles <= found <= set(np.flatnonzero(asked).tolist()), f"graph {number}: {pairs}"
        assert on_cycles or not found, f"graph {number}: {pairs}"
        left += len(found)
        removed += int(asked.sum()) - len(found)
    assert left > 300
    assert removed > 300


def test_a_state_without_fair_steps_is_a_cycle() -> None:
    assert lasso_of(graph_of((0, 1, 0)), fair(0)) == Lasso((0,), (1,), (0,), 0)


def test_a_state_without_steps_is_not_a_cycle_where_a_recurrence_is_missed() -> None:
    query = q.LassoQuery((q.Phase(),), (q.Recurrence(q.AtomHolds(0)),))
    assert lasso_of(graph_of((0, 1, 0), atoms={0: {0}}), fair(0), query=query) is None


def test_a_step_to_the_state_itself_neither_enables_nor_is_taken() -> None:
    graph = graph_of((0, 0, 0), (0, 1, 1))
    assert lasso_of(graph, fair(0)) == Lasso((), (0,), (), 0)
    took = q.LassoQuery((q.Phase(),), (q.Recurrence(steps=q.Labelled(frozenset({0}))),))
    assert lasso_of(graph, query=took) is None


def test_a_step_to_the_state_itself_counts_where_stuttering_steps_do() -> None:
    enabled = q.HasStep(q.Labelled(frozenset({0})))
    assert lasso_of(graph_of((0, 0, 0)), query=q.LassoQuery((q.Phase(states=enabled),))) is not None


def test_a_dropped_step_enables_and_is_never_taken() -> None:
    assert lasso_of(graph_of((0, None, 0)), fair(0)) is None


def test_dropped_steps_are_in_the_sets_that_all_steps_are_in() -> None:
    random = Random(3)
    for _ in range(200):
        sets = GraphSets(random_graph(random).as_arrays())
        places = np.flatnonzero(sets.graph.targets == OUTSIDE)
        for steps in (*(each.steps for each in random_fairness(random)), random_steps(random)):
            assert (sets.dropped_steps(steps, places) == sets.steps(steps)[places]).all()


def test_a_pair_belongs_to_each_of_its_labels() -> None:
    graph = graph_of((0, 1, 0), (0, 1, 1), (1, 0, 2))
    assert lasso_of(graph, fair(0), fair(1), fair(2)) == Lasso((), (0, 1), (0, 2), 0)
    without = q.LassoQuery((q.Phase(steps=q.NotSteps(q.Labelled(frozenset({1})))),))
    assert lasso_of(graph, fair(0), fair(1), fair(2), query=without) is None


def test_a_fair_cycle_inside_an_unfair_component_is_found() -> None:
    # 0 and 1 alternate by 0 and 1; the way through 2 enables 3, which leads out of the component and is never taken.
    graph = graph_of((0, 1, 0), (1, 0, 1), (1, 2, 2), (2, 0, 2), (2, 3, 3), (3, 4, 4), (4, 3, 4))
    query = q.LassoQuery((q.Phase(), q.Phase(states=q.NotStates(q.AtomHolds(0)))))
    graph = SmallGraph(5, 1, 5, (*[frozenset()] * 3, frozenset({0}), frozenset({0})), graph.pairs)
    assert lasso_of(graph, fair(0, 1), fair(3, strong=True), query=query) == Lasso((0,), (1, 0), (0, 1, 0), 0)


def test_weak_fairness_of_a_group_is_met_by_any_of_its_actions() -> None:
    graph = graph_of((0, 1, 0), (1, 0, 0), (0, 2, 1), (1, 2, 1))
    assert lasso_of(graph, fair(0), fair(1), query=q.LassoQuery((q.Phase(states=q.NotStates(q.AtomHolds(0))),)))
    graph = SmallGraph(3, 1, 3, (frozenset(), frozenset(), frozenset({0})), graph.pairs)
    query = q.LassoQuery((q.Phase(states=q.NotStates(q.AtomHolds(0))),))
    assert lasso_of(graph, fair(0), fair(1), query=query) is None
    assert lasso_of(graph, fair(0, 1), query=query) == Lasso((), (0, 1), (0, 0), 0)


def test_the_cycle_stays_in_the_last_phase() -> None:
    graph = graph_of((0, 1, 0), (1, 2, 0), (2, 1, 0), atoms={1: {0}})
    assert lasso_of(graph, fair(0), query=STAYS_IN_0) is None


@pytest.mark.parametrize("few_of", [1, 1 << 30])
def test_the_cycle_takes_the_steps_of_the_last_phase_where_fair_cycles_are_known(
    few_of: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lasso_search, "_TIMES_LEFT", 0)
    monkeypatch.setattr(lasso_search, "_FEW_OF", few_of)
    search = LassoSearch(graph_of((0, 1, 0), (1, 0, 1)).as_arrays(), (fair(0), fair(1)))
    for labels in ({0, 1}, {0}, {1}):
        entered = q.Phase(steps=q.Labelled(frozenset(labels)))
        assert search.has_lasso(q.LassoQuery((entered,))) is (labels == {0, 1}), labels


def test_states_that_are_not_expanded_are_on_no_cycle() -> None:
    whole = graph_of((0, 1, 0))
    part = SmallGraph(whole.states, whole.initial, 1, whole.atoms, whole.pairs)
    assert lasso_of(part, fair(0)) is None


def test_the_shortest_lasso_of_several_queries_is_found() -> None:
    graph = graph_of((0, 1, 0), (1, 2, 0), atoms={1: {1}, 2: {0}})
    in_1 = q.LassoQuery((q.Phase(), q.Phase(states=q.AtomHolds(1))))
    check = q.TemporalCheck("P", "", (STAYS_IN_0, in_1))
    assert LassoSearch(graph.as_arrays(), ()).find(check) == Lasso((0,), (1,), (0,), 1)


@pytest.mark.parametrize("nearest", [1, 1 << 18])
def test_only_a_shorter_lasso_is_found_if_that_is_wanted(monkeypatch: pytest.MonkeyPatch, nearest: int) -> None:
    monkeypatch.setattr(lasso_search, "NEAREST_STATES", nearest)
    graph = graph_of((0, 1, 0), (1, 2, 0), (2, 1, 0), atoms={1: {0}, 2: {0}})
    check = q.TemporalCheck("P", "", (STAYS_IN_0,))
    search = LassoSearch(graph.as_arrays(), [fair(0)])
    assert search.find(check, below=LassoRank.of((0,), (1, 2))) is None
    assert search.find(check) == Lasso((0,), (1, 2), (0, 0, 0), 0)


@pytest.mark.parametrize("seed", range(2))
def test_a_bound_hides_what_is_not_below_it_and_nothing_else(seed: int) -> None:
    random, seen = Random(seed), set()
    for _ in range(60):
        graph, fairness, query = random_graph(random), random_fairness(random)[:1], random_query(random)
        search, check = LassoSearch(graph.as_arrays(), fairness), q.TemporalCheck("P", "", (query,))
        found = search.find(check)
        if found is None:
            continue
        least = LassoRank.of(found.stem, found.cycle)
        seen.add((least.length, len(found.cycle) > 1))
        for length in (least.length - 1, least.length, least.length + 1):
            for kind, stem in product(range(3), (least.stem, least.stem + 1)):
                below = LassoRank(length, kind, stem)
                wanted = found if least < below else None
                assert search.find(check, below) == wanted, (graph, fairness, query, below)
    assert seen >= {(1, False), (2, False), (2, True)}


def test_ninety_nine_conditions_are_met_by_one_cycle() -> None:
    ring = [(state, (state + 1) % 99, state) for state in range(99)]
    conditions = [fair(label, strong=label % 2 == 0) for label in range(99)]
    found = lasso_of(graph_of(*ring), *conditions)
    assert found is not None
    assert len(found.stem) + len(found.cycle) == 99
    assert lasso_of(graph_of(*ring, (7, 0, 99)), *conditions, fair(99)) is not None
    assert lasso_of(graph_of(*ring, (7, None, 99)), *conditions, fair(99, strong=True)) is None


def test_a_long_path_of_refinements_ends() -> None:
    # Each round of strong fairness removes one state of a path that is walked to and fro.
    count = 300
    steps = [(s, s + 1, 0) for s in range(count)] + [(s + 1, s, 0) for s in range(count)]
    dropped = [(count - n, None, n + 1) for n in range(count - 1)]
    conditions = [fair(n + 1, strong=True) for n in range(count - 1)]
    assert lasso_of(graph_of(*steps, *dropped), fair(0), *conditions) == Lasso((), (0, 1), (0, 0), 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_lasso_is_found_whatever_was_searched_before(seed: int) -> None:
    random = Random(seed)
    for _ in range(30):
        graph = random_graph(random).as_arrays()
        conditions = [fair(label, strong=bool(label % 2)) for label in range(4)]
        checks = [q.TemporalCheck("P", "", (query,)) for query in (ANY, STAYS_IN_0)]
        alone = [LassoSearch(graph, conditions).find(check) for check in checks]
        search = LassoSearch(graph, conditions)
        assert [search.find(check) for check in [*checks, *checks]] == alone * 2


def test_a_cycle_of_a_large_component_is_short() -> None:
    random = np.random.default_rng(5)
    pairs = {(s, int(t)): int(label) for s in range(3000) for t, label in random.integers(0, (3000, 40), (3, 2))}
    chain = [(s, s + 1, 40) for s in range(2999)]
    found = lasso_of(graph_of(*chain, *((s, t, n) for (s, t), n in pairs.items())), *map(fair, range(40)))
    assert found is not None
    assert len(found.stem) + len(found.cycle) < 40
