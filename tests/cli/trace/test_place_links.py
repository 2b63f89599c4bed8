"""The place of a property in a trace is a path that can be opened, and a link in a terminal that knows OSC 8."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.style import Style
from support.commands.cli_runner import COUNTER, kmc

from kmc.cli.text.render_story import styled
from kmc.frontend.shipped import find_spec_root
from kmc.frontend.source_place import opened_path, source_path, spec_word
from kmc.text_lines import TextPiece, line


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(COUNTER, tmp_path / "counter", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)


def test_a_path_is_shown_from_where_the_command_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, shipped = Path("counter/spec.py").resolve(), find_spec_root("kip_642") / "properties.py"
    assert source_path(spec) == "counter/spec.py"
    assert source_path(shipped) == "kip_642/properties.py"
    assert opened_path("kip_642/properties.py") == shipped.resolve()
    assert opened_path("absent/spec.py") is None
    assert [spec_word(spec.parent), spec_word(shipped.parent)] == ["./counter", "kip_642"]
    monkeypatch.chdir("here")
    assert source_path(spec) == "../counter/spec.py"
    assert spec_word(spec.parent) == "../counter"


def test_a_place_is_a_link_where_its_file_is() -> None:
    (text,) = styled([line(TextPiece("Two lead. (counter/spec.py:47) (absent.py:3)", "dim"))])
    styles = {text.plain[span.start : span.end]: Style.parse(str(span.style)) for span in text.spans}
    uri = (Path.cwd().resolve() / "counter" / "spec.py").as_uri()
    assert {place: style.link for place, style in styles.items() if style.link} == {"counter/spec.py:47": f"{uri}#47"}


def test_links_are_for_terminals() -> None:
    assert kmc("check", "./counter", "two", "--engine", "python", "--quiet").exit_code == 12
    assert "\x1b" not in kmc("trace", "last").stdout
    assert "\x1b]8;" in kmc("trace", "last", "--color").stdout
    assert "(counter/spec.py:47)" in kmc("trace", "last").stdout
