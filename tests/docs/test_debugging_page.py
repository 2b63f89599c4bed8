"""The page about debugging is true: its commands print what it shows, and pdb stops where it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc, steady

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "debugging.md").read_text(encoding="utf-8")
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
(SESSION,) = re.findall(r"^```text\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
STATUSES = {
    "kmc check kraft restarts": 12,
    "kmc check kraft restarts --from last#4 --no-run-dir --quiet": 12,
    "kmc simulate kraft restarts --from last#4 --seed 3 --no-run-dir --quiet": 12,
    "kmc eval last#5 'servers[n2].vote'": 75,
    "kmc replay last --model corrected_one_election": 10,
}


def shown_commands() -> Iterator[tuple[str, str]]:
    """Each command of the page, and what the page shows of its output."""
    for block in CONSOLE.findall(TEXT):
        for part in block.removeprefix("$ ").split("\n$ "):
            command, _, shown = part.rstrip().partition("\n")
            yield command, shown


@pytest.mark.slow
def test_the_commands_run_and_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = list(shown_commands())
    assert len(commands) == 11
    for command, shown in commands:
        found = kmc(*shlex.split(command)[1:])
        assert found.exit_code == STATUSES.get(command, 0), found.output
        assert steady(found.output).startswith(shown)


@pytest.mark.slow
def test_pdb_stops_in_a_spec_and_ends_without_an_error_of_the_spec(tmp_path: Path) -> None:
    first = PYTHON.findall((DOCS / "writing_a_spec.md").read_text(encoding="utf-8"))[0]
    (tmp_path / "election").mkdir()
    (tmp_path / "election" / "spec.py").write_text(first, encoding="utf-8")
    command, *typed = re.findall(r"^(?:\$ |\(Pdb\) )(.*)$", SESSION, re.MULTILINE)
    ran = subprocess.run(
        [sys.executable, *shlex.split(command)[1:]],
        cwd=tmp_path, input="\n".join([*typed, "q", ""]), capture_output=True, text=True, check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    printed = (ran.stdout + ran.stderr).replace(f"{tmp_path.resolve()}{os.sep}", "").replace("(Pdb) ", "")
    shown = [line for line in SESSION.splitlines()[1:] if not line.startswith("(Pdb) ")]
    assert [line for line in shown if line not in printed.splitlines()] == []


def test_the_steps_of_one_state_are_those_of_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("pdb.runcall", lambda function, *arguments: asked.extend(function(*arguments)))
    (example,) = PYTHON.findall(TEXT)
    names: dict[str, Any] = {}
    exec(compile(example, "docs/debugging.md", "exec"), names)  # an example of the page
    assert names["result"].trace[4] in [step.state for step in asked]
