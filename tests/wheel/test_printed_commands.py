"""Every command that a page or the help prints runs as printed from an installed wheel.

Each page has a folder of its own, in which its commands run in their order. tests/data/wheel/commands.toml says what
is not run, or in another way, and why.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from support.commands.cli_runner import steady
from support.commands.installed_kmc import InstalledKmc
from support.pages.command_entries import CommandRun, shipped_entries
from support.pages.printed_commands import PAGES, ROOT, PrintedCommand, commands_of_help, commands_of_page
from support.pages.tutorial import rewritten

TUTORIAL = "docs/writing_a_spec.md"
ENTRIES = shipped_entries()
PRINTED = {page: commands_of_page(page) for page in PAGES} | commands_of_help()
RUN = {
    page: found
    for page, printed in PRINTED.items()
    if (found := [item for item in printed if not ENTRIES.run_of(item).not_run])
}


def failure(installed: InstalledKmc, folder: Path, printed: PrintedCommand) -> str:
    """What is wrong with a command of a page in this folder, or nothing."""
    run = ENTRIES.run_of(printed)
    prepare(installed, folder, run)
    if run.until:
        status, output = installed.run_until(run.command, folder, run.until)
    else:
        status, output = installed.run(run.command, folder, printed.typed)
    return "" if status == run.status else f"`{run.command}` ends with {status}, not {run.status}:\n{output[-3000:]}"


def prepare(installed: InstalledKmc, folder: Path, run: CommandRun) -> None:
    """Make what the command takes for granted."""
    for path in run.copies:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    for path, page in run.first_examples.items():
        (example, *_) = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.M | re.S)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(example, encoding="utf-8")
    for command in run.before:
        status, output = installed.run(command, folder)
        assert status == 0, f"{command}:\n{output}"


@pytest.mark.parametrize("page", [page for page in RUN if page != TUTORIAL])
def test_the_commands_run_as_printed(page: str, installed: InstalledKmc, tmp_path: Path) -> None:
    failures = [failure(installed, tmp_path, printed) for printed in RUN[page]]
    assert [failed for failed in failures if failed] == []


def test_the_commands_of_the_tutorial_run_and_print_what_it_shows(installed: InstalledKmc, tmp_path: Path) -> None:
    def shown(command: str) -> str:
        run = ENTRIES.run_of(PrintedCommand(TUTORIAL, command.removeprefix("$ ")))
        status, output = installed.run(run.command, tmp_path)
        assert status == run.status, output
        return f"{command}\n{output.rstrip()}\n"

    text = (ROOT / TUTORIAL).read_text(encoding="utf-8")
    assert steady(rewritten(text, tmp_path / "election", shown)) == steady(text)
    in_blocks = re.findall(r"^\$ (.*)$", text, re.MULTILINE)
    in_text = [printed for printed in PRINTED[TUTORIAL] if printed.command not in in_blocks]
    assert len(in_text) > 2
    assert [failed for printed in in_text if (failed := failure(installed, tmp_path, printed))] == []
