"""kip_996's manifest as a whole: no property holds vacuously, every action fires, and every goal is reached.

What the manifest records is held to fresh runs by test_manifests, and with `make golden`; here it is put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from golden_cases import LARGE

from kmc.invariants.declaration import Goal, Invariant, TransitionInvariant
from kmc.lang.manifest import Manifest
from kmc.lang.modelfile import ModelFile
from kmc.reference.search import Search
from kmc.result import Limits, Verdict
from kmc.spec.loader import Spec, load_spec
from kmc.spec.model import bind
from kmc.spec.shipped import find_spec_root, manifest_of

ROOT = find_spec_root("kip_996")
ALWAYS_TRUE = {"TestInv"}


def _manifest() -> Manifest:
    manifest = manifest_of(ROOT)
    assert manifest is not None
    return manifest


MANIFEST = _manifest()


def expected(file: ModelFile) -> Mapping[str, Any]:
    assert file.expect is not None
    return file.expect


@pytest.fixture(scope="module")
def spec() -> Spec:
    return load_spec(ROOT, MANIFEST.models["smoke"].constants)


def mutant_constants(spec: Spec) -> set[str]:
    return {constant.name for constant in spec.constants.values() if constant.meaning.startswith("Mutant: ")}


def test_every_property_fails_in_a_mutant(spec: Spec) -> None:
    claims = {name for name, prop in spec.properties.items() if isinstance(prop, Invariant | TransitionInvariant)}
    broken = {expected(file)["invariant"] for file in MANIFEST.mutants.values()}
    assert claims - broken == ALWAYS_TRUE


def test_every_mutant_constant_has_a_mutant_and_is_off_elsewhere(spec: Spec) -> None:
    names = mutant_constants(spec)
    given = [{constant.name for constant in file.constants} & names for file in MANIFEST.mutants.values()]
    assert set().union(*given) == names
    assert all(given)
    others = (*MANIFEST.models.values(), *MANIFEST.findings.values())
    assert not any(constant.name in names for file in others for constant in file.constants)


@pytest.mark.parametrize(
    "file",
    [file for file in MANIFEST.mutants.values() if expected(file)["distinct"] <= LARGE],
    ids=lambda file: file.name,
)
def test_nothing_fails_as_early_without_the_mutation(file: ModelFile, spec: Spec) -> None:
    whole = tuple(constant for constant in file.constants if constant.name not in mutant_constants(spec))
    model = bind(ROOT, replace(file, constants=whole))
    result = Search(model, Limits(depth=expected(file)["trace_length"])).run()
    assert result.verdict in (Verdict.OK, Verdict.BOUND_REACHED)


def test_every_action_fires_in_some_model(spec: Spec) -> None:
    fired = {
        action
        for file in MANIFEST.models.values()
        for action, generated in expected(file)["generated_by_action"].items()
        if generated
    }
    assert fired == {action.title for action in spec.actions}


def test_every_goal_is_reached_in_some_model(spec: Spec) -> None:
    goals = {name for name, prop in spec.properties.items() if isinstance(prop, Goal)}
    recorded = [expected(file) for file in MANIFEST.models.values() if "unreached_goals" in expected(file)]
    assert set.intersection(*(set(expect["unreached_goals"]) for expect in recorded)) == set()
    assert all(set(expect["unreached_goals"]) < goals for expect in recorded)
