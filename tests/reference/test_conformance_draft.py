"""Conformance of the draft of KIP-996: it is its TLA+ spec edge by edge."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.frontend.shipped import find_spec_root
from kmc.reference.conformance.edges import ConformanceReport, conform

EDGES = Path(__file__).parents[1] / "data" / "edges"
DRAFT = find_spec_root("kip_996_draft")

# Sources, edges and generated steps of each corpus, from the table of its makers.
CORPORA = {
    "draft-a": (462, 4472, 4488),
    "draft-b": (754, 4315, 4432),
    "draft-c": (478, 4420, 4420),
    "draft-d": (620, 4379, 4393),
    "draft-e": (619, 2976, 2978),
}
SAMPLE = 30

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def samples() -> list[ConformanceReport]:
    """Each corpus takes the interpreter 12 s, mostly to read states: whole ones run with the large cases."""
    return [conform(DRAFT, EDGES / f"{name}.json.gz", limit=SAMPLE) for name in CORPORA]


def test_no_edge_of_a_sample_differs_from_tlc(samples: list[ConformanceReport]) -> None:
    assert [report.differences[:3] for report in samples] == [()] * len(samples)


def test_the_actions_are_those_of_the_tla_spec(samples: list[ConformanceReport]) -> None:
    assert {(report.missing_actions, report.extra_actions) for report in samples} == {((), ())}


def test_every_action_fires_in_the_samples(samples: list[ConformanceReport]) -> None:
    fired = {count.action for report in samples for count in report.actions if count.edges}
    assert fired == {count.action for count in samples[0].actions}


@pytest.mark.golden_large
@pytest.mark.parametrize("name", CORPORA)
def test_no_edge_of_the_whole_corpus_differs_from_tlc(name: str) -> None:
    report = conform(DRAFT, EDGES / f"{name}.json.gz")
    assert report.differences[:3] == ()
    assert (report.sources, report.edges, report.generated) == CORPORA[name]
