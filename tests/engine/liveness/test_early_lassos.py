"""What refutes a property before the graph is whole is reported in its own level: by definition on random graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.drawing.early_ends import EarlyCase, early_cases, interpreted_level, level_of_whole_graph, native_level

from kmc.engine.behaviour_graph import early_lassos
from kmc.engine.behaviour_graph.recorded_levels import RecordedLevels
from kmc.liveness.behaviour_graph import OUTSIDE
from kmc.liveness.early_queries import EarlyQuery, early_queries
from kmc.liveness.lasso_queries import (
    AndSteps,
    AtomHolds,
    Changing,
    FairnessCondition,
    Into,
    LassoQuery,
    Phase,
    Recurrence,
    TemporalCheck,
)
from kmc.liveness.problem import TemporalProblem

Level = Callable[[EarlyCase], int | None]
CASES = 400


def wrong(level_of: Level) -> EarlyCase | None:
    """The first random case that is not reported in its level."""
    return next((case for case in early_cases(1, CASES) if level_of(case) != case.expected), None)


WAYS = [native_level, interpreted_level, level_of_whole_graph]


@pytest.mark.slow
@pytest.mark.parametrize("level_of", WAYS)
def test_each_query_is_reported_in_the_level_of_its_nearest_end(level_of: Level) -> None:
    assert wrong(level_of) is None


@pytest.mark.slow
@pytest.mark.parametrize("level_of", WAYS)
def test_ways_are_not_followed_far(level_of: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmc.liveness.early_queries.WAYS_STATES_MAX", most := 3)
    left_out = 0
    for case in early_cases(1, CASES):
        (query,) = early_queries(case.problem)
        is_late = case.expected is not None and case.starts[case.expected + 1] > most and not query.reaches_all
        left_out += is_late
        assert level_of(case) == (None if is_late else case.expected)
    assert left_out > 20


def test_the_random_queries_end_in_many_levels_and_in_none() -> None:
    levels = Counter(case.expected for case in early_cases(1, CASES))
    assert levels[None] > 50
    assert min(levels[level] for level in range(3)) > 2


def test_a_step_back_that_does_not_carry_phases_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = early_lassos._Ways._following

    def only_forward(ways: Any, levels: RecordedLevels) -> Any:
        first = levels.starts[ways.distance]
        return tuple([states[states >= first] for states in found] for found in right(ways, levels))

    monkeypatch.setattr(early_lassos._Ways, "_following", only_forward)
    assert wrong(native_level)


def test_a_condition_of_fairness_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_lassos, "labels_of", lambda steps: frozenset())
    assert wrong(native_level)


def test_a_dropped_step_that_does_not_enable_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = early_lassos.EarlyLassos._without_fair_step

    def kept_only(early: Any, part: Any) -> Any:
        part.targets = np.where(part.targets == OUTSIDE, np.uint32(part.first), part.targets)
        return right(early, part)

    monkeypatch.setattr(early_lassos.EarlyLassos, "_without_fair_step", kept_only)
    assert wrong(native_level)


def problem(*queries: LassoQuery, fairness: tuple[FairnessCondition, ...] = ()) -> TemporalProblem:
    """The problem of some queries."""
    return TemporalProblem((), (), fairness, (TemporalCheck("P", "", queries),))


def test_a_prefix_ends_where_its_last_phase_begins() -> None:
    phases = (Phase(), Phase(enters_at=AtomHolds(0)))
    assert early_queries(problem(LassoQuery(phases))) == (EarlyQuery(phases, (AtomHolds(0),), stutters=False),)


def test_a_query_that_looks_at_targets_is_not_reported_early() -> None:
    ahead = AndSteps((Changing(), Into(AtomHolds(0))))
    assert early_queries(problem(LassoQuery((Phase(steps=ahead),)))) == ()
    fair = FairnessCondition("F", "F", False, ahead)
    assert early_queries(problem(LassoQuery((Phase(),), (Recurrence(AtomHolds(0)),)), fairness=(fair,))) == ()
