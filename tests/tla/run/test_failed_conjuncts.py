"""The conjunct at which an action or a formula ends, beside the enumeration and the evaluation of the same formula."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest
from support.modules.naive import value
from support.modules.protocol_modules import protocol_module
from support.modules.random_actions import VALUES, Drawing
from support.modules.random_modules import CONFIGURATION, drawn_module
from support.modules.resolved_trees import boolean, model_of
from support.specs.modules import module_of

from kmc.errors import KmcError
from kmc.tla.resolved.nodes import Expression
from kmc.tla.run.program import ModuleProgram, State


def drawn(seed: int, size: int) -> tuple[ModuleProgram, Expression]:
    """Return a program with a random next-state relation, and the relation."""
    drawing = Drawing(random.Random(seed), size)
    action = drawing.action(frozenset(), drawing.everything(), (), 4)
    return ModuleProgram(model_of(size, boolean(True), action)), action


def compared(program: ModuleProgram, state: State) -> int:
    """Compare each action with its steps in a state, and return how many have none."""
    stopped = 0
    for action in program.actions:
        try:
            steps = program.steps_of(action, state)
        except KmcError:
            continue
        found = program.obstacle(action, state)
        assert (found is None) is bool(steps), (action.label, found)
        stopped += not steps
    return stopped


@pytest.mark.parametrize("block", range(4))
def test_an_action_ends_somewhere_exactly_if_it_has_no_step(block: int) -> None:
    stopped = 0
    for seed in range(block * 40, block * 40 + 40):
        program, _ = drawn(seed, size=3)
        for state in random.Random(seed).sample(list(product(VALUES, repeat=3)), 8):
            stopped += compared(program, state)
    assert stopped > 20


@pytest.mark.parametrize("block", range(4))
def test_a_formula_ends_somewhere_exactly_if_it_is_false_of_a_step(block: int) -> None:
    refuted = 0
    for seed in range(block * 10, block * 10 + 10):
        program, action = drawn(seed, size=2)
        for state, other in product(product(VALUES, repeat=2), repeat=2):
            found = program.refutation(action, state, other)
            assert (found is None) is value(action, {}, state, other), (seed, state, other, found)
            refuted += found is not None
    assert refuted > 20


@pytest.mark.parametrize("block", range(4))
def test_actions_of_drawn_modules_end_where_they_have_no_step(block: int, tmp_path: Path) -> None:
    stopped = 0
    for seed in range(block * 15, block * 15 + 15, 3):
        protocol = protocol_module(seed)
        chance = random.Random(seed)
        for text, configuration in ((protocol.module, protocol.configuration), (drawn_module(seed), CONFIGURATION)):
            program = module_of(tmp_path, text, configuration).program
            state = next(program.initial_states(most=1))
            for _ in range(25):
                stopped += compared(program, state)
                try:
                    steps = list(program.successors(state))
                except KmcError:
                    break
                if not steps:
                    break
                state = chance.choice(steps).state
    assert stopped > 50
