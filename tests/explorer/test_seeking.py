"""Run until, random walks, and the conditions that they wait for."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, RIVER, model_of
from support.views.exploring import do, long_command, searched, session_of

from kmc.errors import CommandLineError
from kmc.explorer.python_specs.conditions import expression_true, property_fails
from kmc.explorer.python_specs.explored_spec import ExploredSpec
from kmc.explorer.search_terms import SeekEnd, SeekLimits, SeekProgress
from kmc.explorer.seeking import Seeker
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states


def start_of(model: Model) -> State:
    return initial_states(model)[0]


def test_breadth_first_finds_a_shortest_way(tmp_path: Path) -> None:
    model = shipped_model("die_hard", "solution")
    found = Seeker(ExploredSpec(model)).breadth_first(
        start_of(model), property_fails(model, "NotSolved"), SeekLimits(), SeekProgress()
    )
    assert found.end is SeekEnd.FOUND
    assert found.depth == len(found.steps) == 6
    assert found.steps[0][0].label == "FillBigJug"


def test_breadth_first_sees_as_many_states_as_a_check() -> None:
    model = shipped_model("two_phase_commit", "smoke")
    found = Seeker(ExploredSpec(model)).breadth_first(
        start_of(model), property_fails(model, ""), SeekLimits(), SeekProgress()
    )
    assert found.end is SeekEnd.ALL_SEEN
    assert found.states == Search(model).run().counters.distinct


def test_a_search_does_not_go_on_outside_of_a_constraint_but_looks_there(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTRAINT AtMostTwo\nCONSTANT Limit = 50")
    seeker = Seeker(ExploredSpec(model))
    at_three = seeker.breadth_first(start_of(model), expression_true(model, "st.n == 3"), SeekLimits(), SeekProgress())
    at_four = seeker.breadth_first(start_of(model), expression_true(model, "st.n == 4"), SeekLimits(), SeekProgress())
    assert (at_three.end, at_four.end) == (SeekEnd.FOUND, SeekEnd.ALL_SEEN)
    walk = seeker.at_random(start_of(model), None, 20, 1, SeekLimits(), SeekProgress())
    assert [step.state.n for step, _ in walk.steps] == [1, 2]
    assert walk.end is SeekEnd.NO_STEP
    found = seeker.at_random(start_of(model), expression_true(model, "st.n == 3"), 20, 1, SeekLimits(), SeekProgress())
    assert found.end is SeekEnd.FOUND


BACK = (
    COUNTER
    + """

@spec.action
def back(st):
    yield st.set(n=max(0, st.n - 1))


@spec.action_property
def NeverDown(st, nxt):
    return nxt.n > st.n
