"""What a failing `require` ends: the round of the choice it is met in, or the generator, wherever the call stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.errors import EvaluationError
from kmc.reference.states.initial import initial_states

STATE = """
class State(Record):
    n: Int(0, 99)


@spec.init
def init():
    yield State(n=0)

"""

EVEN = """
def even(n):
    require(n % 2 == 0)
    return n

"""


def successors(folder: Path, source: str) -> list[int]:
    """The values of n after one step, in the order in which they are yielded."""
    model = model_of(folder, source, "INIT Init NEXT Next")
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    return [successor.n for state in initial_states(model) for _, _, successor in relation.steps(state)]


def test_require_that_holds_changes_nothing(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    require(st.n == 0)
    yield st.set(n=1)
"""
    assert successors(tmp_path, STATE + action) == [1]


def test_require_that_fails_ends_an_action_without_choices(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    yield st.set(n=1)
    require(st.n > 0)
    yield st.set(n=2)
"""
    assert successors(tmp_path, STATE + action) == [1]


def test_require_ends_one_round_of_a_choice(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    for n in range(1, 5):
        require(n != 2)
        yield st.set(n=n)
"""
    assert successors(tmp_path, STATE + action) == [1, 3, 4]


def test_require_in_the_inner_of_two_choices_goes_on_with_the_inner_one(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    for tens in range(1, 3):
        for ones in range(1, 4):
            require(ones != 2)
            yield st.set(n=tens * 10 + ones)
"""
    assert successors(tmp_path, STATE + action) == [11, 13, 21, 23]


def test_require_in_the_outer_of_two_choices_skips_the_inner_one(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    for tens in range(1, 4):
        require(tens != 2)
        for ones in range(1, 3):
            yield st.set(n=tens * 10 + ones)
"""
    assert successors(tmp_path, STATE + action) == [11, 12, 31, 32]


def test_require_behind_a_choice_does_not_take_back_its_states(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    for n in range(1, 3):
        yield st.set(n=n)
    require(st.n > 0)
    yield st.set(n=9)
"""
    assert successors(tmp_path, STATE + action) == [1, 2]


def test_require_before_a_choice_disables_all_of_it(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    require(st.n > 0)
    for n in range(1, 3):
        yield st.set(n=n)
"""
    assert successors(tmp_path, STATE + action) == []


def test_require_in_what_a_choice_runs_over_ends_the_choice_around_it(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    for tens in range(1, 4):
        for ones in range(even(tens)):
            yield st.set(n=tens * 10 + ones)
"""
    assert successors(tmp_path, STATE + EVEN + action) == [20, 21]


def test_require_in_one_branch_leaves_the_other(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    for n in range(1, 5):
        if n > 2:
            require(n == 4)
        yield st.set(n=n)
"""
    assert successors(tmp_path, STATE + action) == [1, 2, 4]


def test_a_helper_requires_for_each_of_its_callers(tmp_path: Path) -> None:
    action = """
@spec.action
def in_choice(st):
    for n in range(1, 5):
        yield st.set(n=even(n))


@spec.action
def alone(st):
    yield st.set(n=even(7))


@spec.action
def in_branch(st):
    yield st.set(n=even(8) if st.n == 0 else even(7))
"""
    assert successors(tmp_path, STATE + EVEN + action) == [2, 4, 8]


def test_a_helper_of_a_helper_requires_for_the_action(tmp_path: Path) -> None:
    action = """
def halved(n):
    return even(n) // 2


@spec.action
def act(st):
    for n in range(1, 5):
        yield st.set(n=halved(n))
"""
    assert successors(tmp_path, STATE + EVEN + action) == [1, 2]


def test_a_local_helper_requires_for_the_action(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    def small(n):
        require(n < 3)
        return n

    for n in range(1, 5):
        yield st.set(n=small(n))
"""
    assert successors(tmp_path, STATE + action) == [1, 2]


def test_a_helper_that_yields_ends_itself_and_not_its_caller(tmp_path: Path) -> None:
    action = """
def first(st):
    require(st.n > 0)
    yield st.set(n=1)


def second(st):
    yield st.set(n=2)


@spec.action
def act(st):
    yield from first(st)
    yield from second(st)
"""
    assert successors(tmp_path, STATE + action) == [2]


def test_require_in_an_argument_of_a_helper_that_yields_ends_the_caller(tmp_path: Path) -> None:
    action = """
def stepped(st, n):
    yield st.set(n=n)


@spec.action
def act(st):
    for n in range(1, 5):
        yield from stepped(st, even(n))
    yield from stepped(st, even(7))
    yield st.set(n=9)
"""
    assert successors(tmp_path, STATE + EVEN + action) == [2, 4]


def test_a_choice_from_a_helper_that_yields_ends_round_by_round(tmp_path: Path) -> None:
    action = """
def several(st):
    for n in range(1, 5):
        require(n != 3)
        yield st.set(n=n)


@spec.action
def act(st):
    for new in several(st):
        require(new.n != 1)
        yield new.set(n=new.n * 10)
"""
    assert successors(tmp_path, STATE + action) == [20, 40]


def test_require_in_a_comprehension_ends_the_round_that_needs_its_value(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    for top in range(2, 5):
        yield st.set(n=sum(even(n) for n in range(0, top, 2)))


@spec.action
def none(st):
    yield st.set(n=len({even(n) for n in range(3)}))
"""
    assert successors(tmp_path, STATE + EVEN + action) == [0, 2, 2]


def test_require_in_a_filter_of_messages_ends_the_action(tmp_path: Path) -> None:
    source = """
Server = constant("Server", IdentSet(), "Who sends")


class Ping(Message):
    source: Server
    dest: Server


class State(Record):
    n: Int(0, 9)
    net: MessageSet[Ping]


@spec.init
def init():
    for s in Server:
        yield State(n=0, net={Ping(source=s, dest=s)})


def allowed(m):
    require(m.source != m.dest)
    return True


@spec.action
def act(st):
    yield st.set(n=len(st.net.keep(lambda m: allowed(m))))


@spec.action
def other(st):
    yield st.set(n=5)
"""
    model = model_of(tmp_path, source, "CONSTANT Server = {a} INIT Init NEXT Next")
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    assert [step[2].n for state in initial_states(model) for step in relation.steps(state)] == [5]


def test_require_filters_initial_states(tmp_path: Path) -> None:
    source = """
class State(Record):
    n: Int(0, 9)


@spec.init
def init():
    for n in range(5):
        require(n % 2 == 0)
        yield State(n=n)


@spec.action
def act(st):
    yield st
"""
    model = model_of(tmp_path, source, "INIT Init NEXT Next")
    assert [state.n for state in initial_states(model)] == [0, 2, 4]


def test_init_that_requires_what_never_holds_has_no_initial_state(tmp_path: Path) -> None:
    source = """
class State(Record):
    n: Int(0, 9)


@spec.init
def init():
    require(1 > 2)
    yield State(n=0)


@spec.action
def act(st):
    yield st
"""
    with pytest.raises(EvaluationError, match="no initial state"):
        initial_states(model_of(tmp_path, source, "INIT Init NEXT Next"))


def test_an_error_in_a_round_is_not_taken_for_a_failing_require(tmp_path: Path) -> None:
    action = """
@spec.action
def act(st):
    for n in range(2):
        yield st.set(n=1 // n)
"""
    with pytest.raises(EvaluationError, match="division by zero"):
        successors(tmp_path, STATE + action)
