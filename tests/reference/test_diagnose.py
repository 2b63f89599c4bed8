"""The errors of one state, as the engine that only knows of a failure asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.lang.seqs import seq_literal
from kmc.reference.diagnose import check_errors, expansion_errors, initial_errors

SOURCE = """
class State(Record):
    n: Int(0, 9)
    seq: Seq[Int(0, 9), 3]


@spec.init
def init():
    yield State(n=0, seq=[])


@spec.action
def climb(st):
    if st.n < 6:
        yield st.set(n=st.n + 1)


@spec.action
def stay(st):
    yield st


@spec.action
def fail_at_six(st):
    if st.n == 6:
        yield st.set(n=st.seq.at(6))


@spec.invariant
def FailsAtOne(st):
    return st.n != 1 or st.seq.at(1) > 0


@spec.invariant
def FailsFromOneToTwo(st):
    return not (st.n == 1 or st.n == 2) or st.seq.at(2) > 0


@spec.invariant
def IsFalse(st):
    return False


@spec.reachable
def fails_at_two(st):
    return st.n == 2 and st.seq.at(3) > 0


@spec.constraint
def NotThree(st):
    return st.n != 3


@spec.constraint
def FailsFromThreeToFour(st):
    return not (st.n == 3 or st.n == 4) or st.seq.at(4) > 0


@spec.action_property
def FailsToThree(st, nxt):
    return nxt.n != 3 or st.seq.at(5) > 0


@spec.action_property
def FailsOnTheSpot(st, nxt):
    return st.n != nxt.n or st.seq.at(7) > 0


@spec.action_constraint
def FailsToFiveOrThree(st, nxt):
    return not (nxt.n == 3 or nxt.n == 5) or st.seq.at(8) > 0
"""
CFG = """INVARIANTS FailsAtOne FailsFromOneToTwo IsFalse CONSTRAINTS NotThree FailsFromThreeToFour
PROPERTIES FailsToThree FailsOnTheSpot ACTION_CONSTRAINT FailsToFiveOrThree"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """A spec in which each predicate fails in states of its own."""
    return model_of(tmp_path, SOURCE, CFG)


def failing(errors: list[KmcError]) -> list[str]:
    """What was evaluated where each error came from."""
    return [error.notes[-1].removeprefix("while evaluating ") for error in errors]


@pytest.mark.parametrize(
    ("n", "expected"), [(0, []), (1, ["FailsAtOne", "FailsFromOneToTwo"]), (2, ["FailsFromOneToTwo", "fails_at_two"])]
)
def test_each_invariant_and_wanted_property_that_fails_is_an_error(n: int, expected: list[str], model: Model) -> None:
    state = model.spec.state_class(n=n, seq=seq_literal([]))
    assert failing(check_errors(model, state, witnessed=model.predicates(Role.WITNESSED, 1))) == expected


def test_a_reachable_property_that_is_no_longer_wanted_is_not_evaluated(model: Model) -> None:
    state = model.spec.state_class(n=2, seq=seq_literal([]))
    assert failing(check_errors(model, state, witnessed=())) == ["FailsFromOneToTwo"]


@pytest.mark.parametrize(("n", "expected"), [(0, []), (3, []), (4, ["FailsFromThreeToFour"])])
def test_constraints_of_an_initial_state_are_evaluated_up_to_the_first_that_is_false(
    n: int, expected: list[str], model: Model
) -> None:
    assert failing(initial_errors(model, model.spec.state_class(n=n, seq=seq_literal([])))) == expected


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (0, []),
        (2, ["FailsToThree"]),
        (3, ["FailsFromThreeToFour"]),
        (4, ["FailsFromThreeToFour", "FailsToFiveOrThree"]),
        (6, ["FailAtSix"]),
    ],
)
def test_the_errors_of_an_expansion_are_those_of_its_actions_or_else_of_its_steps(
    n: int, expected: list[str], model: Model
) -> None:
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    found = set(failing(expansion_errors(model, relation, model.spec.state_class(n=n, seq=seq_literal([])))))
    assert found == set(expected)
