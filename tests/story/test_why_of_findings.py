"""Every finding and mutant of the shipped specs that is found soon says why: by values, in a sentence of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kmc.engine.check_model import check_native
from kmc.errors import SpecError
from kmc.frontend.binding import bind
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.model_files.model_file import ModelFile
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits
from kmc.story.counterexample import story_of

SPECS = ("die_hard", "two_phase_commit", "kraft", "kip_996", "kip_996_draft", "kip_642")
STATES_MAX = 5_000


def cases() -> Iterator[tuple[str, ModelFile]]:
    """The models whose expected result is a violation, found among few states."""
    for spec in SPECS:
        manifest = manifest_of(find_spec_root(spec))
        assert manifest is not None
        for file in manifest.entries.values():
            expected = file.expect or {}
            if (
                expected.get("result") in ("violation", "liveness")
                and int(str(expected.get("distinct", 0))) <= STATES_MAX
            ):
                yield spec, file


@pytest.mark.golden_large
@pytest.mark.parametrize(("spec", "file"), list(cases()), ids=lambda part: getattr(part, "name", str(part)))
def test_a_finding_says_why(spec: str, file: ModelFile) -> None:
    model = bind(find_spec_root(spec), file)
    problem = accepted_problem(model)
    try:
        violation = check_native(model, Limits(), threads=1, problem=problem).violation
    except SpecError:  # a model that only the interpreter takes
        violation = Search(model, problem=problem).run().violation
    assert violation is not None
    told = story_of(model, violation).why
    assert told is not None
    if violation.refutation is None:
        assert told.sentence.startswith(f"{violation.name} fails"), told
        assert told.compared, told
    else:
        assert told.sentence.startswith(f"{violation.name}"), told
        assert "fails: " in told.sentence, told
