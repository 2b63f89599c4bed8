"""The teaching specs: every model of their manifests gives its expected results, and the tests would notice if not.

The results come from TLC, which ran TLA+ modules with the same next-state relations.
"""

from __future__ import annotations

import pytest

from kmc.lang.modelfile import ModelFile
from kmc.reference.search import Search
from kmc.result import Result
from kmc.spec.model import bind
from kmc.spec.shipped import find_spec_root, manifest_of

SPECS = ("die_hard", "two_phase_commit")


def models_of(name: str) -> dict[str, ModelFile]:
    """The models of a shipped spec."""
    manifest = manifest_of(find_spec_root(name))
    assert manifest is not None
    return dict(manifest.models)


ALL = [(name, model) for name in SPECS for model in models_of(name)]


def check(name: str, file: ModelFile) -> Result:
    """Explore one model with the interpreter."""
    return Search(bind(find_spec_root(name), file)).run()


def figures(result: Result) -> dict[str, object]:
    """A result in the words of a manifest."""
    violation = result.violation
    return {
        "result": result.verdict.value,
        "generated": result.counters.generated,
        "distinct": result.counters.distinct,
        "depth": result.counters.depth,
        "left": result.counters.left,
        "initial": result.initial,
        "unreached_goals": list(result.unreached_goals),
        "generated_by_action": result.generated_by_action,
        "invariant": violation.name if violation else None,
        "trace_length": len(violation.trace) if violation else None,
    }


@pytest.mark.parametrize(("name", "model"), ALL)
def test_a_model_gives_every_expected_figure(name: str, model: str) -> None:
    file = models_of(name)[model]
    assert file.expect is not None
    expected = {key: value for key, value in file.expect.items() if key != "origin"}
    found = figures(check(name, file))
    assert {key: found[key] for key in expected} == expected


def actions_of(result: Result) -> list[str]:
    """The labels of the steps of the counterexample."""
    assert result.violation is not None
    return [step.label for step in result.violation.trace.steps[1:]]


def test_the_solution_of_the_puzzle_is_the_known_one() -> None:
    assert actions_of(check("die_hard", models_of("die_hard")["solution"])) == [
        "FillBigJug",
        "BigToSmall",
        "EmptySmallJug",
        "BigToSmall",
        "FillBigJug",
        "BigToSmall",
    ]


def test_an_early_commit_breaks_consistency_after_one_abort() -> None:
    labels = actions_of(check("two_phase_commit", models_of("two_phase_commit")["broken"]))
    assert sorted(label.split("(")[0] for label in labels) == ["RmChooseToAbort", "RmReceiveCommit", "TmCommit"]


def test_final_decisions_would_be_noticed_if_they_changed() -> None:
    file = models_of("two_phase_commit")["broken"]
    manifest = models_of("two_phase_commit")["smoke"]
    broken = ModelFile(file.name, file.path, file.constants, properties=manifest.properties)
    result = check("two_phase_commit", broken)
    assert (result.violation.name if result.violation else None) == "DecisionsAreFinal"
