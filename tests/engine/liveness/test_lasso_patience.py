"""The search for lassos ends soon after Ctrl-C and when its time is over, and says that it did not end."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.specs.small import model_of

from kmc.engine import check_model
from kmc.engine.behaviour_graph.sets import GraphSets
from kmc.engine.check_model import check_native
from kmc.engine.lassos import native_graph, patience
from kmc.engine.lassos.condition_masks import ConditionMasks, SetColumns
from kmc.engine.lassos.cycle_progress import CycleProgress
from kmc.engine.lassos.native_graph import PhaseDistances, fair_components, stuttering_states
from kmc.engine.lassos.short_cycles import ShortCycles
from kmc.errors import ExitStatus
from kmc.frontend.model import Model
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.lasso_queries import AtomHolds, LassoQuery, NotStates, Phase, Recurrence, TemporalCheck
from kmc.liveness.problem import TemporalProblem
from kmc.reference import search as interpreted_search
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.reference.temporal.lasso_finder import LassosUnfinished
from kmc.reference.temporal.verdicts import GraphFinder, lasso_seconds, verdicts
from kmc.result import Bound, Limits, Result

STATES = 20_000

RING = """
from kmc.spec import WEAK, always_eventually


class State(Record):
    n: Int(0, 3)


@spec.init
def init():
    yield State(n=0)


@spec.action(fair=WEAK)
def turn(st):
    yield st.set(n=(st.n + 1) % 4)


@spec.liveness
def Returns():
    return always_eventually(lambda st: st.n == 0)
"""


@pytest.fixture
def asked_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops find that they shall end, from the beginning."""
    word = np.ones(1, np.int64)
    monkeypatch.setattr(native_graph, "stop_word", lambda: word.ctypes.data)
    monkeypatch.setattr("kmc.engine.lassos.short_cycles.stop_word", lambda: word.ctypes.data)


def ring() -> tuple[BehaviourGraph, ConditionMasks]:
    """A ring in which only the last state is wanted."""
    bits = np.zeros((STATES, 1), np.uint8)
    bits[-1] = 1
    graph = BehaviourGraph(
        level_starts=np.array([0, 1, STATES], np.int64),
        expanded=STATES,
        offsets=np.arange(STATES + 1, dtype=np.int64),
        targets=np.roll(np.arange(STATES, dtype=np.uint32), -1),
        labels=np.zeros(STATES, np.uint16),
        state_bits=bits,
        step_bits=np.zeros((STATES, 0), np.uint8),
    )
    conditions = (Recurrence(AtomHolds(0)),)
    return graph, ConditionMasks(SetColumns(GraphSets(graph), conditions), conditions)


def counted() -> tuple[int, int, int]:
    """How many components there are, how many states to stay in, and how many steps lead to the farthest state."""
    graph, masks = ring()
    everywhere = np.ones(STATES, np.bool_)
    components = fair_components(graph, masks, everywhere, None)
    staying = int(stuttering_states(graph, masks, everywhere).sum())
    return len(components.ends), staying, sum(1 for _ in PhaseDistances(GraphSets(graph), (Phase(),)).levels())


def test_what_is_counted_without_haste() -> None:
    assert counted() == (1, 1, STATES)


@pytest.mark.usefixtures("asked_to_stop")
def test_loops_end_when_they_are_asked_to() -> None:
    assert counted() == (0, STATES, 1)


@pytest.mark.usefixtures("asked_to_stop")
def test_a_search_for_the_nearest_state_ends_when_it_is_asked_to() -> None:
    graph, masks = ring()
    numbers = np.ones(STATES, np.uint32)
    cycles = ShortCycles(CycleProgress(graph, masks, numbers, None), numbers, None)
    with pytest.raises(AssertionError, match="obligation"):
        cycles.greedy(0)


@pytest.mark.parametrize("reason", [KeyboardInterrupt, LassosUnfinished])
def test_a_loop_over_a_large_graph_is_told_to_end(reason: type[BaseException]) -> None:
    def poll() -> None:
        raise reason

    def wait(word: int) -> int:
        while ctypes.c_int64.from_address(word).value == 0:
            time.sleep(0.001)
        return 0

    loop: Any = wait  # in Python, it ends as a native loop does
    with patience.patience(poll), pytest.raises(reason):
        patience.run_loop(loop, patience.LARGE_STATES, patience.stop_word())


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """A ring in which a property holds."""
    return model_of(tmp_path, RING, "PROPERTY Returns CHECK_DEADLOCK FALSE")


def native(model: Model) -> Result:
    """The result of the native engine, within an hour."""
    return check_native(model, Limits(seconds=3600.0), problem=accepted_problem(model))


def interpreted(model: Model) -> Result:
    """The result of the interpreter, within an hour."""
    return Search(model, Limits(seconds=3600.0), problem=accepted_problem(model)).run()


@pytest.mark.parametrize("check", [native, interpreted])
def test_without_time_for_lassos_nothing_is_proved(
    check: Callable[[Model], Result], model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (check_model, interpreted_search):
        monkeypatch.setattr(place, "lasso_seconds", lambda *_: 0.0)
    result = check(model)
    assert (result.bound, result.exit_status(), result.counters.left) == (Bound.TIME, ExitStatus.BOUND_REACHED, 0)
    assert [prop.verdict for prop in result.properties] == ["not checked"]


@pytest.mark.parametrize("check", [native, interpreted])
def test_with_time_it_is(check: Callable[[Model], Result], model: Model) -> None:
    assert [prop.verdict for prop in check(model).properties] == ["holds"]


def test_what_was_found_before_the_time_was_over_counts(model: Model) -> None:
    never, again = (
        LassoQuery((Phase(states=NotStates(AtomHolds(0))),)),
        LassoQuery((Phase(),), (Recurrence(AtomHolds(0)),)),
    )
    queries = ((never,), (again,))
    checks = tuple(TemporalCheck(name, "", query) for name, query in zip("AB", queries, strict=True))
    problem = TemporalProblem((lambda st: st.n == 3,), (), (), checks)
    told: list[str] = []

    def tell(activity: str) -> None:
        told.append(activity)
        if len(told) == 4:
            raise LassosUnfinished

    search = Search(model, problem=problem, keep_going=True)
    search.run()
    assert search._behaviours is not None
    finder = GraphFinder(search._behaviours, 1, ())
    properties, violation = verdicts(model, problem, finder, None, tell)
    assert [prop.verdict for prop in properties] == ["violated", "not checked"]
    assert violation is not None
    assert violation.name == "A"


def test_a_search_that_took_its_time_leaves_some_for_lassos() -> None:
    assert lasso_seconds(None, 5.0, None) is None
    assert lasso_seconds(60.0, 45.0, None) == 15.0
    assert lasso_seconds(60.0, 60.1, Bound.TIME) == 6.0
    assert lasso_seconds(2.0, 2.1, Bound.TIME) == 1.0
