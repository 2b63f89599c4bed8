"""The queries of a property are answered by the behaviours of which it is false by definition, and by no others."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from support.drawing.formulas import RandomFormulas, random_behaviour, random_world

from kmc.liveness.formula_text import text_of
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.liveness.negation import negated
from kmc.liveness.predicate_sets import NumberedPredicates
from kmc.liveness.queries_of_formula import queries_of
from kmc.liveness.temporal_core import TooManyCases

SIZE = 4
FORMULAS = 60
BEHAVIOURS = 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_queries_are_the_negation_of_a_property(seed: int) -> None:
    random = Random(seed)
    false = 0
    for _ in range(FORMULAS):
        world = random_world(random, SIZE)
        drawn = RandomFormulas(random, SIZE)
        formula = drawn.hard() if seed % 2 else drawn.temporal(random.randrange(2, 5))
        predicates = NumberedPredicates()
        try:
            queries = queries_of(negated(formula, predicates))
        except TooManyCases:
            continue
        world = type(world)(world.steps, predicates.of_states, predicates.of_steps)
        for _ in range(BEHAVIOURS):
            states, loop = random_behaviour(random, SIZE)
            numbers: Any = states
            holds = EndlessBehaviour(numbers, loop, world.generated).satisfies(formula)
            answered = any(world.answers(query, states, loop) for query in queries)
            assert answered is not holds, (text_of(formula), world.steps, states, loop)
            false += not holds
    assert FORMULAS * BEHAVIOURS // 10 < false < FORMULAS * BEHAVIOURS * 9 // 10
