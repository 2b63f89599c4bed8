"""Errors as a person reads them: the place, the carets, help and notes."""

from __future__ import annotations

from bdb import BdbQuit
from pathlib import Path

import pytest

from kmc.cli.program import _failed
from kmc.error_text import error_text, internal_error_lines, place
from kmc.errors import ExitStatus, Span, SpecError
from kmc.lang.errors.blame import blamed

SOURCE = "def grow(st):\n    yield st.set(log=st.log.append(entry))\n\tyield\tst\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a source file in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "actions.py").write_text(SOURCE, encoding="utf-8")
    return "actions.py"


def test_an_error_shows_its_line_with_carets_help_and_notes(source: str) -> None:
    error = SpecError(
        "KMC203", "'log' is full", Span(source, 2, 22, 2, 42), "guard the action", ("while evaluating X",)
    )
    assert error_text(error).splitlines() == [
        "error[KMC203]: 'log' is full",
        " --> actions.py:2:22",
        "2 |     yield st.set(log=st.log.append(entry))",
        "  |                      ^^^^^^^^^^^^^^^^^^^^",
        "  = help: guard the action",
        "  = note: while evaluating X",
    ]


def carets(span: Span) -> str:
    """What the carets of an error at this span underline."""
    line, marks = error_text(SpecError("KMC203", "wrong", span)).splitlines()[2:4]
    return line[marks.index("^") : marks.rindex("^") + 1]


def test_carets_underline_the_span(source: str) -> None:
    assert carets(Span(source, 2, 5, 2, 10)) == "yield"


def test_a_span_over_several_lines_is_underlined_to_the_end_of_its_first(source: str) -> None:
    assert carets(Span(source, 2, 11, 3, 3)) == "st.set(log=st.log.append(entry))"


def test_a_span_of_a_whole_line_underlines_its_text(source: str) -> None:
    assert carets(Span(source, 2)) == "yield st.set(log=st.log.append(entry))"


def test_a_span_without_an_end_has_one_caret(source: str) -> None:
    assert carets(Span(source, 2, 11)) == "s"


def test_carets_stand_right_in_a_line_with_tabs(source: str) -> None:
    assert carets(Span(source, 3, 8, 3, 10)) == "st"


def test_the_gutter_is_as_wide_as_the_number_of_the_line(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("\n" * 119 + "wrong\n", encoding="utf-8")
    lines = error_text(SpecError("KMC203", "wrong", Span(str(path), 120), "mend it")).splitlines()
    assert [line[:6] for line in lines[1:]] == ["   -->", "120 | ", "    | ", "    = "]


def test_a_file_that_cannot_be_read_leaves_the_place(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.py")
    assert error_text(SpecError("KMC203", "wrong", Span(missing, 7, 3))).splitlines()[1:] == [f" --> {missing}:7:3"]


def test_an_error_without_a_place_is_one_line() -> None:
    assert error_text(SpecError("KMC191", "no spec")) == "error[KMC191]: no spec"


def test_a_path_inside_the_working_directory_is_shown_from_there(source: str) -> None:
    assert place(Span(str(Path(source).resolve()), 2, 1)) == "actions.py:2:1"


def test_an_option_is_a_place_of_its_own() -> None:
    assert place(Span("--set Top=99", 1, 1)) == "--set Top=99"


def test_text_that_looks_like_markup_is_shown_as_it_is() -> None:
    assert error_text(SpecError("KMC203", "a [red]set[/red]")) == "error[KMC203]: a [red]set[/red]"


def test_a_mistake_of_kmc_says_what_to_do() -> None:
    try:
        raise KeyError("epoch")
    except KeyError as error:
        lines = [line.text for line in internal_error_lines(error)]
    assert lines[0] == "internal error: KeyError: 'epoch'"
    assert "--debug" in lines[-2]


def test_a_debugger_that_is_ended_is_not_an_error_of_the_spec() -> None:
    with pytest.raises(BdbQuit):
        blamed(BdbQuit(), ())
    assert _failed(BdbQuit(), ()) == ExitStatus.INTERRUPTED


def test_the_line_is_that_of_the_file_as_it_is_now(tmp_path: Path) -> None:
    span = Span(str(tmp_path / "spec.py"), 2)
    assert span.source_line() is None
    for text in ("a\nb", "a\nlonger", "a", "a\nb\x85c"):
        Path(span.path).write_text(text, encoding="utf-8")
        assert span.source_line() == dict(enumerate(text.splitlines(), start=1)).get(2)
    Path(span.path).write_bytes(b"a\n\xff")
    assert span.source_line() is None
    Path(span.path).unlink()
    assert span.source_line() is None
