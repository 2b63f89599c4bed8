"""The teaching specs fail as their readers are told: by which steps, and of which property.

That their models give the figures of TLC is held by test_manifests.py.
"""

from __future__ import annotations

from kmc.frontend.binding import bind
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.model_files.model_file import ModelFile
from kmc.reference.search import Search
from kmc.result import Result


def models_of(name: str) -> dict[str, ModelFile]:
    """The models of a shipped spec."""
    manifest = manifest_of(find_spec_root(name))
    assert manifest is not None
    return dict(manifest.models)


def check(name: str, file: ModelFile) -> Result:
    """Explore one model with the interpreter."""
    return Search(bind(find_spec_root(name), file)).run()


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
