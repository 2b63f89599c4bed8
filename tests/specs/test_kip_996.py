"""The manifests of kip_996 and its draft: no property holds vacuously, all actions fire, all `reachable` are reached.

What a manifest records is held to fresh runs by test_manifests, and with `make golden`; here it is put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from support.specs.golden import LARGE

from kmc.engine.check_model import check_native
from kmc.frontend.binding import bind
from kmc.frontend.loader import Spec, load_spec
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.invariants.properties import ActionProperty, Invariant, Reachable
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import ModelFile
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Verdict

ROOTS = {name: find_spec_root(name) for name in ("kip_996", "kip_996_draft")}
ALWAYS_TRUE = {"TestInv"}
BROKEN_BY_FINDINGS_ONLY = {
    "kip_996": set(),
    "kip_996_draft": {"AckedValueNotLost", "EpochNeverFalls", "LeaderTransitions", "QuorumStateTransitions"},
}
INTERPRETED_MAX = 2_500
"""A mutant that takes more states to fail is explored without its mutation by the native engine.

So is one of which no states are recorded.
"""


def _manifest(name: str) -> Manifest:
    manifest = manifest_of(ROOTS[name])
    assert manifest is not None
    return manifest


MANIFESTS = {name: _manifest(name) for name in ROOTS}


def expected(file: ModelFile) -> Mapping[str, Any]:
    assert file.expect is not None
    return file.expect


@pytest.fixture(scope="module", params=ROOTS)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def spec(name: str) -> Spec:
    return load_spec(ROOTS[name], MANIFESTS[name].models["smoke"].constants)


def mutant_constants(spec: Spec) -> set[str]:
    return {constant.name for constant in spec.constants.values() if constant.meaning.startswith("Mutant: ")}


@pytest.mark.slow
def test_every_property_fails_in_a_mutant_or_in_a_finding(name: str, spec: Spec) -> None:
    claims = {title for title, prop in spec.properties.items() if isinstance(prop, Invariant | ActionProperty)}
    broken = {expected(file)["invariant"] for file in MANIFESTS[name].mutants.values()}
    assert claims - broken == ALWAYS_TRUE | BROKEN_BY_FINDINGS_ONLY[name]
    assert {expected(file)["invariant"] for file in MANIFESTS[name].findings.values()} >= BROKEN_BY_FINDINGS_ONLY[name]


def test_every_mutant_constant_has_a_mutant_and_is_off_elsewhere(name: str, spec: Spec) -> None:
    names, manifest = mutant_constants(spec), MANIFESTS[name]
    given = [{constant.name for constant in file.constants} & names for file in manifest.mutants.values()]
    assert set().union(*given) == names
    assert all(given)
    others = (*manifest.models.values(), *manifest.findings.values())
    assert not any(constant.name in names for file in others for constant in file.constants)


HUGE = 1_000_000
"""Mutants that take more states to fail are left out."""


FAR_FROM_WHOLE = {"no_new_election"}
"""A search for these ends soon, and their graphs have hundreds of thousands of states."""

NOT_WHOLE = {"no_check_quorum_of_four"}
"""Without its mutation 18 levels have 15 million states, and the end was not reached; the README says so."""


def _is_large(file: ModelFile) -> bool:
    return expected(file).get("distinct", 0) > LARGE or file.name in FAR_FROM_WHOLE


def _marks(file: ModelFile) -> Any:
    return pytest.mark.golden_large if _is_large(file) else ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "file"),
    [
        pytest.param(name, file, id=f"{name}-{file.name}", marks=_marks(file))
        for name, manifest in MANIFESTS.items()
        for file in manifest.mutants.values()
        if expected(file).get("distinct", 0) <= HUGE and file.name not in NOT_WHOLE
    ],
)
def test_nothing_fails_as_early_without_the_mutation(of: str, file: ModelFile) -> None:
    names = mutant_constants(load_spec(ROOTS[of], MANIFESTS[of].models["smoke"].constants))
    whole = tuple(constant for constant in file.constants if constant.name not in names)
    model = bind(ROOTS[of], replace(file, constants=whole))
    problem = accepted_problem(model)
    # A lasso may be anywhere in the graph, so nothing less than all of it will do.
    limits = Limits(depth=None if problem else expected(file)["trace_length"])
    native = expected(file).get("distinct", INTERPRETED_MAX + 1) > INTERPRETED_MAX or _is_large(file)
    result = check_native(model, limits, problem=problem) if native else Search(model, limits, problem=problem).run()
    assert result.verdict in (Verdict.OK, Verdict.BOUND_REACHED)


def test_every_action_fires_in_some_model(name: str, spec: Spec) -> None:
    fired = {
        action
        for file in MANIFESTS[name].models.values()
        for action, generated in expected(file)["generated_by_action"].items()
        if generated
    }
    assert fired == {action.title for action in spec.actions}


def test_every_reachable_property_is_reached_in_some_model(name: str, spec: Spec) -> None:
    declared = {title for title, prop in spec.properties.items() if isinstance(prop, Reachable)}
    recorded = [expected(file) for file in MANIFESTS[name].models.values() if "unreached_goals" in expected(file)]
    assert set.intersection(*(set(expect["unreached_goals"]) for expect in recorded)) == set()
    assert all(set(expect["unreached_goals"]) <= declared for expect in recorded)
