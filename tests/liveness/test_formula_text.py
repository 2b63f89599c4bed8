"""What people read of formulas and fairness, and the checks of a property."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.frontend.temporal_problem import problem_of
from kmc.liveness.formula_text import text_of
from kmc.liveness.formulas import Always, Eventually, Fair, Not, StepPredicate
from kmc.liveness.problem import TemporalProblem

SPEC = """
from kmc.spec import (
    NEXT, always, always_eventually, and_, enabled, eventually, eventually_always, for_all, iff, implies, leads_to,
    not_, or_, steps, strong_fairness, there_exists, weak_fairness,
)

Server = constant("Server", IdentSet(), "Who moves")


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action
def move(st, s: Server, n: Int(0, 1)):
    yield st.set(x=n)


@spec.action
def rest(st):
    yield st


def is_zero(st):
    return st.x == 0


@spec.specification
def Fair():
    return FAIRNESS


@spec.liveness
def Prop():
    return FORMULA
"""
CFG = "CONSTANTS Server = {n1, n2} SPECIFICATION Fair PROPERTY Prop"


def problem(folder: Path, formula: str, fairness: str = "True") -> TemporalProblem:
    source = SPEC.replace("FAIRNESS", fairness).replace("FORMULA", formula)
    return problem_of(model_of(folder, source, CFG))


FORMULAS = {
    "always_eventually(is_zero)": "[]<>is_zero",
    "leads_to(lambda st: st.x == 1, is_zero)": "(st.x == 1) ~> is_zero",
    "eventually(enabled(rest))": "<>(ENABLED Rest)",
    "always_eventually(steps(move, n=1))": "[]<><<\\E s: Move(s, 1)>>_vars",
    "eventually_always(or_(rest, lambda st, new: new.x > st.x))": "<>[][Rest \\/ (new.x > st.x)]_vars",
    "not_(and_(eventually(is_zero), always(rest)))": "~(<>is_zero /\\ [][Rest]_vars)",
    "implies(weak_fairness(NEXT), iff(eventually(is_zero), True))": "WF_vars(Next) => (<>is_zero <=> TRUE)",
    "there_exists(Server, lambda s: always_eventually(steps(move, s)))": (
        "[]<><<\\E n: Move(n1, n)>>_vars \\/ []<><<\\E n: Move(n2, n)>>_vars"
    ),
    "there_exists(range(2), lambda k: eventually(lambda st: st.x == k))": "\\E k: <>(st.x == k)",
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_shown_as_in_tla(formula: str, tmp_path: Path) -> None:
    (found,) = problem(tmp_path, formula).formulas
    assert text_of(found) == FORMULAS[formula]


def test_fairness_has_the_name_of_its_instance_and_the_group_of_its_action(tmp_path: Path) -> None:
    fairness = "and_(for_all(Server, lambda s: weak_fairness(move, s)), strong_fairness(or_(rest, steps(move, n=0))))"
    assert [(fair.name, fair.group) for fair in problem(tmp_path, "eventually(is_zero)", fairness).fairness] == [
        ("WF_vars(\\E n: Move(n1, n))", "Move"),
        ("WF_vars(\\E n: Move(n2, n))", "Move"),
        ("SF_vars(Rest \\/ (\\E s: Move(s, 0)))", "Rest \\/ Move"),
    ]


def test_each_case_of_a_quantifier_is_a_check_of_its_own(tmp_path: Path) -> None:
    formula = "for_all(Server, lambda s: for_all(range(2), lambda k: eventually(lambda st: st.x == k)))"
    found = problem(tmp_path, formula)
    assert [check.instance for check in found.checks] == [f"s = {s}, k = {k}" for s in ("n1", "n2") for k in (0, 1)]
    assert len(found.atoms) == 2


TAUTOLOGIES = {
    "for_all(set(), lambda k: eventually(lambda st: st.x == k))": True,
    "for_all(range(2), lambda k: eventually(lambda st: st.x == k))": False,
    "and_(for_all(set(), lambda k: eventually(is_zero)), always_eventually(is_zero))": False,
    "not_(there_exists(set(), lambda k: eventually(is_zero)))": True,
    "leads_to(False, is_zero)": True,
    "implies(len(Server) > 2, eventually(is_zero))": True,
    "implies(len(Server) > 1, eventually(is_zero))": False,
    "iff(always(True), not_(eventually(False)))": True,
    # TLC does not call these tautologies, since their predicates are not constants.
    "leads_to(is_zero, is_zero)": False,
    "always_eventually(or_(is_zero, not_(is_zero)))": False,
}


@pytest.mark.parametrize("formula", TAUTOLOGIES)
def test_a_property_that_constants_make_true_is_a_tautology(formula: str, tmp_path: Path) -> None:
    assert problem(tmp_path, formula).tautologies == (("Prop",) if TAUTOLOGIES[formula] else ())


def test_two_quantifiers_over_the_same_values_give_one_check_a_value(tmp_path: Path) -> None:
    one, other = (f"for_all(range(2), lambda k: eventually(lambda st: st.x == k + {n}))" for n in (0, 1))
    found = problem(tmp_path, f"and_({one}, {other}, always(rest))")
    assert [(check.instance, len(check.queries)) for check in found.checks] == [("k = 0", 2), ("k = 1", 2), ("", 1)]


@pytest.mark.parametrize(
    ("other", "atoms"),
    [("lambda st: st.x == 1", 1), ("lambda st: st.x == 2", 2), ("lambda st: st.x == True", 2), ("is_zero", 2)],
)
def test_predicates_of_the_same_text_are_one_atom_wherever_they_stand(other: str, atoms: int, tmp_path: Path) -> None:
    found = problem(tmp_path, f"leads_to(lambda st: st.x == 1, eventually({other}))")
    assert len(found.atoms) == atoms


def test_the_subscript_of_a_step_is_shown() -> None:
    def grows(old: int, new: int) -> bool:
        return old < new

    step = StepPredicate(grows, subscript="<<x, y>>")
    texts = [text_of(formula) for formula in (Always(step), Eventually(Not(step)), Fair(True, step))]
    assert texts == ["[][grows]_<<x, y>>", "<><<~grows>>_<<x, y>>", "SF_<<x, y>>(grows)"]
