"""Mistakes in temporal formulas: each gives one error, at the author's line."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.errors import EvaluationError, SpecError
from kmc.frontend.temporal_problem import problem_of
from kmc.reference.search import Search

WORDS = (
    "NEXT, always, always_eventually, and_, enabled, eventually, eventually_always, for_all, iff, implies, leads_to, "
    "not_, or_, steps, strong_fairness, there_exists, weak_fairness"
)
SPEC = f"""
from kmc.spec import {WORDS}


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action
def move(st, n: Int(0, 3)):
    if st.x < n:
        yield st.set(x=n)


def is_zero(st):
    return st.x == 0


def helper(st):
    yield st


@spec.action
def delegate(st):
    yield from helper(st)


@spec.specification
def Fair():
    return {{fairness}}


@spec.liveness
def Prop():
    return {{formula}}
"""
CFG = "SPECIFICATION Fair PROPERTY Prop"
MANY = f"not_(and_({', '.join(f'eventually(lambda st: st.x == {n})' for n in range(6))}))"
PRODUCT = (
    "eventually_always(there_exists(range(40), lambda n: and_(always(is_zero), eventually(lambda st: st.x == n))))"
)

MISTAKES = {
    "always(is_zero, 1)": ("KMC248", "always takes 1 positional argument but 2 were given"),
    "always(is_zero) and eventually(is_zero)": ("KMC249", "this condition is a temporal formula, not a Bool"),
    "not always(is_zero)": ("KMC249", "this condition is a temporal formula, not a Bool"),
    "leads_to(1, is_zero)": ("KMC701", "1 is not a formula"),
    "(always(is_zero), eventually(is_zero))": ("KMC701", "a tuple is not a formula"),
    "None": ("KMC701", "None is not a formula"),
    "always(set())": ("KMC701", "{} is not a formula"),
    "for_all(3, lambda n: always(is_zero))": ("KMC701", "3 is not a set of values"),
    "for_all(range(3), lambda: True)": ("KMC701", "the formula of a quantifier is a function of one value"),
    "for_all(range(3), is_zero)": ("KMC243", "a number has no 'x'"),
    "always_eventually(steps(is_zero))": ("KMC702", "the function is_zero is not an action"),
    "always_eventually(steps(3))": ("KMC702", "3 is not an action"),
    "always_eventually(helper)": ("KMC702", "the function helper yields, and is not an action"),
    "eventually(steps(move, 7))": ("KMC703", "Move is never taken with n = 7"),
    "eventually(steps(move, 1, 2))": ("KMC703", "Move takes 1 arguments, and 2 are given"),
    "eventually(steps(move, m=1))": ("KMC703", "Move has no parameter 'm'"),
    "eventually(steps(move, 1, n=1))": ("KMC703", "Move is given 'n' twice"),
    "leads_to(is_zero, move)": ("KMC704", "leads_to is about states, and this is a step"),
    "or_(eventually(is_zero), move)": ("KMC704", "a step stands beside a temporal formula"),
    "and_(is_zero, move)": ("KMC704", "Prop is a predicate of a step"),
    "eventually(enabled(always(is_zero)))": ("KMC704", "ENABLED is about steps, and this is a temporal formula"),
    "eventually(enabled(is_zero))": ("KMC705", "ENABLED of steps that no action bounds"),
    "always(lambda: True)": ("KMC708", "a lambda takes neither a state nor a state and its successor"),
    PRODUCT: ("KMC706", "Prop has more than 128 cases in which it fails"),
    MANY: ("KMC706", "Prop has more than 128 cases in which it fails"),
}
UNFAIR = {
    "always(is_zero)": "Fair is more than a conjunction of weak and strong fairness",
    "or_(weak_fairness(move), weak_fairness(move, 1))": "Fair is more than a conjunction of weak and strong fairness",
    "not_(weak_fairness(move))": "Fair is more than a conjunction of weak and strong fairness",
}


def refused(folder: Path, fairness: str, formula: str) -> tuple[str, str, str]:
    """The code and the message of the error, and the line that it points at."""
    model = model_of(folder, SPEC.format(fairness=fairness, formula=formula), CFG)
    with pytest.raises(SpecError) as caught:
        problem_of(model)
    error = caught.value
    assert error.span is not None
    return error.code, error.message, (folder / "spec.py").read_text(encoding="utf-8").splitlines()[error.span.line - 1]


@pytest.mark.parametrize("formula", MISTAKES)
def test_a_formula_without_meaning_is_refused_at_its_line(formula: str, tmp_path: Path) -> None:
    code, message, line = refused(tmp_path, "True", formula)
    assert (code, message) == MISTAKES[formula]
    places = (formula, "def Prop", "return st.x == 0" if code == "KMC243" else formula)
    assert any(place in line for place in places)


@pytest.mark.parametrize("fairness", UNFAIR)
def test_a_specification_is_a_conjunction_of_fairness(fairness: str, tmp_path: Path) -> None:
    code, message, line = refused(tmp_path, fairness, "True")
    assert (code, message, fairness in line) == ("KMC707", UNFAIR[fairness], True)


def test_fairness_of_what_no_action_bounds_is_refused(tmp_path: Path) -> None:
    code, message, _ = refused(tmp_path, "weak_fairness(is_zero)", "True")
    assert (code, message) == ("KMC705", "fairness of steps that no action bounds")


BESIDE = """

