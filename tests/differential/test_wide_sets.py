"""Stored sets of more possible elements than a word has bits, up to 1,024: the same on both engines.

Drawn actions and goals of one world are compared on every state that the interpreter finds: rows, fingerprints,
successors and goals. The types have elements on both sides of the end of a word, and of the end of the mask.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.drawing.states import random_state
from support.oracles.orbits import orbit_faults
from support.oracles.steps import differences, kernels_in_python, kernels_of, level_states
from support.specs.set_worlds import WORLD, drawn
from support.specs.small import model_of

from kmc.result import Limits


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_drawn_actions_on_wide_sets_are_those_of_the_interpreter(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    model = model_of(tmp_path, WORLD + drawn(chance), "CONSTANT Seat = {a, b}")
    states = level_states(model, Limits(states=300), at_most=12, seed=seed)
    assert list(differences(kernels_in_python(model), states))[:2] == []


@pytest.mark.slow
def test_a_state_with_wide_sets_and_its_images_have_one_fingerprint_and_no_other_state_has_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, WORLD, "CONSTANT Seat = {a, b, c} SYMMETRY seats")
    chance = random.Random(1)
    found = [random_state(model, chance) for _ in range(25)]
    alike = level_states(model, Limits(states=60), at_most=6)
    assert list(orbit_faults(kernels_of(model), [*found, *alike]))[:2] == []
