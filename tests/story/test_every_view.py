"""Every view tells the counterexamples of unusual specs, of ports by other people, and of the teaching specs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.odd_shapes import SHAPES
from support.specs.ported import PORTED
from support.specs.process_kinds import violation_of
from support.specs.small import model_of
from support.views.read_back import check_regression, told_in_every_view

from kmc.frontend.binding import bind
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.model_files.model_file import ModelFile
from kmc.result import Verdict

TEACHING = ("die_hard", "two_phase_commit")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_spec_of_an_unusual_shape_is_told_in_every_view(tmp_path: Path, shape: str) -> None:
    source, cfg = SHAPES[shape]
    model = model_of(tmp_path, "from kmc.lang import Pair, pair, spawned\n" + source, cfg)
    violation = violation_of(model)
    told_in_every_view(model, violation)
    check_regression(model, violation, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", PORTED)
def test_a_port_by_other_people_is_told_in_every_view(tmp_path: Path, name: str) -> None:
    ported = PORTED[name]
    model = model_of(tmp_path, ported.source, ported.cfg)
    violation = violation_of(model)
    assert told_in_every_view(model, violation).lanes == ported.lanes
    check_regression(model, violation, tmp_path)


def failing_models() -> list[tuple[str, ModelFile]]:
    """The models of the teaching specs that fail, mutants and findings too."""
    found = []
    for spec in TEACHING:
        manifest = manifest_of(find_spec_root(spec))
        assert manifest is not None
        for file in (*manifest.models.values(), *manifest.findings.values(), *manifest.mutants.values()):
            expected = (file.expect or {}).get("result", Verdict.OK.value)
            if expected not in (Verdict.OK.value, Verdict.BOUND_REACHED.value):
                found.append((spec, file))
    return found


@pytest.mark.parametrize(("spec", "file"), [pytest.param(s, f, id=f"{s}-{f.name}") for s, f in failing_models()])
def test_a_teaching_spec_that_fails_is_told_in_every_view(spec: str, file: ModelFile, tmp_path: Path) -> None:
    model = bind(find_spec_root(spec), file)
    violation = violation_of(model)
    told_in_every_view(model, violation)
    check_regression(model, violation, tmp_path)


def test_the_teaching_specs_fail_in_several_ways() -> None:
    assert len(failing_models()) > 3
