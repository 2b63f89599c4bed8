"""What hosted CI reads of a check: annotations (`--format github`), types of failures in JUnit; and completion."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, kmc

pytestmark = pytest.mark.usefixtures("folder")
ANNOTATION = re.compile(r"^::(error|warning) (?:file=([^,:]+),line=([0-9]+),)?title=([^:]+)::(.+)$")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def annotated(*words: str) -> list[tuple[str, ...]]:
    """The annotations of a check: level, file, line, title, text."""
    lines = kmc("check", *words, "--format", "github", "--no-run-dir").stdout.splitlines()
    found = [ANNOTATION.match(line) for line in lines if line.startswith("::")]
    assert all(found), lines
    return [match.groups("") for match in found if match is not None]


@pytest.mark.slow
def test_a_violation_is_annotated_at_the_line_of_its_property() -> None:
    ((level, path, line, title, text),) = annotated("kraft", "restarts")
    assert (level, title) == ("error", "kmc kraft restarts")
    source = Path(path).read_text(encoding="utf-8").splitlines()
    assert "NoIllegalState" in source[int(line) - 1]
    assert text.startswith("VIOLATION kraft restarts: NoIllegalState fails, a trace of 7 states%0A")
    assert text.endswith("Reproduce: kmc check kraft restarts --no-run-dir")
    assert "\n" not in text


@pytest.mark.slow
def test_the_last_line_is_the_verdict_all_the_same() -> None:
    out = kmc("check", "kraft", "restarts", "--format", "github", "--no-run-dir", "--quiet").stdout
    assert out.splitlines()[-1].startswith("VIOLATION kraft restarts: ")


def test_a_check_that_holds_has_no_annotation_and_a_warning_is_one() -> None:
    assert annotated("die_hard", "smoke") == []
    assert {level for level, *_ in annotated(COUNTER, "smoke")} == {"warning"}


CLOCK = """
from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    x: Int(0, 1)


@spec.init
def init():
    yield State(x=0)


@spec.action
def tick(st):
    yield st.set(x=1 - st.x)


@spec.invariant
def Never(st):
    return st.x >= 0
"""


def test_what_strict_misses_is_an_error() -> None:
    Path("clock.py").write_text(CLOCK, encoding="utf-8")
    assert [level for level, *_ in annotated("clock.py")] == ["warning"]
    assert [level for level, *_ in annotated("clock.py", "--strict")] == ["error", "error"]


def test_an_error_of_evaluation_is_annotated_at_its_line_whatever_the_file_is_called() -> None:
    Path("a,b.py").write_text(CLOCK.replace("st.x >= 0", "3 // st.x > 0"), encoding="utf-8")
    ((level, path, line, _, text),) = annotated("a,b.py")
    assert (level, path, line) == ("error", "a%2Cb.py", "22")
    assert "division" in text


@pytest.mark.slow
def test_a_model_that_was_not_checked_for_want_of_time_is_a_warning() -> None:
    found = annotated("die_hard", "--all", "--total-timeout", "0.001")
    assert {level for level, *_ in found} == {"warning"}
    assert all(text.startswith("not checked") for *_, text in found)


def test_a_spec_that_does_not_load_is_annotated_at_its_line() -> None:
    Path("broken.py").write_text(CLOCK.replace("@spec.invariant", "@spec.wrong"), encoding="utf-8")
    ((level, path, line, _, text),) = annotated("broken.py")
    assert (level, path, line) == ("error", "broken.py", "20")
    assert "KMC138" in text


@pytest.mark.slow
@pytest.mark.usefixtures("forked_checks")
def test_each_unexpected_model_of_all_is_annotated() -> None:
    found = annotated("die_hard", "--all", "--max-cost", "100000")
    assert found == []
    assert kmc("check", "kraft", "smoke", "--format", "github", "--json").exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "types"),
    [
        (("kraft", "restarts"), {"violation"}),
        (("kraft", "smoke", "--max-depth", "3"), {"bound"}),
        (("die_hard", "aimless"), {"liveness"}),
        (("broken.py",), {"KMC138"}),
    ],
)
def test_a_junit_failure_has_a_type(words: tuple[str, ...], types: set[str]) -> None:
    Path("broken.py").write_text(CLOCK.replace("@spec.invariant", "@spec.wrong"), encoding="utf-8")
    kmc("check", *words, "--no-run-dir", "--junit", "r.xml")
    found = [detail for kind in ("failure", "error") for detail in ElementTree.parse("r.xml").iter(kind)]
    assert found
    assert {detail.get("type") for detail in found} == types


@pytest.mark.parametrize(
    ("words", "at", "wanted", "other"),
    [
        ("kmc che", 1, "plain,check", "plain,claims"),
        ("kmc check kip", 2, "plain,kip_996", "plain,kraft"),
        ("kmc check kraft rest", 3, "plain,restarts", "plain,smoke"),
        ("kmc check ./nowhere rest", 3, "file,rest", "plain,restarts"),
    ],
)
def test_a_shell_completes_commands_specs_and_models(
    monkeypatch: pytest.MonkeyPatch, words: str, at: int, wanted: str, other: str
) -> None:
    for name, value in (("_KMC_COMPLETE", "bash_complete"), ("COMP_WORDS", words), ("COMP_CWORD", str(at))):
        monkeypatch.setenv(name, value)
    told = kmc().stdout.splitlines()
    assert wanted in told
    assert other not in told