"""
)
"""One may go back; at 0, `back` changes nothing."""


def test_breadth_first_finds_a_step_to_a_known_state_that_breaks_an_action_property(tmp_path: Path) -> None:
    model = model_of(tmp_path, BACK, "PROPERTY NeverDown")
    for name in ("NeverDown", ""):
        wanted = property_fails(model, name)
        found = Seeker(ExploredSpec(model)).breadth_first(start_of(model), wanted, SeekLimits(), SeekProgress())
        assert found.end is SeekEnd.FOUND
        assert [step.label for step, _ in found.steps] == ["Increase", "Back"]
        assert found.depth == len(found.steps)


def test_a_walk_of_a_seed_is_the_same_every_time() -> None:
    model = shipped_model("kip_996", "smoke")
    walks = [
        Seeker(ExploredSpec(model)).at_random(start_of(model), None, 15, seed, SeekLimits(), SeekProgress())
        for seed in (3, 3, 4)
    ]
    assert walks[0].steps == walks[1].steps
    assert walks[0].steps != walks[2].steps


def test_a_search_ends_at_its_limits_and_when_it_is_cancelled(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 90")
    never = expression_true(model, "st.n > 90")
    few = Seeker(ExploredSpec(model)).breadth_first(start_of(model), never, SeekLimits(states=10), SeekProgress())
    assert (few.end, few.steps) == (SeekEnd.LIMIT, ())
    ticks = iter(range(1000))
    late = Seeker(ExploredSpec(model), lambda: next(ticks)).breadth_first(
        start_of(model), never, SeekLimits(seconds=5), SeekProgress()
    )
    assert late.end is SeekEnd.LIMIT
    cancelled = SeekProgress(is_cancelled=True)
    assert (
        Seeker(ExploredSpec(model)).breadth_first(start_of(model), never, SeekLimits(), cancelled).end
        is SeekEnd.CANCELLED
    )
    assert (
        Seeker(ExploredSpec(model)).at_random(start_of(model), never, 5, 1, SeekLimits(), cancelled).end
        is SeekEnd.CANCELLED
    )


def test_a_random_search_begins_again_until_its_limit(tmp_path: Path) -> None:
    model = model_of(tmp_path, RIVER)
    never = expression_true(model, "st.farmer != st.farmer")
    found = Seeker(ExploredSpec(model)).at_random(start_of(model), never, 5, 1, SeekLimits(states=40), SeekProgress())
    assert (found.end, found.states) == (SeekEnd.LIMIT, 40)


@pytest.mark.parametrize("what", ["property", "goal", "action", "expression"])
def test_each_kind_of_condition_is_found(what: str) -> None:
    names = {
        "property": "NotSolved",
        "goal": "solved",
        "action": "BigToSmall",
        "expression": "st.big == Wanted and not (st.small == 0)",
    }
    session = session_of(shipped_model("die_hard", "solution"))
    search = searched(session, what=what, name=names[what])
    assert search.result is not None
    assert search.result.end is SeekEnd.FOUND
    assert session.tree.at == len(search.result.steps)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("st.n ==", "not an expression"),
        ("st.nn == 1", "'nn'"),
        ("m == 1", "no name 'm'"),
        ("nxt.n == 1", "not of a step"),
        ("st.n", "not True or False"),
        ("st.n + True == 2", "number"),
        ("lambda: 1", "lambda"),
        ("(yield st)", "yield"),
        ("st.__class__ == 1", "__class__"),
        ("__import__", "no name '__import__'"),
        ("__kmc_set__", "no name"),
        ("open", "no name 'open'"),
        ("st.n == 1) or (True", "not an expression"),
        ("(" * 3000, "characters"),
        ("(" * 900 + ")" * 900, "not an expression"),
        ("", "not an expression"),
    ],
)
def test_a_condition_that_is_not_one_is_refused(text: str, message: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER)
    with pytest.raises(CommandLineError) as caught:
        expression_true(model, text).is_met(None, start_of(model))
    assert caught.value.code == "KMC671"
    assert message in caught.value.message
    assert caught.value.help


def test_an_expression_has_the_names_of_the_spec_and_the_members_of_its_sets() -> None:
    model = shipped_model("two_phase_commit", "smoke")
    titles = [member.title for constant in model.spec.constants.values() if hasattr(constant.value, "members")
              for member in constant.value.members]  # fmt: skip
    assert titles
    assert not expression_true(model, f"{titles[0]} != {titles[0]}").is_met(None, start_of(model))


def test_a_walk_is_one_command_that_can_be_undone() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    do(session, "walk", steps=5, seed=1)
    assert session.tree.at == 5
    do(session, "undo")
    assert session.tree.at == 0
    assert len(session.tree.visited) == 6


def test_a_mistake_of_kmc_ends_a_search_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    monkeypatch.setattr(Seeker, "breadth_first", lambda *given: 1 / 0)
    search = searched(session)
    assert search.is_over
    assert search.error is not None
    assert (search.error.code, "ZeroDivisionError" in search.error.message) == ("KMC935", True)


def test_a_search_whose_beginning_was_undone_goes_on_from_there() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    do(session, "take", at=0, move=0)
    command = long_command("walk", steps=3, seed=1)
    search = session.start_search(command)
    start = session.tree.visited[search.start].state
    do(session, "undo")
    do(session, "take", at=0, move=1)
    session.run_search(search, command, start)
    assert search.is_over
    assert [visited.parent for visited in session.tree.visited] == [None, 0, 0, 1, 3, 4]
    assert session.tree.at == 5
    do(session, "undo")
    assert session.tree.at == 2
