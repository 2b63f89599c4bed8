"""Run until by compiled code: the same shortest ways as the interpreter's, and the interpreter where it must answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, model_of

import kmc.explorer.python_specs.seeking_natively as natively
from kmc.checking.model_choice import choose_model
from kmc.engine.search import level_search
from kmc.errors import CommandLineError
from kmc.explorer.python_specs.conditions import action_enabled, expression_true, goal_reached, property_fails
from kmc.explorer.python_specs.explored_spec import ExploredSpec
from kmc.explorer.python_specs.moves import moves_of
from kmc.explorer.python_specs.seeking_natively import shortest_way
from kmc.explorer.search_terms import SeekEnd, SeekLimits, SeekProgress, SeekResult, WaitedFor
from kmc.explorer.seeking import Seeker
from kmc.frontend.model import Model
from kmc.reference.states.initial import initial_states

MANY = SeekLimits(states=50_000)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter looks at three states only before code is compiled."""
    monkeypatch.setattr(natively, "NEAR_STATES", 3)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many states the interpreter was allowed, each time that it searched."""
    allowed: list[int] = []
    search = Seeker.breadth_first

    def noted(self: Seeker, start: Any, wanted: WaitedFor, limits: SeekLimits, progress: SeekProgress) -> SeekResult:
        allowed.append(limits.states)
        return search(self, start, wanted, limits, progress)

    monkeypatch.setattr(Seeker, "breadth_first", noted)
    return allowed


def start_of(model: Model) -> Any:
    return initial_states(model)[0]


def agreed(model: Model, wanted: WaitedFor) -> SeekResult:
    """What both find: the same end after as many steps; each step is one that the spec allows."""
    start = start_of(model)
    slow = Seeker(ExploredSpec(model)).breadth_first(start, wanted, MANY, SeekProgress())
    fast = shortest_way(ExploredSpec(model), start, wanted, MANY, SeekProgress())
    assert (fast.end, len(fast.steps)) == (slow.end, len(slow.steps))
    if fast.end is SeekEnd.ALL_SEEN:
        assert fast.states == slow.states
    before = start
    relation = ExploredSpec(model)._relation
    for step, message in fast.steps:
        assert (step, message) in [(move.step, move.instance.message) for move in moves_of(relation, before).enabled]
        before = step.state
    return fast


CASES = [
    ("die_hard", "solution", "property", "NotSolved"),
    ("die_hard", "solution", "goal", "solved"),
    ("die_hard", "solution", "expression", "big == 1 and small == 3"),
    ("die_hard", "solution", "expression", "big == 1 and small == 2"),
    ("two_phase_commit", "smoke", "expression", "len(msgs) > 3"),
    ("two_phase_commit", "smoke", "property", ""),
    ("kraft", "smoke", "goal", "a_value_is_acknowledged"),
    (
        "kraft",
        "smoke",
        "expression",
        "len(messages) > 7 and servers[n1].state == ServerState.FOLLOWER",
    ),
]


@pytest.mark.parametrize(("spec", "name", "what", "wanted"), CASES)
def test_both_find_ways_of_the_same_length(
    spec: str, name: str, what: str, wanted: str, at_once: None, interpreted: list[int]
) -> None:
    model = shipped_model(spec, name)
    conditions = {"property": property_fails, "goal": goal_reached, "expression": expression_true}
    agreed(model, conditions[what](model, wanted))
    assert interpreted == [MANY.states, 3], "the interpreter answered"


@pytest.mark.parametrize("server", ["n1", "n2", "n3"])
def test_a_condition_on_one_of_several_symmetric_processes_is_found(server: str, at_once: None) -> None:
    model = choose_model("kraft", "standard", ()).model
    assert model.symmetry
    asked = f"servers[{server}].state == ServerState.CANDIDATE and len(messages) > 3"
    assert agreed(model, expression_true(model, asked)).end is SeekEnd.FOUND


def test_a_condition_that_is_met_at_the_start_is_waited_for_again(tmp_path: Path, at_once: None) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 50")
    found = agreed(model, expression_true(model, "n % 20 == 0"))
    assert (found.end, len(found.steps)) == (SeekEnd.FOUND, 20)


def test_a_start_outside_of_a_constraint_is_left_all_the_same(tmp_path: Path, at_once: None) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTRAINT AtMostTwo\nCONSTANT Limit = 50")
    start = start_of(model).set(n=9)
    found = shortest_way(ExploredSpec(model), start, expression_true(model, "n == 10"), MANY, SeekProgress())
    assert (found.end, len(found.steps)) == (SeekEnd.FOUND, 1)


WRONG = (
    COUNTER
    + """

@spec.action
def divide(st):
    if st.n > 20 and 10 // (st.n - 30) == 0:
        yield st.set(n=0)
"""
)
"""Dividing fails where the counter is 30, which has no successors then."""

LATE = (
    COUNTER
    + """

@spec.action
def reset(st):
    if st.n >= 10:
        yield st.set(n=0)
"""
)


@pytest.mark.parametrize(
    ("source", "text"), [(COUNTER, "n == 40 or n // (n - 45) > 99"), (WRONG, "n == 25"), (WRONG, "n == 40")]
)
def test_an_error_on_the_way_leaves_the_answer_to_the_interpreter(
    source: str, text: str, tmp_path: Path, at_once: None
) -> None:
    model = model_of(tmp_path, source, "CONSTANT Limit = 50")
    agreed(model, expression_true(model, text))


def test_an_expression_without_a_value_is_refused_as_the_interpreter_does(tmp_path: Path, at_once: None) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 50")
    with pytest.raises(CommandLineError, match="zero") as caught:
        shortest_way(
            ExploredSpec(model), start_of(model), expression_true(model, "n // (n - 30) == 99"), MANY, SeekProgress()
        )
    assert caught.value.code == "KMC671"


def test_an_action_that_becomes_enabled_is_found_by_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: None, interpreted: list[int]
) -> None:
    monkeypatch.setattr(natively, "INTERPRETED_STATES_MAX", 20)
    model = model_of(tmp_path, LATE, "CONSTANT Limit = 50")
    found = shortest_way(ExploredSpec(model), start_of(model), action_enabled(model, "Reset"), MANY, SeekProgress())
    assert (found.end, len(found.steps)) == (SeekEnd.FOUND, 10)
    assert interpreted == [3, 20]


def test_the_limit_and_a_person_end_it(monkeypatch: pytest.MonkeyPatch, at_once: None) -> None:
    model = shipped_model("kraft", "standard")
    never = expression_true(model, "len(messages) > 99")
    few = shortest_way(ExploredSpec(model), start_of(model), never, SeekLimits(states=3_000), SeekProgress())
    assert (few.end, 3_000 <= few.states < 20_000) == (SeekEnd.LIMIT, True)

    monkeypatch.setattr(level_search, "PROGRESS_SECONDS", 0.02)
    heard: list[int] = []

    class Impatient(SeekProgress):
        """Cancelled when compiled code has told of its first states."""

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if name == "states" and value > 100:
                heard.append(value)
                self.is_cancelled = True

    cancelled = shortest_way(ExploredSpec(model), start_of(model), never, SeekLimits(10**7), Impatient())
    assert heard
    assert (cancelled.end, cancelled.states < 220_780) == (SeekEnd.CANCELLED, True)
