"""A counterexample is shown only if the formulas themselves say that it is fair and refutes the property."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.specs.small import model_of

from kmc.errors import InternalError
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.liveness.formulas import Not
from kmc.reference.search import Search
from kmc.result import Verdict

TOGGLE = """
from kmc.spec import NEXT, always, eventually, weak_fairness


class State(Record):
    x: Int(0, 2)


@spec.init
def init():
    yield State(x=0)


@spec.action
def toggle(st):
    yield st.set(x=1 - st.x)


@spec.specification
def Fair():
    return weak_fairness(NEXT)


@spec.liveness
def Lasso():
    return eventually(lambda st: st.x == 2)


@spec.liveness
def Prefix():
    return always(lambda st: st.x == 0)


@spec.liveness
def Step():
    return always(lambda st, new: new.x == 1)
"""


@pytest.fixture
def toggle(tmp_path: Path) -> Model:
    return model_of(tmp_path, TOGGLE, "SPECIFICATION Fair PROPERTY Lasso")


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("Lasso", Verdict.LIVENESS), ("Prefix", Verdict.VIOLATION), ("Step", Verdict.VIOLATION)],
)
def test_lassos_and_prefixes_stand_by_definition(name: str, verdict: Verdict, tmp_path: Path) -> None:
    model = model_of(tmp_path, TOGGLE, f"SPECIFICATION Fair PROPERTY {name}")
    result = Search(model, problem=problem_of(model)).run()
    assert (result.verdict, result.violation and result.violation.name) == (verdict, name)


def with_other(model: Model, formulas: str) -> None:
    """Search with queries that do not belong to the formulas: these are negated."""
    problem = problem_of(model)
    negated: dict[str, Any] = {formulas: tuple(Not(formula) for formula in getattr(problem, formulas))}
    Search(model, problem=replace(problem, **negated)).run()


def test_a_lasso_that_satisfies_the_property_is_a_mistake_of_kmc(toggle: Model) -> None:
    with pytest.raises(InternalError, match="Lasso satisfies the property by its definition") as caught:
        with_other(toggle, "formulas")
    assert caught.value.code == "KMC909"


def test_a_lasso_that_is_not_fair_is_a_mistake_of_kmc(toggle: Model) -> None:
    with pytest.raises(InternalError, match=r"Lasso is not fair by the definition of WF_vars\(Next\)"):
        with_other(toggle, "assumed")
