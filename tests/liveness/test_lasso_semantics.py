"""What a formula means on one behaviour, where a reader of TLA+ would look twice."""

from __future__ import annotations

from typing import Any

import pytest

from kmc.liveness.formulas import (
    ActionSteps,
    Always,
    And,
    Enabled,
    Eventually,
    Fair,
    Formula,
    LeadsTo,
    Not,
    StatePredicate,
    StepPredicate,
)
from kmc.liveness.lasso_semantics import EndlessBehaviour

STEPS: dict[int, dict[int, set[int]]] = {0: {0: {1}, 1: {0}}, 1: {0: {0}, 2: {1}}, 2: {2: {0}}}
"""Action 0 goes from 0 to 1 and back, and from 2 to 2; action 1 from 0 to 0 and from 1 to 2."""
A, B = (ActionSteps(frozenset([label]), name, name) for label, name in enumerate("AB"))


def behaviour(*states: Any, loop: int) -> EndlessBehaviour:
    return EndlessBehaviour(states, loop, lambda state: STEPS[state])


def at(number: int) -> Formula:
    return StatePredicate(lambda state: bool(state == number))


TURNS = behaviour(0, 1, loop=0)
STUCK = behaviour(0, 1, 2, loop=2)
RISES = StepPredicate(lambda state, new: bool(new > state))


@pytest.mark.parametrize(
    ("found", "formula", "holds"),
    [
        # Stuttering satisfies [][A]_vars, and is never a <<A>>_vars step, though A allows it.
        (STUCK, Eventually(Always(Not(A))), True),
        (STUCK, Always(Eventually(A)), False),
        (STUCK, Always(RISES), True),
        (TURNS, Always(RISES), False),
        # ENABLED A counts a step that changes nothing; fairness does not.
        (STUCK, Always(Eventually(Enabled(A))), True),
        (STUCK, And((Fair(False, A), Fair(True, A))), True),
        (behaviour(0, loop=0), Fair(False, B), True),
        (behaviour(0, loop=0), Fair(False, A), False),
        # Weak fairness excuses an action that is disabled now and then, strong fairness does not.
        (TURNS, Fair(False, B), True),
        (TURNS, Fair(True, B), False),
        # Fairness of steps that Next may lack has a predicate that says where they are enabled.
        (STUCK, Fair(False, B, enabled=at(0)), True),
        (STUCK, Fair(False, B, enabled=at(2)), False),
        (TURNS, Fair(False, B, enabled=at(1)), True),
        (TURNS, Fair(True, B, enabled=at(1)), False),
        # What holds in the stem only does not recur.
        (STUCK, LeadsTo(at(0), at(2)), True),
        (STUCK, Always(Eventually(at(1))), False),
        (TURNS, Always(Eventually(at(1))), True),
        (STUCK, LeadsTo(at(1), at(0)), False),
    ],
)
def test_a_formula_means_what_tla_says(found: EndlessBehaviour, formula: Formula, holds: bool) -> None:
    assert found.satisfies(formula) is holds


def test_formulas_that_are_dropped_are_not_taken_for_others() -> None:
    found = behaviour(0, 1, 2, loop=2)
    assert [found.satisfies(Eventually(at(number))) for number in (0, 3, 1, 3, 2, 3)] == [True, False] * 3
