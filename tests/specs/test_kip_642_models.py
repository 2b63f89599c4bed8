"""The models of kip_642 together fire every action and reach every goal, and symmetry counts orbits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from support.oracles.bisimulation import relation_of
from support.specs.shipped import shipped_manifest, shipped_model

from kmc.engine.check_model import check_native
from kmc.frontend.binding import bind
from kmc.frontend.loader import load_spec
from kmc.frontend.shipped import find_spec_root
from kmc.invariants.properties import Reachable
from kmc.lang.order import sort_key
from kmc.lang.permutation import permute, swaps
from kmc.model_files.model_file import ModelFile
from kmc.model_files.value_text import parse_set
from kmc.reference.states.initial import initial_states
from kmc.result import Limits

ROOT = find_spec_root("kip_642")
MANIFEST = shipped_manifest("kip_642")
MODELS = MANIFEST.models
SPEC = load_spec(ROOT, MODELS["grow"].constants)


def expected(file: ModelFile) -> Mapping[str, Any]:
    """The recorded figures of a model."""
    assert file.expect is not None
    return file.expect


def test_every_action_fires_in_some_model() -> None:
    fired = {
        action
        for file in MODELS.values()
        for action, generated in expected(file).get("generated_by_action", {}).items()
        if generated
    }
    assert fired == {action.title for action in SPEC.actions}


def test_every_goal_is_reached_in_some_model() -> None:
    declared = {title for title, prop in SPEC.properties.items() if isinstance(prop, Reachable)}
    recorded = [expected(file)["unreached_goals"] for file in MODELS.values() if "unreached_goals" in expected(file)]
    assert set.intersection(*map(set, recorded)) == set()
    assert all(set(unreached) <= declared for unreached in recorded)


def test_a_model_that_reassigns_says_what_it_leaves_unreached() -> None:
    reassigning = {name for name in MODELS if name.startswith(("pair", "grow", "swap", "replace", "move"))}
    assert len(reassigning) >= 28
    assert all("unreached_goals" in expected(MODELS[name]) for name in reassigning)


SMALL = ("ClientsWrite=FALSE", "MaxRestarts=0", "RestartedLeaderResigns=FALSE", "RestartFromQuorumState=FALSE")
"""(1) to (1, 2, 3) without values and failures."""

LEVELS = 24


def least(state: Any, permutations: list[Any]) -> Any:
    """The least of the images of a state."""
    return min(sort_key(permute(state, swap, {})) for swap in permutations)


@pytest.mark.slow
def test_symmetry_counts_the_orbits() -> None:
    whole = shipped_model("kip_642", "grow_restart", *SMALL)
    relation, first = relation_of(whole.searched), next(iter(initial_states(whole)))
    found, level = {first}, {first}
    for _ in range(LEVELS - 1):
        level = {t for state in level for _, _, t in relation.steps(state)} - found
        found |= level
    every = swaps([type(next(iter(first.servers)))])
    orbits = {least(state, every) for state in found}
    file = MODELS["grow_restart"].with_overrides([parse_set(text) for text in SMALL])
    reduced = check_native(bind(ROOT, file), Limits(depth=LEVELS))
    assert reduced.counters.distinct == len(orbits)
    assert len(orbits) > 400
    assert 1.5 * len(orbits) < len(found) <= 2 * len(orbits)
