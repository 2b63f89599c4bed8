"""What a lasso waits for in vain is told as a cause: the action that would help, and what disables it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits
from kmc.story.counterexample import story_of

WORKERS = """
from kmc.spec import FAIR_ACTIONS, WEAK, and_, eventually, for_all, leads_to, not_, weak_fairness

Stuck = constant("Stuck", Bool, "Nothing is finished", False)
Work = constant("Work", IdentSet(), "What there is to do")


class State(Record):
    asked: Set[Work]
    done: Set[Work]
    key: Bool


@spec.init
def init():
    yield State(asked=set(), done=set(), key=False)


@spec.action(fair=WEAK)
def ask(st, w: Work):
    require(w not in st.asked)
    yield st.set(asked=st.asked | {w})


@spec.action(fair=WEAK)
def finish(st, w: Work):
    require(not Stuck)
    require(w in st.asked)
    require(st.key)
    yield st.set(done=st.done | {w})


@spec.action
def unlock(st):
    require(len(st.asked) == 0)
    yield st.set(key=True)


@spec.specification
def Fair():
    return FAIR_ACTIONS


@spec.liveness
def Finished():
    return leads_to(lambda st: len(st.asked) > 0, lambda st: len(st.done) > 0)


@spec.liveness
def Unasked():
    return not_(eventually(lambda st: len(st.asked) == 1))
"""
CFG = "SPECIFICATION Fair\nCHECK_DEADLOCK FALSE\nCONSTANT Work = {w1, w2}\n"


def step_of(folder: Path, cfg: str) -> str:
    """What is said beside the sentence of the counterexample."""
    model = model_of(folder, WORKERS, CFG + cfg)
    violation = Search(model, Limits(), problem=accepted_problem(model)).run().violation
    assert violation is not None
    told = story_of(model, violation).why
    assert told is not None
    return told.step


def test_the_action_that_would_help_is_named_with_its_guard(tmp_path: Path) -> None:
    said = step_of(tmp_path, "PROPERTY Finished\n")
    assert said.startswith("Finish(w")
    assert "would help, but no state of the cycle enables it: in state 3, key is false." in said


def test_where_nothing_brings_it_what_the_model_switched_is_named(tmp_path: Path) -> None:
    said = step_of(tmp_path, "CONSTANT Stuck = TRUE\nPROPERTY Finished\n")
    assert said == "Finish is disabled throughout, since Stuck is true."


@pytest.mark.parametrize("cfg", ["PROPERTY Unasked\n"])
def test_nothing_is_said_where_nothing_is_awaited(tmp_path: Path, cfg: str) -> None:
    assert step_of(tmp_path, cfg) == ""


def test_a_condition_of_fairness_shows_the_values_that_its_lambda_stands_among(tmp_path: Path) -> None:
    source = (
        WORKERS
        + """

@spec.specification
def Bound():
    return for_all(Work, lambda w: weak_fairness(and_(ask, lambda st, new: w in new.asked)))
"""
    )
    model = model_of(tmp_path, source, CFG.replace("Fair", "Bound") + "PROPERTY Finished\n")
    problem = accepted_problem(model)
    assert problem is not None
    assert [fair.name for fair in problem.fairness] == [
        "WF_vars((\\E w: Ask(w)) /\\ (w1 in new.asked))",
        "WF_vars((\\E w: Ask(w)) /\\ (w2 in new.asked))",
    ]
