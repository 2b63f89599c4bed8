"""The native engine gives the interpreter's result: verdict, counters, levels, coverage, properties and trace.

Small specs with every kind of failure and reduction, and the first levels of shipped models. Every counterexample is
told in every view.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.oracles.results import CASES, TINY, told
from support.specs.shipped import shipped_manifest
from support.specs.small import model_of
from support.views.read_back import told_in_every_view

from kmc.compiler.model_kernels import Kernels, build_kernels
from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root, manifest_of, shipped_specs
from kmc.model_files.model_file import ModelFile
from kmc.reference.search import Search
from kmc.result import Limits

THREADS = (1, 2, 3)
MOST_STATES = 1_500
"""A search ends with the first level that has so many."""

COMPILED_YET = {
    "kraft": {
        "smoke",
        "standard",
        "two_elections",
        "two_elections_view",
        "two_servers",
        "large",
        "upstream",
        "corrected_one_election",
        "corrected",
        "corrected_deep",
        "corrected_whole",
        "fair",
        "restarts",
        "restarts_two_leaders",
        "restarts_as_voted",
        "old_table",
        "old_table_candidate",
        "new_table",
        "no_leader",
        "no_fetches",
        "two_elections_in_flight",
        "preferred_is_not_elected_first",
    },
    "kip_642": {
        "plain_two_servers",
        "pair_failures",
        "grow",
        "live_leader_leaves",
        "live_corrected_leader_leaves",
        "live_zombie_does_not_ask",
    },
    "kip_996": {
        "smoke",
        "shrink_crash",
        "truncation",
        "grow",
        "partition",
        "live_connections",
        "draws_for_ever",
        "elections_for_ever",
        "removed_voter_is_answered",
        "removed_voter_is_not_answered",
        "single_voter_is_not_elected",
    },
    "kip_996_draft": {
        "smoke",
        "upstream",
        "with_reason",
        "dead_pairs",
        "reconfiguration",
        "live_quiet",
        "acked_value_lost",
        "single_voter_is_not_elected",
    },
}
"""Each model of these specs takes seconds to compile: `make test` runs these, and `make golden` the others."""


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("name", CASES)
def test_a_small_spec_has_one_result(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    interpreted = Search(model, case.limits, keep_going=case.keep_going, view_order=fingerprint_order).run()
    if interpreted.violation is not None:
        told_in_every_view(model, interpreted.violation)
    wanted = told(interpreted)
    for threads in THREADS:
        result = check_native(
            model, case.limits or Limits(), threads=threads, keep_going=case.keep_going, settings=TINY
        )
        assert told(result) == wanted, f"{threads} threads"


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_once")
def test_searches_of_a_model_share_what_was_compiled_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[Model] = []

    def counted(model: Model, **rest: Any) -> Kernels:
        lowered.append(model)
        return build_kernels(model, **rest)

    monkeypatch.setattr("kmc.compiler.compile_spec.build_kernels", counted)
    model, other = (bind(find_spec_root(spec), shipped_manifest(spec).models["smoke"]) for spec in ("kip_996", "kraft"))
    for searched in (model, model, other, model):
        check_native(searched, Limits(states=10))
    assert [each.spec.name for each in lowered] == ["kip_996", "kraft"]
    assert lowered[0].premises  # which are made anew for each search


def _shipped_models() -> list[Any]:
    found = []
    for name, root in shipped_specs().items():
        manifest = manifest_of(root)
        assert manifest is not None
        for file in (*manifest.models.values(), *manifest.findings.values()):
            left_out = name in COMPILED_YET and file.name not in COMPILED_YET[name]
            marks = pytest.mark.golden_large if left_out else ()
            found.append(pytest.param(name, file, id=f"{name}-{file.name}", marks=marks))
    return found


def test_each_model_that_is_compiled_here_is_a_shipped_one() -> None:
    marks = {(case.values[0], case.values[1].name): case.marks for case in _shipped_models()}
    named = {(spec, name) for spec, names in COMPILED_YET.items() for name in names}
    assert {case for case, left_out in marks.items() if not left_out and case[0] in COMPILED_YET} == named


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize(("spec", "file"), _shipped_models())
def test_a_shipped_model_has_one_result(spec: str, file: ModelFile) -> None:
    model = bind(shipped_specs()[spec], file)
    limits = Limits(states=MOST_STATES)
    interpreted = Search(model, limits, view_order=fingerprint_order).run()
    if interpreted.violation is not None:
        told_in_every_view(model, interpreted.violation)
    wanted = told(interpreted)
    for threads in THREADS:
        assert told(check_native(model, limits, threads=threads)) == wanted, f"{threads} threads"
