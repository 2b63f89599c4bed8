"""Random TLA+ modules: the module and its translation have the same initial states, steps, counts and truths."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules import random_constructs
from support.modules.agreement import pair_of
from support.modules.random_modules import CONFIGURATION, drawn_module

STATES = 25
WIDENING = {5: 1}
"""More bits for modules that compute a value outside of the types, in a step that a later conjunct forbids."""


@pytest.mark.parametrize("seed", range(38))
def test_a_translation_has_the_steps_of_its_module(seed: int, tmp_path: Path) -> None:
    pair = pair_of(tmp_path, drawn_module(seed), CONFIGURATION, WIDENING.get(seed, 0))
    assert pair.differences(STATES) == []


# Modules that are translated whole, with types that fit their first 25 states.
@pytest.mark.parametrize("seed", [0, 1, 5, 6, 8, 9, 13, 14, 15, 17, 19, 20])
def test_a_translation_of_rarer_constructs_has_the_steps_of_its_module(seed: int, tmp_path: Path) -> None:
    pair = pair_of(tmp_path, random_constructs.rare_module(seed), CONFIGURATION)
    assert pair.differences(STATES) == []
