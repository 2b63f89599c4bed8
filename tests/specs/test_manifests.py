"""Every model of every shipped manifest comes out as it says, and every figure in it names its origin.

The interpreter checks them; those of more than 20,000 states, or 6,000 of kip_996, run on the native engine, and those
of more than 100,000 with `make golden`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.specs.golden import LARGE, golden_cases, outcome
from support.specs.temporal import liveness_cases

from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.frontend.binding import bind
from kmc.frontend.shipped import manifest_of, shipped_specs
from kmc.model_files.model_file import ModelFile
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits

HUGE = 100_000_000
LARGE_OF = {"kip_642": 1_500}
"""Where it is not `LARGE`: a model with more states runs with the large golden cases. kip_642 has some 180 models."""
INTERPRETED_MAX = 2_500
"""More states take the interpreter longer than compiling does; golden cases run on both engines up to 100,000."""
LONG_INTERPRETED = {"leader_to_follower", "leaders_flip_flop_of_five"}
"""The first has no number of states to expect, and the second many permutations of few states; both take seconds."""


def _models() -> list[tuple[str, ModelFile]]:
    found = []
    for name, root in shipped_specs().items():
        manifest = manifest_of(root)
        assert manifest is not None
        found += [(name, file) for file in manifest.entries.values()]
    return found


def _distinct(file: ModelFile) -> int:
    assert file.expect is not None
    distinct = file.expect.get("distinct", 0)
    assert isinstance(distinct, int)
    return distinct


def _parameter(spec: str, file: ModelFile) -> Any:
    distinct = (file.expect or {}).get("distinct", 0)
    marks = pytest.mark.golden_large if isinstance(distinct, int) and distinct > LARGE_OF.get(spec, LARGE) else ()
    return pytest.param(spec, file, id=f"{spec}-{file.name}", marks=marks)


def _origin(file: ModelFile) -> str:
    return str((file.expect or {}).get("origin", ""))


def _golden_id(file: ModelFile) -> str | None:
    """The golden case that a model is."""
    return _origin(file).partition("TLC, case ")[2].partition(";")[0] or None


def _liveness_id(file: ModelFile) -> str | None:
    """How the name of a golden case of liveness begins."""
    found = _origin(file).partition("verdict ")[2]
    return re.split("[,;]", found)[0] or None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "file"), [_parameter(s, f) for s, f in _models() if _distinct(f) <= HUGE and _golden_id(f) is None]
)
def test_a_model_comes_out_as_its_manifest_says(spec: str, file: ModelFile) -> None:
    assert file.expect is not None
    expect = {key: value for key, value in file.expect.items() if key != "origin"}
    model = bind(shipped_specs()[spec], file)
    problem = accepted_problem(model)
    if _distinct(file) > INTERPRETED_MAX or file.name in LONG_INTERPRETED:
        result = check_native(model, Limits(), threads=2, problem=problem)
    else:
        result = Search(model, view_order=fingerprint_order, problem=problem).run()
    assert outcome(result, expect) == expect


@pytest.mark.parametrize(("spec", "file"), [_parameter(s, f) for s, f in _models() if _golden_id(f) is not None])
def test_a_model_that_names_a_golden_case_is_that_case(spec: str, file: ModelFile) -> None:
    """The case itself runs in test_golden_counts; here the manifest must ask and expect the same."""
    case = next(case for case in golden_cases(spec) if case.id == _golden_id(file))
    same = case.model()
    mine = bind(shipped_specs()[spec], file)
    assert mine.digest == same.digest
    assert mine.max_depth == same.max_depth
    assert file.expect is not None
    kmcs_own = ("origin", "unreached_goals", "vacuous")  # TLC says nothing of these
    assert {key: value for key, value in file.expect.items() if key not in kmcs_own} == case.expect


@pytest.mark.parametrize(("spec", "file"), [_parameter(s, f) for s, f in _models() if _liveness_id(f) is not None])
def test_a_model_that_names_a_golden_case_of_liveness_has_its_graph(spec: str, file: ModelFile) -> None:
    cases = [case for case in liveness_cases() if case.id.startswith(str(_liveness_id(file)))]
    figures: dict[str, Any] = {
        key: value for key, value in (file.expect or {}).items() if key in ("generated", "distinct", "depth")
    }
    assert cases
    assert all(case.root == shipped_specs()[spec] for case in cases)
    if "the states until it fails are kmc's own" in _origin(file):
        # kmc stops where a state refutes, and TLC explores the whole graph first.
        assert all(figures["distinct"] < case.graph["distinct"] for case in cases)
    else:
        assert all(figures.items() <= case.graph.items() for case in cases)


def test_two_models_are_left_to_a_run_by_hand() -> None:
    """They take 12 GiB, or 80 GB of disk, and many minutes; `kmc check` compares them with the manifest itself."""
    huge = [(spec, file.name) for spec, file in _models() if _distinct(file) > HUGE]
    assert huge == [("kraft", "corrected_whole"), ("kraft", "twelve_restarts")]


def test_every_spec_has_a_model_that_must_fail() -> None:
    failing = {spec for spec, file in _models() if (file.expect or {}).get("result") == "violation"}
    assert failing == set(shipped_specs())
