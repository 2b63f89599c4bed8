"""Successors: every one that evaluation finds, no other, and as often as TLC's rules say."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from support.modules.naive import value, ways
from support.modules.random_actions import VALUES, Drawing
from support.modules.resolved_trees import boolean, model_of

from kmc.tla.resolved.nodes import Expression
from kmc.tla.run.program import ModuleProgram


def drawn(seed: int, size: int = 3) -> tuple[ModuleProgram, Expression]:
    """Return a program with a random next-state relation, and the relation."""
    drawing = Drawing(random.Random(seed), size)
    action = drawing.action(frozenset(), drawing.everything(), (), 4)
    return ModuleProgram(model_of(size, boolean(True), action)), action


@pytest.mark.parametrize("block", range(10))
def test_successors_are_the_states_of_which_the_relation_is_true(block: int) -> None:
    for seed in range(block * 8, block * 8 + 8):
        program, action = drawn(seed, size=2)
        for state in product(VALUES, repeat=2):
            found = {step.state for step in program.successors(state)}
            every = {other for other in product(range(5), repeat=2) if value(action, {}, state, other)}
            assert found == every, f"seed {seed}, state {state}"


@pytest.mark.parametrize("block", range(10))
def test_successors_come_as_often_as_there_are_ways_to_them(block: int) -> None:
    for seed in range(1000 + block * 10, 1010 + block * 10):
        program, action = drawn(seed)
        for state in random.Random(seed).sample(list(product(VALUES, repeat=3)), 6):
            found = Counter(step.state for step in program.successors(state))
            every = Counter(tuple(way[index] for index in range(3)) for way in ways([(action, {})], state, {}, 3))
            assert found == every, f"seed {seed}, state {state}"


@pytest.mark.parametrize("block", range(5))
def test_a_step_is_one_exactly_if_the_relation_evaluates_to_true(block: int) -> None:
    for seed in range(2000 + block * 4, 2004 + block * 4):
        program, action = drawn(seed, size=2)
        for state, other in product(product(VALUES, repeat=2), repeat=2):
            expected = value(action, {}, state, other)
            assert program.holds_in_step(action, state, other) is expected, f"seed {seed}, {state} to {other}"
