"""Temporal formulas: what a quantifier over formulas gives, and that each formula keeps its own value."""

from __future__ import annotations

from kmc.liveness.formulas import Formula, LeadsTo, always_eventually, for_all, leads_to


def exceeds(bound: int) -> Formula:
    """From a number above the bound, one below it."""
    return leads_to(lambda state: bool(state > bound), lambda state: bool(state < bound))


def premises(formulas: tuple[Formula, ...], state: int) -> list[bool]:
    """The premises of leads-to formulas in a state."""
    return [formula.premise(state) for formula in formulas if isinstance(formula, LeadsTo)]


def test_each_formula_of_a_quantifier_keeps_its_own_value() -> None:
    assert premises(for_all(range(3), exceeds), 1) == [True, False, False]


def test_the_formulas_come_in_display_order_whatever_the_order_of_the_set() -> None:
    assert premises(for_all(frozenset([30, 2, 1]), exceeds), 5) == [True, True, False]


def test_nested_quantifiers_give_one_formula_for_each_combination() -> None:
    nested = for_all(range(2), lambda a: for_all(range(3), lambda b: always_eventually(lambda state: state == (a, b))))
    assert len(nested) == 6
