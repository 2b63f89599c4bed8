"""Temporal formulas of a module as formulas of kmc: what they mean, how people read them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.modules import written_module

from kmc.errors import SpecError
from kmc.liveness.formula_text import text_of
from kmc.liveness.problem import TemporalProblem
from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram
from kmc.tla.temporal.module_problem import module_problem

MODULE = """---- MODULE Rooms ----
EXTENDS Naturals, Sequences
CONSTANTS Guest, a, b
VARIABLES room, bell
vars == <<room, bell>>
Enter(g) == room[g] = 0 /\\ room' = [room EXCEPT ![g] = 1] /\\ UNCHANGED bell
Ring == bell' = ~bell /\\ UNCHANGED room
Init == room = [g \\in Guest |-> 0] /\\ bell = FALSE
Next == Ring \\/ \\E g \\in Guest: Enter(g)
Fair(g) == WF_vars(Enter(g))
Ever(F) == <>F
Quiet == \\A g \\in Guest: room[g] = 0
Each(F(_)) == \\A k \\in 0..1: F(k)
Stays(g, n) == [](room[g] = n => [](room[g] = n))
Spec == Init /\\ [][Next]_vars /\\ FAIRNESS
Prop == PROPERTY
====
"""
CFG = """CONSTANTS a = a b = b Guest = {a, b}
SPECIFICATION Spec
PROPERTY Prop
"""


def problem(folder: Path, formula: str, fairness: str = "TRUE") -> TemporalProblem:
    text = MODULE.replace("FAIRNESS", fairness).replace("PROPERTY", formula)
    model = load_model(*written_module(folder, text, CFG))
    return module_problem(ModuleProgram(model), [(one.name, one) for one in model.properties])


FORMULAS = {
    "<>bell": "<>bell",
    "[]<>(bell = TRUE)": "[]<>(bell = TRUE)",
    "bell ~> ~bell": "bell ~> (~bell)",
    "[]<><<Ring>>_bell": "[]<><<Ring>>_bell",
    "<>[][Enter(a) \\/ Ring]_<<room, bell>>": "<>[][Enter(a) \\/ Ring]_<<room, bell>>",
    "\\E g \\in Guest: []<>(room[g] = 1)": "[]<>(room[a] = 1) \\/ []<>(room[b] = 1)",
    "WF_vars(Next) => SF_room(Enter(b))": "WF_vars(Next) => SF_room(Enter(b))",
    "Ever([]bell)": "<>[]bell",
    "LET Quiet == []~bell IN <>Quiet /\\ []<>Quiet": "<>[](~bell) /\\ []<>[](~bell)",
    "~([]bell)": "~[]bell",
    "Ever(bell) <=> <>(ENABLED Ring)": "<>bell <=> <>(ENABLED Ring)",
    "IF bell THEN []bell ELSE <>bell": "(bell => []bell) /\\ (bell \\/ <>bell)",
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_read_as_it_is_written(formula: str, tmp_path: Path) -> None:
    (found,) = problem(tmp_path, formula).formulas
    assert text_of(found) == FORMULAS[formula]


def test_each_value_of_a_quantifier_is_a_check_of_its_own(tmp_path: Path) -> None:
    formula = "\\A g, h \\in Guest: \\A n \\in 0..1: (room[g] = n) ~> (room[h] = n)"
    found = problem(tmp_path, formula)
    assert [check.instance for check in found.checks] == [
        f"g = {g}, h = {h}, n = {n}" for g in "ab" for h in "ab" for n in (0, 1)
    ]
    assert len(found.atoms) == 8, "a predicate with the same values is evaluated once"


def test_arguments_keep_the_meaning_that_they_have_where_they_are_written(tmp_path: Path) -> None:
    formula = "\\A g \\in Guest: Each(LAMBDA n: Stays(g, n)) /\\ Ever(Ever(room[g] = 1))"
    found = problem(tmp_path, formula)
    texts = ("<><>(room[g] = 1)", "[]((room[g] = 0) => [](room[g] = 0))", "[]((room[g] = 1) => [](room[g] = 1))")
    expected = {text.replace("g", guest) for guest in "ab" for text in texts}
    assert {text_of(one) for one in found.formulas} == expected


def test_fairness_is_that_of_each_instance(tmp_path: Path) -> None:
    found = problem(tmp_path, "<>bell", "SF_bell(Ring) /\\ \\A g \\in Guest: Fair(g)")
    assert [(fair.name, fair.group, fair.strong) for fair in found.fairness] == [
        ("SF_bell(Ring)", "Ring", True),
        ("WF_vars(Enter(a))", "Enter", False),
        ("WF_vars(Enter(b))", "Enter", False),
    ]


def test_another_assumption_of_the_specification_is_a_premise_of_the_property(tmp_path: Path) -> None:
    found = problem(tmp_path, "<>bell", "WF_vars(Next) /\\ []<>(room[a] = 1)")
    assert [fair.name for fair in found.fairness] == ["WF_vars(Next)"]
    assert [text_of(one) for one in found.formulas] == ["[]<>(room[a] = 1) => <>bell"]


TAUTOLOGIES = {"\\A g \\in {}: <>(room[g] = 1)": True, "\\A g \\in Guest: <>(room[g] = 1)": False, "<>(1 = 1)": True}


@pytest.mark.parametrize("formula", TAUTOLOGIES)
def test_a_property_that_constants_make_true_is_a_tautology(formula: str, tmp_path: Path) -> None:
    assert problem(tmp_path, formula).tautologies == (("Prop",) if TAUTOLOGIES[formula] else ())


MANY_CASES = "(<>bell <=> []bell) <=> ((<>[]bell <=> []<>bell) <=> (<>Quiet <=> ([]Quiet <=> <>[]Quiet)))"
REFUSED = {
    "\\A g \\in {g \\in Guest: room[g] = 1}: <>(room[g] = 0)": ("KMC711", "not constant", "{g"),
    "\\A <<g, h>> \\in {<<1, 2, 3>>}: <>(room[g] = h)": ("KMC711", "tuple", "{<<1"),
    "CASE bell -> <>bell [] OTHER -> []bell": ("KMC711", "not a temporal formula that can be checked", "CASE"),
    MANY_CASES: ("KMC706", "more than 128 cases", ""),
}


@pytest.mark.parametrize("formula", REFUSED)
def test_what_has_no_verdict_is_refused_at_its_place(formula: str, tmp_path: Path) -> None:
    code, message, begin = REFUSED[formula]
    with pytest.raises(SpecError, match=message) as raised:
        problem(tmp_path, formula)
    span = raised.value.span
    assert raised.value.code == code
    assert span is not None
    line = span.source_line()
    assert line is not None
    assert line[span.column - 1 :].startswith(begin)
