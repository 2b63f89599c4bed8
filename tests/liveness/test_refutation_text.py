"""The sentence that says why a behaviour refutes a property."""

from __future__ import annotations

from typing import Any

import pytest

from kmc.liveness.formulas import (
    Always,
    And,
    Eventually,
    ForAll,
    Formula,
    Implies,
    LeadsTo,
    Not,
    Or,
    StatePredicate,
    StepPredicate,
)
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.liveness.refutation_text import why_false


def is_one(st: int) -> bool:
    """The state is 1."""
    return st == 1


def is_two(st: int) -> bool:
    """The state is 2."""
    return st == 2


def is_four(st: int) -> bool:
    """The state is 4: never."""
    return st == 4


def is_above(st: int) -> bool:
    """The state is 1 or more: all but the first."""
    return st >= 1


def is_low(st: int) -> bool:
    """The state is 3 at most: all."""
    return st <= 3


def climbs(st: int, new: int) -> bool:
    """The step goes up."""
    return new > st


ONE, TWO, FOUR = StatePredicate(is_one), StatePredicate(is_two), StatePredicate(is_four)
ABOVE, LOW, CLIMBS = StatePredicate(is_above), StatePredicate(is_low), StepPredicate(climbs)
# States 1 to 4 are 0, 1, 2 and 3; states 3 and 4 repeat.
STATES: Any = (0, 1, 2, 3)
BEHAVIOUR = EndlessBehaviour(STATES, 2, lambda state: {2 if state == 3 else state + 1: {0}})

SENTENCES: dict[str, tuple[Formula, str]] = {
    "eventually": (Eventually(FOUR), "is_four is true in no state"),
    "always": (Always(ONE), "is_one is false in state 1"),
    "always of a step": (Always(CLIMBS), "the step from state 4 to state 3 is not climbs"),
    "infinitely often": (Always(Eventually(ONE)), "is_one is true in no state from state 3 on"),
    "for ever in the end": (Eventually(Always(TWO)), "is_two is false in state 4, again and again"),
    "leads to": (LeadsTo(TWO, ONE), "is_two is true in state 3, and is_one in no state from there on"),
    "a conjunction": (And((Eventually(TWO), Eventually(FOUR))), "is_four is true in no state"),
    "all values": (ForAll("v", ((1, Eventually(ONE)), (2, Always(TWO)))), "is_two is false in state 1"),
    "a disjunction": (
        Or((Eventually(FOUR), Always(ONE))), "is_four is true in no state; is_one is false in state 1",
    ),
    "an implication": (
        Implies(Always(Eventually(TWO)), Eventually(FOUR)), "`[]<>is_two` is true, and is_four is true in no state",
    ),
    "a negation": (Not(Eventually(TWO)), "is_two is true in state 3"),
    "never for ever": (Not(Eventually(Always(ABOVE))), "is_above is true in every state from state 2 on"),
    "never again and again": (Not(Always(Eventually(TWO))), "is_two is true in state 3, again and again"),
    "not always": (Not(Always(LOW)), "is_low is true in every state"),
    "no such step": (Not(Eventually(CLIMBS)), "the step from state 1 to state 2 is climbs"),
    "no such step for ever": (
        Not(Always(Eventually(CLIMBS))), "the step from state 3 to state 4 is climbs, again and again"
    ),
    "neither": (
        Not(And((Eventually(TWO), Eventually(ONE)))), "is_two is true in state 3 and is_one is true in state 2"
    ),
    "not one of two": (Not(Or((Eventually(FOUR), Eventually(ONE)))), "is_one is true in state 2"),
    "a double negation": (Not(Not(Eventually(FOUR))), "is_four is true in no state"),
    "a state": (Always(Implies(ONE, TWO)), "`is_one => is_two` is false in state 2"),
}  # fmt: skip


@pytest.mark.parametrize("form", SENTENCES)
def test_the_sentence_says_where_the_property_fails(form: str) -> None:
    formula, sentence = SENTENCES[form]
    assert not BEHAVIOUR.satisfies(formula)
    assert why_false(BEHAVIOUR, formula) == sentence
