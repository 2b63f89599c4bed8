"""How printed commands are run: as printed, unless an entry of `tests/data/wheel/commands.toml` says why not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from support.pages.printed_commands import PrintedCommand

FILE = Path(__file__).parents[2] / "data" / "wheel" / "commands.toml"


@dataclass(frozen=True)
class CommandRun:
    """What is run for a printed command, and how it should end."""

    command: str
    status: int = 0
    not_run: bool = False
    before: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    first_examples: dict[str, str] = field(default_factory=dict)
    until: str = ""


@dataclass(frozen=True)
class Entry:
    """A departure for some commands, of one page or of all, and the reason for it."""

    commands: tuple[str, ...]
    why: str
    page: str
    how: dict[str, Any]

    def is_about(self, printed: PrintedCommand) -> bool:
        """Whether it names the command; a name that ends with a star is a beginning."""
        return self.page in ("", printed.page) and any(_is_named(name, printed.command) for name in self.commands)


@dataclass(frozen=True)
class Entries:
    """The file of entries."""

    entries: tuple[Entry, ...]
    stands_for: dict[str, str]

    def run_of(self, printed: PrintedCommand) -> CommandRun:
        """What is run for a command."""
        how: dict[str, Any] = {}
        for entry in self.entries:
            if entry.is_about(printed):
                assert not how.keys() & entry.how.keys(), f"two entries for `{printed.command}` of {printed.page}"
                how |= entry.how
        run = replace(CommandRun(how.pop("instead", printed.command)), **how)
        return replace(run, command=self._filled(run.command), before=tuple(map(self._filled, run.before)))

    def stale(self, printed: Iterable[PrintedCommand]) -> list[str]:
        """What the file names and no page prints."""
        commands = list(printed)
        found = [
            f"{entry.page} {name}".strip()
            for entry in self.entries
            for name in entry.commands
            if not any(replace(entry, commands=(name,)).is_about(command) for command in commands)
        ]
        return found + [blank for blank in self.stands_for if not any(blank in item.command for item in commands)]

    def _filled(self, command: str) -> str:
        for blank, filled in self.stands_for.items():
            command = filled.join(re.split(rf"(?<!\w){re.escape(blank)}(?!\w)", command))
        return command


def read_entries(text: str) -> Entries:
    """The entries of a file; each has a reason."""
    table = tomllib.loads(text)
    entries = []
    for how in table["entry"]:
        commands, why, page = how.pop("commands"), how.pop("why"), how.pop("page", "")
        assert how.keys() <= {"instead", *CommandRun.__dataclass_fields__} - {"command"}, how
        assert len(why) > 10, commands
        entries.append(Entry(tuple(commands), why, page, how))
    return Entries(tuple(entries), table["stands_for"])


def shipped_entries() -> Entries:
    """The entries for the commands of kmc's pages and help."""
    return read_entries(FILE.read_text(encoding="utf-8"))


def _is_named(name: str, command: str) -> bool:
    return command.startswith(name[:-1]) if name.endswith("*") else name == command
