"""The README is true: its command gives the output that it shows, and the promises of the project's first job hold."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import itf_py
import pytest
from support.commands.cli_runner import kmc

from kmc.cli.program import COMMANDS
from kmc.frontend.shipped import find_spec_root, manifest_of

README = Path(__file__).parents[2] / "README.md"
SHOWN = re.compile(r"^```console\n\$ (kmc .*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_command_prints_what_is_shown_of_it() -> None:
    ((command, shown),) = SHOWN.findall(README.read_text(encoding="utf-8"))
    output = kmc(*shlex.split(command)[1:]).stdout
    for part in shown.split("...\n"):
        assert part in output


@pytest.mark.slow
def test_the_violation_of_a_restart_exits_12_and_its_seven_states_are_read_by_itf_py() -> None:
    ran = kmc("check", "kraft", "restarts")
    (path,) = Path(".kmc/runs").glob("*/trace.itf.json")
    trace = itf_py.trace_from_json(json.loads(path.read_text(encoding="utf-8")))
    assert (ran.exit_code, len(trace.states)) == (12, 7)


def test_every_command_is_in_the_table() -> None:
    listed = re.findall(r"^\| `kmc (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


FIGURE = re.compile(r"`kmc check (\w+) (\w+)`: ([\d,]+) states")


def wrong_figures(text: str) -> list[str]:
    """The models of which a text gives another number of states than their manifest."""
    found = []
    for spec, name, states in FIGURE.findall(text):
        manifest = manifest_of(find_spec_root(spec))
        expect = manifest.entries[name].expect if manifest is not None else None
        if expect is None or f"{expect['distinct']:,}" != states:
            found.append(name)
    return found


def test_the_answer_gives_the_recorded_numbers_of_states() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(FIGURE.findall(text)) >= 3
    assert wrong_figures(text) == []
    assert wrong_figures(text.replace("19,841,847", "19,841,848")) == ["upstream"]


def test_the_first_screen_has_the_answer_a_picture_and_the_two_commands() -> None:
    first = README.read_text(encoding="utf-8").partition("## First steps")[0]
    assert len(first.splitlines()) < 40
    for wanted in ("docs/findings.md", "docs/images/trace_page.png", "$ make check", "$ make test", "TLC"):
        assert wanted in first
    assert (README.parent / "docs" / "images" / "trace_page.png").stat().st_size < 200_000
