"""Every natural mistake of a spec author gives one error: at the author's place, in the author's words, with advice.

The specs and their errors stand in `data/mistakes`, so that a person can judge the errors as their reader sees them;
their format is told in `spec_mistakes`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.faults.spec_mistakes import (
    SpecMistake,
    described,
    error_of,
    marked,
    place_of,
    read_files,
    read_spec_mistakes,
)

FOLDER = Path(__file__).parents[1] / "data" / "mistakes"
COMMON = read_files((FOLDER / "common.txt").read_text(encoding="utf-8").partition("\n")[2])
MISTAKES = {
    f"{path.stem}: {mistake.title}": mistake
    for path in sorted(FOLDER.glob("*.txt"))
    if path.name != "common.txt"
    for mistake in read_spec_mistakes(path)
}
# Names of Python's and of kmc's own classes and modules, which no spec author has heard of.
_INTERNAL = re.compile(
    r"Traceback|kmc_|__kmc|Value\b.*object|\w+(?:Value|Meta|Facade)\b|NoneType|frozenset|object at 0x"
)


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_shown_at_its_place_in_the_authors_words(mistake: SpecMistake, tmp_path: Path) -> None:
    error, status = error_of(mistake.files, COMMON, tmp_path)
    assert described(error, status).replace(str(tmp_path), "SPEC") == mistake.error
    in_files = error.span is not None and Path(error.span.path).parent == tmp_path
    assert [place_of(span) for span in (error.span,) if span is not None and in_files] == marked(mistake.files)


# KMC256 is of what Python evaluates without an error, so only the type check finds it.
OF_KINDS = {
    title: mistake
    for title, mistake in MISTAKES.items()
    if mistake.error.startswith("SpecError 150 KMC2") and "KMC256" not in mistake.error
}
# The type check sees what is compared; a state, which two of them are compared first.
LIKEWISE = {"KMC246": "KMC255"}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", OF_KINDS.values(), ids=OF_KINDS)
def test_what_the_type_check_finds_fails_in_a_state_too(mistake: SpecMistake, tmp_path: Path) -> None:
    error, status = error_of(mistake.files, COMMON, tmp_path, kinds=False)
    found = mistake.error.split()[2]
    assert found in (error.code, LIKEWISE.get(error.code))
    assert error.span is not None
    assert [place_of(error.span).line] == [place.line for place in marked(mistake.files)]
    assert status in (75, 76, 150)


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_an_error_says_nothing_of_the_inside(mistake: SpecMistake) -> None:
    assert not _INTERNAL.search(mistake.error)
