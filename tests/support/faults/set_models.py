"""Models of stored sets for faults that are planted into compiled code: with symmetry and without, and some states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.oracles.orbits import orbit_faults
from support.oracles.steps import differences, kernels_in_python, level_states
from support.specs.small import model_of

from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.result import Limits

World = tuple[Model, list[Any]]
"""A model, and states that it reaches."""


def world_of(folder: Path, source: str, seats: str, *, symmetric: bool, states: int) -> World:
    """Return the model of a spec with the constant Seat, and so many states of each level that it reaches."""
    model = model_of(folder, source, f"CONSTANT Seat = {seats} " + ("SYMMETRY seats" if symmetric else ""))
    return model, level_states(model, Limits(states=150), at_most=states, seed=1)


def first_difference(world: World, *, symmetric: bool) -> list[str]:
    """Return the first difference between the engines, or the end of compiled code; none without a fault."""
    model, states = world
    kernels = kernels_in_python(model)
    try:
        return list((orbit_faults if symmetric else differences)(kernels, states))[:1]
    except (IndexError, KmcError) as error:  # a row that is not one of a state
        return [str(error)]
