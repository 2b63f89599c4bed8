"""Each rule of KIP-595 that kraft can break is needed by a promise, which does not fall as early with the rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.specs.shipped import expected_figure, shipped_manifest

from kmc.engine.check_model import check_native
from kmc.frontend.binding import bind
from kmc.frontend.loader import load_spec
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.model_file import ModelFile
from kmc.reference.search import Search
from kmc.result import Limits, Verdict

ROOT = find_spec_root("kraft")
MANIFEST = shipped_manifest("kraft")
MUTANTS = MANIFEST.mutants
SPEC = load_spec(ROOT, MANIFEST.models["smoke"].constants)
MUTATIONS = {constant.name for constant in SPEC.constants.values() if constant.meaning.startswith("Mutant: ")}
PROMISES = {"ElectionSafety", "Durability", "LeaderHasAllAckedValues", "FollowersCatchUp"}
INTERPRETED_MAX = 2_000
"""More states take the interpreter several seconds."""


def mutations(file: ModelFile) -> set[str]:
    """The mutations that a model has."""
    return {constant.name for constant in file.constants} & MUTATIONS


def test_every_mutation_has_a_mutant_and_findings_have_none() -> None:
    assert set().union(*map(mutations, MUTANTS.values())) == MUTATIONS
    assert all(mutations(file) for file in MUTANTS.values())
    assert not any(mutations(file) for file in (*MANIFEST.models.values(), *MANIFEST.findings.values()))


def test_every_mutant_breaks_a_promise_to_users() -> None:
    assert {file.expect["invariant"] for file in MUTANTS.values() if file.expect is not None} <= PROMISES


def _marks(file: ModelFile) -> Any:
    return pytest.mark.golden_large if expected_figure(file, "distinct") > INTERPRETED_MAX else pytest.mark.slow


@pytest.mark.parametrize("file", [pytest.param(f, id=name, marks=_marks(f)) for name, f in MUTANTS.items()])
def test_nothing_fails_as_early_with_the_rule(file: ModelFile) -> None:
    whole = tuple(constant for constant in file.constants if constant.name not in MUTATIONS)
    model = bind(ROOT, replace(file, constants=whole))
    limits = Limits(depth=expected_figure(file, "trace_length"))
    native = expected_figure(file, "distinct") > INTERPRETED_MAX
    result = check_native(model, limits) if native else Search(model, limits).run()
    assert result.verdict in (Verdict.OK, Verdict.BOUND_REACHED)
