"""Help teaches: every command has examples, and the examples are right."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import click
import pytest
from support.commands.cli_runner import kmc
from support.source_tree import ROOT

from kmc import __version__
from kmc.cli.program import COMMANDS, GROUPS, cli

# Prints what a process imported for `kmc --help`.
IMPORTED_FOR_HELP = """
import sys
from kmc.cli.program import cli
try:
    cli.main(["--help"])
finally:
    print("IMPORTED", *sys.modules)
"""


def command_of(name: str) -> click.Command:
    """The command of this name."""
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def examples(command: str) -> list[str]:
    """The example command lines in the help of a command, without what a shell does with their output."""
    shown = [line.strip() for line in kmc(command, "--help").stdout.splitlines()]
    return [line.split("  ")[0].split(" | ")[0].split(" > ")[0] for line in shown if line.startswith("kmc ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_two_to_five_examples(command: str) -> None:
    assert 2 <= len(examples(command)) <= 5


@pytest.mark.parametrize("line", [line for command in COMMANDS for line in examples(command)])
def test_an_example_is_a_command_line_that_kmc_takes(line: str) -> None:
    _, name, *words = shlex.split(line)
    with command_of(name).make_context(name, words) as context:
        assert context.params


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_does(command: str) -> None:
    options = [found for found in command_of(command).params if isinstance(found, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_eighty_columns_but_for_examples(command: str) -> None:
    before = kmc(command, "--help").stdout.split("Examples:")[0]
    assert max(map(len, before.splitlines())) <= 80


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(words: list[str]) -> None:
    shown = kmc(*words).stdout
    assert [command for command in COMMANDS if f"\n  {command} " not in shown] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_lists_a_command_with_the_first_sentence_of_its_own_help(command: str) -> None:
    found = command_of(command)
    assert (found.name, found.get_short_help_str(limit=200)) == (command, COMMANDS[command][1])


def test_the_commands_are_listed_in_the_groups_of_the_readme() -> None:
    """README.md has them in a table: a row in bold for each group, then one for each command."""
    told: dict[str, list[str]] = {}
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines():
        if (title := re.match(r"\| \*\*(.+)\*\* \| \|", line)) is not None:
            told[title[1].capitalize()] = []
        elif (command := re.match(r"\| `kmc (\w+)", line)) is not None:
            told[list(told)[-1]].append(command[1])
    assert told == {title: list(group) for title, group in GROUPS.items()}
    help_text = kmc("--help").stdout
    assert [line.rstrip(":") for line in help_text.splitlines() if line.rstrip(":") in told] == list(told)


def test_help_imports_no_command() -> None:
    ran = subprocess.run([sys.executable, "-c", IMPORTED_FOR_HELP], capture_output=True, text=True, check=True)
    imported = set(ran.stdout.partition("IMPORTED")[2].split())
    assert "kmc.cli.program" in imported
    assert imported & {*(place.partition(":")[0] for place, _ in COMMANDS.values()), "kmc.spec", "numpy"} == set()


def test_the_version_is_that_of_the_package() -> None:
    assert kmc("--version").stdout == f"kmc {__version__}\n"
