r"""Definitions that a `.cfg` file replaces, and copies of them, which it does not: the values are TLC's.

A named instance, a LOCAL one and one with constants or variables have copies of the definitions of their module. So
`I!Step` is the action that `Step <- MyStep` replaces, as models of Raft need it. References inside of a copied module
are to the definitions of the module itself, which are replaced where the root module has these. An unnamed instance of
a module with constants or variables shares what that module extends and has none, as Sequences.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.loading import load_text
from support.modules.three_ways import check_ways

from kmc.tla.names.loading import parse_expression
from kmc.tla.run.program import ModuleProgram

MODULES = {
    "Plain": "EXTENDS Naturals\nA == 1\nB == A + 10\nSmall == {n \\in 0..5 : n \\in Nat}",
    "Moving": "EXTENDS Naturals\nVARIABLE x\nA == 1\nB == A + 10\nSmall == {n \\in 0..5 : n \\in Nat}",
    "MovingOn": "EXTENDS Moving\nD == A + 100",
    "Around": "EXTENDS Naturals\nVARIABLE x\nINSTANCE Moving\nD == A + 100",
    "Varying": "EXTENDS Plain, FiniteSets\nVARIABLE x\nOwn == 20\nUse == Own\nMore == A + 5\nSize == Cardinality({1})",
    "Open": "EXTENDS Naturals\nINSTANCE Plain\nD == A + 100",
    "Closed": "EXTENDS Naturals\nLOCAL INSTANCE Plain\nD == A + 100",
    "Numbers": "LOCAL INSTANCE Naturals\nFew == {n \\in 0..5 : n \\in Nat}",
    "Numbered": "INSTANCE Naturals\nFew == {n \\in 0..5 : n \\in Nat}",
}
OWN = "Two == 2\nNine(S) == 9\nThree == 0..2\nInit == x = 0\nNext == UNCHANGED x"
CFG = "INIT Init\nNEXT Next\nCONSTANTS "


@pytest.mark.parametrize(
    ("units", "replaced", "expression", "value"),
    [
        ("INSTANCE Moving", "A <- Two Nat <- Three", "<<A, B, Small>>", (2, 11, frozenset(range(3)))),
        ("INSTANCE Plain", "A <- Two", "<<A, B>>", (2, 12)),
        (
            "INSTANCE Varying",
            "A <- Two Own <- Two Cardinality <- Nine",
            "<<A, B, Own, Use, More, Size>>",
            (2, 12, 2, 20, 7, 9),
        ),
        (
            "LOCAL INSTANCE Varying",
            "A <- Two Own <- Two Cardinality <- Nine",
            "<<A, B, Own, Use, More, Size>>",
            (2, 11, 2, 20, 6, 1),
        ),
        ("I == INSTANCE Moving", "A <- [Moving] Two", "<<I!A, I!B>>", (2, 12)),
        ("INSTANCE Moving", "A <- [Moving] Two", "<<A, B>>", (2, 12)),
        ("EXTENDS Plain|I == INSTANCE Plain", "A <- Two", "<<A, B, I!A, I!B>>", (2, 12, 1, 12)),
        ("EXTENDS Open", "A <- Two", "<<A, B, D>>", (2, 12, 102)),
        ("EXTENDS Open|I == INSTANCE Plain", "A <- Two", "<<A, B, D, I!A, I!B>>", (2, 12, 102, 1, 12)),
        ("EXTENDS Plain|I == INSTANCE Open", "A <- Two", "<<A, B, I!A, I!B, I!D>>", (2, 12, 1, 12, 102)),
        ("EXTENDS Plain|I == INSTANCE Closed", "A <- Two", "<<A, B, I!D>>", (2, 12, 101)),
        ("EXTENDS Closed, Plain", "A <- Two", "<<A, B, D>>", (2, 12, 101)),
        ("EXTENDS Closed|A == 7", "A <- Two", "<<A, D>>", (2, 101)),
        ("EXTENDS Numbers", "Nat <- Three", "Few", frozenset(range(6))),
        ("I == INSTANCE Numbers", "Nat <- Three", "I!Few", frozenset(range(6))),
        ("EXTENDS Numbered", "Nat <- Three", "Few", frozenset(range(3))),
        ("I == INSTANCE Plain", "Nat <- Three", "I!Small", frozenset(range(3))),
        ("LOCAL INSTANCE Naturals", "Nat <- Three", "{n \\in 0..5 : n \\in Nat}", frozenset(range(3))),
        ("EXTENDS Numbers|LOCAL INSTANCE Integers", "Nat <- Three", "Few", frozenset(range(6))),
    ],
)
def test_a_copy_keeps_what_the_file_replaces(
    units: str, replaced: str, expression: str, value: object, tmp_path: Path
) -> None:
    extended, _, rest = units.rpartition("|")
    extended = extended or (units if units.startswith("EXTENDS") else "EXTENDS TLC")
    names = "" if "LOCAL INSTANCE" in rest else ", Naturals"
    body = f"{extended}{names}\nVARIABLE x\n{'' if rest.startswith('EXTENDS') else rest}\n{OWN}"
    model = load_text(tmp_path, body, CFG + replaced, MODULES)
    assert ModuleProgram(model).evaluate(parse_expression(model, expression), (0,)) == value


@pytest.mark.parametrize(
    ("extended", "unit", "expression", "value"),
    [
        (
            "MovingOn",
            "I == INSTANCE Moving",
            "<<A, B, D, I!A, I!B, I!Small>>",
            (2, 12, 102, 1, 12, frozenset(range(3))),
        ),
        ("Moving", "I == INSTANCE MovingOn", "<<A, B, I!A, I!B, I!D>>", (2, 12, 1, 12, 102)),
        ("Around", "", "<<A, B, D>>", (2, 11, 102)),
    ],
)
def test_a_copy_of_a_module_with_variables_keeps_it_too(
    extended: str, unit: str, expression: str, value: object, tmp_path: Path
) -> None:
    model = load_text(tmp_path, f"EXTENDS {extended}\n{unit}\n{OWN}", f"{CFG} A <- Two Nat <- Three", MODULES)
    assert ModuleProgram(model).evaluate(parse_expression(model, expression), (0,)) == value


LOG = r"""---- MODULE Log ----
EXTENDS Naturals, Sequences
VARIABLES log, term
Init == log = <<>> /\ term = 1
Append1(v) == log' = Append(log, v) /\ UNCHANGED term
Raise == term' = term + 1 /\ UNCHANGED log
Next == (\E v \in {1, 2} : Append1(v)) \/ Raise
====
"""
BOUNDED = r"""---- MODULE Protocol ----
EXTENDS Log
Own == INSTANCE Log
Few(v) == Len(log) < 2 /\ v <= term /\ Own!Append1(v)
Early == term < 3 /\ Own!Raise
====
"""


def test_a_model_bounds_actions_by_actions_that_apply_them(tmp_path: Path) -> None:
    (tmp_path / "Log.tla").write_text(LOG)
    cfg = "INIT Init\nNEXT Next\nCONSTANTS Append1 <- Few Raise <- Early\nCHECK_DEADLOCK FALSE\n"
    checked = check_ways(tmp_path, BOUNDED, cfg)
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [25, 17, 5]
