"""Stored sets of elements with too many possible values for a mask: lists of their members, the same on both engines.

The world of the masks of several words is drawn again with larger types, so that lists are in their place.
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

from kmc.lang.assumed_range import AssumedRange, assuming
from kmc.result import Limits

LARGER = {
    "numbers: Set[Int(-20, 109)]": "numbers: Set[Int(-20, 2009)]",
    "edge: Set[Int(0, 64)]": "edge: Set[Int(0, 1500)]",
    "n: Int(0, 10)\n    kind": "n: Int(0, 300)\n    kind",
    "groups: Set[Set[Int(0, 6)]]": "groups: Set[Set[Int(0, 12)]]",
    "lists: Set[Seq[Int(0, 4), 3]]": "lists: Set[Seq[Int(0, 9), 3]]",
    "last: Opt[Int(0, 9)]": "last: Opt[Int(0, 999)]",
    "loose: Kind | Set[Int(0, 99)]": "loose: Kind | Set[Int(0, 1999)]",
    "rounds: Seq[Set[Int(0, 99)], 2]": "rounds: Seq[Set[Int(0, 1999)], 2]",
}


def larger(source: str) -> str:
    """The world with types whose values are too many for masks."""
    for text, other in LARGER.items():
        assert text in source, text
        source = source.replace(text, other)
    return source


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_drawn_actions_on_listed_sets_are_those_of_the_interpreter(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    model = model_of(tmp_path, larger(WORLD) + drawn(chance), "CONSTANT Seat = {a, b}")
    states = level_states(model, Limits(states=150), at_most=30, seed=seed)
    with assuming(AssumedRange(0, 15, 128)):
        assert list(differences(kernels_in_python(model), states))[:2] == []


@pytest.mark.slow
def test_a_state_with_listed_sets_and_its_images_have_one_fingerprint_and_no_other_state_has_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, larger(WORLD), "CONSTANT Seat = {a, b, c} SYMMETRY seats")
    chance = random.Random(1)
    found = [random_state(model, chance) for _ in range(25)]
    alike = level_states(model, Limits(states=60), at_most=6)
    assert list(orbit_faults(kernels_of(model), [*found, *alike]))[:2] == []
