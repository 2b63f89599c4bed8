"""Each rule that kip_642 can break is needed by a property, and every property can fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from support.specs.shipped import shipped_manifest

from kmc.engine.check_model import check_native
from kmc.frontend.binding import bind
from kmc.frontend.loader import load_spec
from kmc.frontend.shipped import find_spec_root
from kmc.invariants.properties import ActionProperty, Invariant
from kmc.model_files.model_file import ModelFile
from kmc.reference.search import Search
from kmc.result import Limits, Verdict

ROOT = find_spec_root("kip_642")
MANIFEST = shipped_manifest("kip_642")
ENTRIES = MANIFEST.entries
MUTANTS = MANIFEST.mutants
SPEC = load_spec(ROOT, MANIFEST.models["grow"].constants)
MUTATIONS = {constant.name for constant in SPEC.constants.values() if constant.meaning.startswith("Mutant: ")}

INTERPRETED_MAX = 2_000
"""More states take the interpreter several seconds."""

WIDE_WITHOUT = {"adds_two_at_once_and_loses"}
"""Without its mutation it has far more states of that depth, which the native engine explores."""


def expected(file: ModelFile) -> Mapping[str, Any]:
    """The recorded figures of a model."""
    assert file.expect is not None
    return file.expect


def fails(file: ModelFile) -> bool:
    """The manifest says that a property of the model fails."""
    return expected(file)["result"] in ("violation", "liveness")


def test_every_mutation_breaks_a_property() -> None:
    caught = {constant.name for file in ENTRIES.values() if fails(file) for constant in file.constants}
    assert caught >= MUTATIONS


def test_mutants_mutate_and_findings_do_not() -> None:
    given = {name: {constant.name for constant in file.constants} & MUTATIONS for name, file in ENTRIES.items()}
    assert all(given[name] for name in MUTANTS)
    assert not any(given[name] for name in MANIFEST.findings)


def test_every_property_fails_somewhere() -> None:
    claims = {title for title, prop in SPEC.properties.items() if isinstance(prop, Invariant | ActionProperty)}
    broken = {expected(file)["invariant"] for file in ENTRIES.values() if fails(file)}
    assert claims <= broken


def _marks(file: ModelFile) -> Any:
    return pytest.mark.golden_large if expected(file)["distinct"] > INTERPRETED_MAX else pytest.mark.slow


@pytest.mark.parametrize("file", [pytest.param(f, id=name, marks=_marks(f)) for name, f in MUTANTS.items()])
def test_nothing_fails_as_early_without_the_mutation(file: ModelFile) -> None:
    whole = tuple(constant for constant in file.constants if constant.name not in MUTATIONS)
    model = bind(ROOT, replace(file, constants=whole))
    limits = Limits(depth=expected(file)["trace_length"])
    native = expected(file)["distinct"] > INTERPRETED_MAX or file.name in WIDE_WITHOUT
    result = check_native(model, limits) if native else Search(model, limits).run()
    assert result.verdict in (Verdict.OK, Verdict.BOUND_REACHED)
