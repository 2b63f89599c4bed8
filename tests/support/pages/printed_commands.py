"""The commands that kmc's pages and its help print, in the order in which a reader meets them.

A page prints commands in blocks: lines after `$ `, each line of a block of shell, the steps of a job for CI; and in its
text, as `kmc check kraft upstream`. A form such as `kmc check SPEC` or `kmc check --json` is not one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

from support.commands.cli_runner import kmc

from kmc.cli.program import COMMANDS

ROOT = Path(__file__).parents[3]
PAGES = ["README.md", "CONTRIBUTING.md", "distributed/README.md"]
PAGES += sorted(str(path.relative_to(ROOT)) for folder in ("docs", "specs/*") for path in ROOT.glob(f"{folder}/*.md"))
# Not the pages that are made of manifests: their commands are models, which other tests check.
GENERATED = ("errors", "findings", "gallery", "mechanisms", "reports")
PAGES = [page for page in PAGES if page not in {f"docs/{name}.md" for name in GENERATED}]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    ((?:kmc|pip|make|python) .*)$")
_STEP = {
    "yaml": re.compile(r"^ *- run: (.*)$", re.MULTILINE),
    "groovy": re.compile(r"^ *sh '(.*)'$", re.MULTILINE),
}
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_PROGRAM = re.compile(r"(kmc \w+|pip install|pytest|python -m [\w.]+) ['\w./]|make [a-z]")
# What stands for something that the reader puts in.
_BLANK = re.compile(r"\b(?:[A-Z]{3,}|DIR|N)\b(?![=.])|\[[A-Z]|\.\.\.")


@dataclass(frozen=True)
class PrintedCommand:
    """A command as it is printed, and what the page shows to be typed while it runs."""

    page: str
    command: str
    typed: str = ""


def commands_of_page(page: str) -> list[PrintedCommand]:
    """The commands of a page."""
    return commands_in(page, (ROOT / page).read_text(encoding="utf-8"))


def commands_in(page: str, text: str) -> list[PrintedCommand]:
    """The commands of a text, those of its blocks, then lines of their own, then those in sentences; each once."""
    found = [command for block in _BLOCK.finditer(text) for command in _in_block(block[1], block[2])]
    plain = _BLOCK.sub("", text).splitlines()
    found += [(matched[1], "") for line in plain if (matched := _INDENTED.match(line))]
    found += [(code, "") for line in plain for code in _CODE.findall(line) if is_command(code)]
    return [PrintedCommand(page, *command) for command in dict.fromkeys((_bare(line), typed) for line, typed in found)]


def commands_of_help() -> dict[str, list[PrintedCommand]]:
    """The examples in the help of kmc and of each of its commands."""
    return {
        page: [PrintedCommand(page, line) for line in help_examples(*name)]
        for name in [(), *((name,) for name in sorted(COMMANDS))]
        for page in [" ".join(["kmc", *name, "--help"])]
    }


def help_examples(*name: str) -> list[str]:
    """The command lines below `Examples:` in the help of a command, without what is said of them."""
    lines = dropwhile(lambda line: line.strip() != "Examples:", kmc(*name, "--help").stdout.splitlines())
    return [line.strip().split("  ")[0] for line in lines if line.strip().startswith("kmc ")]


def is_command(code: str) -> bool:
    """Whether code in a text is a whole command: a program with its arguments, and nothing left to put in."""
    return _PROGRAM.match(code) is not None and _BLANK.search(code) is None


def _in_block(language: str, text: str) -> Iterator[tuple[str, str]]:
    """Each command of a block, and what is typed while it runs."""
    if language == "sh":
        yield from ((line, "") for line in text.splitlines())
    elif language in _STEP:
        yield from ((line, "") for line in _STEP[language].findall(text))
    elif language in ("console", "text"):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            yield _first_command(part), "".join(f"{line}\n" for line in re.findall(r"^\(Pdb\) (.*)$", part, re.M))


def _first_command(text: str) -> str:
    """The lines of a command, up to the first at which its quotes are closed; the rest is what it prints."""
    lines = text.splitlines()
    for count in range(1, len(lines) + 1):
        command = "\n".join(lines[:count])
        try:
            shlex.split(command)
        except ValueError:
            continue
        return command
    raise AssertionError(f"quotes that are not closed: {text}")


def _bare(command: str) -> str:
    """The command without the comment of a shell behind it."""
    return re.sub(r"\s+# .*$", "", command) if "\n" not in command else command
