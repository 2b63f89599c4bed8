"""Which fairness a model has: what its specification returns, what its actions are declared with, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.actions.action import instances_of
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.liveness.lasso_queries import AndSteps, Changing, Labelled

ACTIONS = """
from kmc.spec import FAIR_ACTIONS, NEXT, STRONG, WEAK, and_, eventually, steps, strong_fairness, weak_fairness


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action(fair=WEAK)
def move(st, n: Int(0, 1)):
    yield st.set(x=n)


@spec.action(next=False)
def leap(st, n: Int(2, 3)):
    yield st.set(x=n)


@spec.action(fair=STRONG)
def rest(st):
    yield st


@spec.liveness
def Prop():
    return eventually(lambda st: st.x == 1)
"""
DECLARED = """
@spec.specification
def Strict():
    return and_(FAIR_ACTIONS, weak_fairness(leap, 3))


@spec.specification
def Loose():
    return weak_fairness(NEXT)


@spec.specification
def Unfair():
    return True
"""
OF_ACTIONS = ["WF_vars(Move(0))", "WF_vars(Move(1))", "SF_vars(Rest)"]


def fairness(model: Model) -> list[str]:
    return [condition.name for condition in problem_of(model).fairness]


@pytest.mark.parametrize(
    ("declared", "chosen", "found"),
    [
        (DECLARED, "SPECIFICATION Strict", [*OF_ACTIONS, "WF_vars(Leap(3))"]),
        (DECLARED, "SPECIFICATION Loose", ["WF_vars(Next)"]),
        (DECLARED, "SPECIFICATION Unfair", []),
        # Of its names, the one that is not declared with its fairness has none.
        (DECLARED, "SPECIFICATION Spec", []),
        (DECLARED, "", [*OF_ACTIONS, "WF_vars(Leap(3))"]),
        (DECLARED, "INIT Init NEXT Next", []),
        ("", "SPECIFICATION Spec", OF_ACTIONS),
        ("", "", OF_ACTIONS),
        ("", "INIT Init NEXT Next", []),
    ],
)
def test_a_model_has_the_fairness_of_its_specification(
    declared: str, chosen: str, found: list[str], tmp_path: Path
) -> None:
    assert fairness(model_of(tmp_path, ACTIONS + declared, f"{chosen} PROPERTY Prop")) == found


def test_an_action_beside_next_is_counted_after_those_of_next(tmp_path: Path) -> None:
    model = model_of(tmp_path, ACTIONS + DECLARED, "SPECIFICATION Strict PROPERTY Prop")
    assert [action.title for action in model.spec.actions] == ["Move", "Rest"]
    counted = instances_of((*model.spec.actions, *model.spec.other_actions))
    (leap,) = (number for number, (action, given) in enumerate(counted) if (action.title, given) == ("Leap", (3,)))
    assert problem_of(model).fairness[-1].steps == AndSteps((Labelled(frozenset([leap])), Changing()))


def test_next_is_no_more_than_the_actions_of_next(tmp_path: Path) -> None:
    model = model_of(tmp_path, ACTIONS + DECLARED, "SPECIFICATION Loose PROPERTY Prop")
    labels = frozenset(range(len(instances_of(model.spec.actions))))
    assert problem_of(model).fairness[0].steps == AndSteps((Labelled(labels), Changing()))


def test_the_digest_of_a_model_tells_its_specification_and_temporal_properties(tmp_path: Path) -> None:
    chosen = ("SPECIFICATION Strict PROPERTY Prop", "SPECIFICATION Loose PROPERTY Prop", "SPECIFICATION Loose")
    digests = [model_of(tmp_path, ACTIONS + DECLARED, cfg).digest for cfg in chosen]
    assert len(set(digests)) == 3


def test_the_digest_of_a_model_without_temporal_properties_does_not_depend_on_fairness(tmp_path: Path) -> None:
    digests = {model_of(tmp_path, ACTIONS + DECLARED, cfg).digest for cfg in ("SPECIFICATION Strict", "")}
    assert len(digests) == 1