@spec.action(next=False)
def jump(st):
    yield st.set(x=3)
"""


@pytest.mark.parametrize(
    ("fairness", "formula", "line"),
    [
        ("weak_fairness(and_(steps(jump), not_(steps(move))))", "True", "fairness"),
        ("strong_fairness(and_(jump, move))", "True", "fairness"),
        ("weak_fairness(and_(NEXT, implies(steps(jump), is_zero)))", "True", "fairness"),
        ("True", "always_eventually(enabled(and_(is_zero, jump, steps(move, 1))))", "formula"),
    ],
)
def test_steps_beside_next_are_not_told_apart(fairness: str, formula: str, line: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, SPEC.format(fairness=fairness, formula=formula) + BESIDE, CFG)
    with pytest.raises(SpecError) as caught:
        problem_of(model)
    assert caught.value.code == "KMC710"
    assert caught.value.span is not None
    assert {"fairness": fairness, "formula": formula}[line] in (caught.value.span.source_line() or "")


@pytest.mark.parametrize("fairness", ["or_(jump, move)", "and_(jump, is_zero)", "and_(or_(jump, NEXT), is_zero)"])
def test_a_union_of_steps_beside_next_is_fair(fairness: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, SPEC.format(fairness=f"weak_fairness({fairness})", formula="True") + BESIDE, CFG)
    assert len(problem_of(model).fairness) == 1


def test_steps_are_told_apart_where_all_are_of_next(tmp_path: Path) -> None:
    fairness = "weak_fairness(and_(NEXT, not_(steps(move, 1))))"
    assert len(problem_of(model_of(tmp_path, SPEC.format(fairness=fairness, formula="True"), CFG)).fairness) == 1


def test_a_formula_in_a_comprehension_is_refused(tmp_path: Path) -> None:
    formula = "there_exists({eventually(lambda st: st.x == n) for n in range(3)}, lambda f: f)"
    with pytest.raises(SpecError) as caught:
        model_of(tmp_path, SPEC.format(fairness="True", formula=formula), CFG)
    assert caught.value.code == "KMC188"


def test_formulas_are_not_compared(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        model_of(tmp_path, SPEC.format(fairness="True", formula="eventually(is_zero) == always(is_zero)"), CFG)
    assert (caught.value.code, caught.value.message) == ("KMC709", "formulas are not compared")


@pytest.mark.parametrize(
    ("predicate", "code", "message", "advice"),
    [
        (
            "enabled(move)",
            "KMC268",
            "a predicate of a temporal formula is a temporal formula, not True or False",
            "of formulas, write and_(f, g), or_(f, g), not_(f), implies(f, g) or iff(f, g)",
        ),
        ("st.x", "KMC268", "a predicate of a temporal formula is 0, not True or False", "compare it: x > 0, x != 0"),
    ],
)
def test_a_predicate_that_is_not_a_bool_is_refused_at_its_place(
    predicate: str, code: str, message: str, advice: str, tmp_path: Path
) -> None:
    formula = f"eventually(lambda st: {predicate})"
    model = model_of(tmp_path, SPEC.format(fairness="True", formula=formula), CFG)
    with pytest.raises(EvaluationError) as caught:
        Search(model, problem=problem_of(model)).run()
    error = caught.value
    assert (error.code, error.message, error.help) == (code, message, advice)
    line = f"    return {formula}"
    assert error.span is not None
    assert (error.span.source_line(), error.span.column) == (line, line.index(predicate) + 1)
