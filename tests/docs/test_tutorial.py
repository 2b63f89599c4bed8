"""The tutorial is true: its spec, its model file and its commands, taken from the page, give the output that it shows.

Set KMC_UPDATE_GOLDEN=1 to write what the commands print now into the page.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc, steady
from support.pages.tutorial import FENCE, rewritten

PAGE = Path(__file__).parents[2] / "docs" / "writing_a_spec.md"
FOLDER = Path("election")


def shown(command: str) -> str:
    """What a console block shows of a command: the command and its output."""
    words = shlex.split(command.removeprefix("$ kmc "))
    return f"{command}\n{kmc(*words).output.rstrip()}\n"


@pytest.mark.slow
def test_the_commands_of_the_tutorial_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    found = rewritten(page, FOLDER, shown)
    if os.environ.get("KMC_UPDATE_GOLDEN"):
        PAGE.write_text(found, encoding="utf-8")
    assert steady(found) == steady(page)


def test_the_tutorial_shows_a_violation_a_mistake_and_a_proof() -> None:
    page = PAGE.read_text(encoding="utf-8")
    console = "\n".join(text for language, text in FENCE.findall(page) if language == "console")
    assert ["is violated" in console, "error[KMC" in console, "Proved:" in console] == [True, True, True]
