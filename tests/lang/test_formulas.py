"""The words of temporal formulas: what a quantifier over formulas gives, and that each formula keeps its own value."""

from __future__ import annotations

from kmc.liveness.formulas import ForAll, Formula, FunctionLeaf, LeadsTo
from kmc.liveness.vocabulary import always_eventually, for_all, leads_to


def exceeds(bound: int) -> Formula:
    """From a number above the bound, one below it."""
    return leads_to(lambda state: bool(state > bound), lambda state: bool(state < bound))


def premises(quantified: ForAll, state: int) -> list[bool]:
    """The premises of leads-to formulas in a state."""
    found = [formula.premise for _, formula in quantified.cases if isinstance(formula, LeadsTo)]
    return [premise.function(state) for premise in found if isinstance(premise, FunctionLeaf)]


def test_each_formula_of_a_quantifier_keeps_its_own_value() -> None:
    assert premises(for_all(range(3), exceeds), 1) == [True, False, False]


def test_the_formulas_come_in_display_order_whatever_the_order_of_the_set() -> None:
    assert premises(for_all(frozenset([30, 2, 1]), exceeds), 5) == [True, True, False]


def test_a_quantifier_names_its_variable() -> None:
    nested = for_all(range(2), lambda a: for_all(range(3), lambda b: always_eventually(lambda state: state == (a, b))))
    assert (nested.variable, [case.variable for _, case in nested.cases if isinstance(case, ForAll)]) == (
        "a",
        ["b"] * 2,
    )
