"""Any text in the place of any argument: a command answers or refuses it, and never ends by a mistake of kmc's."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import click
import pytest
from support.commands.cli_runner import COUNTER, kmc

from kmc.cli.program import COMMANDS

HOSTILE = {
    "nothing": "",
    "blank": " ",
    "long": "y" * 300,
    "very long": "y" * 5000,
    "long path": "/".join(["y" * 300, "z"]),
    "deep path": "d/" * 3000,
    "dots": "..",
    "dash": "-",
    "semicolon": ";",
    "newline": "a\nb",
    "control characters": "\x1b[31m\x07\x7f",
    "wildcards": "[*?",
    "hash": "#",
    "numbered": "a#b#99999999999999999999",
    "many digits": "9" * 5000,
    "beyond 64 bits": "9" * 25,
    "negative": "-1",
    "zero": "0",
    "no number": "nan",
    "infinity": "1e400",
    "size and duration": "9" * 400 + "d",
    "years": "99999999999999d",
    "set of many digits": f"Top={'9' * 5000}",
    "null device": "/dev/null",
    "device folder": "/dev/fd",
    "text file": "file.txt",
    "binary file": "binary.json",
    "python file": "mistake.py",
    "module": "mistake.tla",
    "link in a circle": "circle",
    "broken link": "broken.json",
    "folder of no spec": "empty",
    "surprising unicode": "\u202eé𝔘",
}
"""What a person, a script or a stranger may type; NUL and lone surrogates cannot be passed by a shell."""

# A line of each command that answers at once, as a mapping from the name of a parameter to its words.
CHECKED = ("--engine", "python", "--no-run-dir", "--quiet")
LINES: dict[str, Sequence[str]] = {
    "bench": ("nowhere", "nowhere"),
    "check": (COUNTER, "smoke", *CHECKED),
    "claims": ("1",),
    "conform": ("die_hard", "nowhere.json"),
    "eval": (COUNTER, "smoke", "1"),
    "explore": (COUNTER, "smoke", "--no-browser"),
    "graph": (COUNTER, "smoke"),
    "new": ("made",),
    "plan": (COUNTER, "smoke"),
    "query": ("run", "SELECT 1"),
    "replay": ("trace.itf.json",),
    "report": ("nowhere", "smoke"),
    "runs": (),
    "simulate": (COUNTER, "smoke", "--number", "1", "--depth", "2", "--timeout", "1s", "--no-run-dir"),
    "specs": ("die_hard",),
    "states": ("run",),
    "trace": ("trace.itf.json",),
    "translate": ("nowhere.tla", "made"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with files of wrong kinds, and an explorer and benchmarks that end at once."""
    monkeypatch.chdir(tmp_path)
    Path("file.txt").write_text("text")
    Path("binary.json").write_bytes(bytes(range(256)))
    Path("mistake.py").write_text("def (:\n")
    Path("mistake.tla").write_text("---- MODULE mistake ----\nInit == \n")
    Path("circle").symlink_to("circle")
    Path("broken.json").symlink_to("nowhere.json")
    Path("empty").mkdir()
    monkeypatch.setattr("kmc.explorer.server.ExplorerServer", Mock())
    return tmp_path


def lines_with(command: str, word: str) -> list[list[str]]:
    """The lines of a command with `word` in the place of each argument, and as the value of each option."""
    module, name = COMMANDS[command][0].split(":")
    declared: click.Command = getattr(importlib.import_module(f"kmc.cli.commands.{module}"), name)
    line = list(LINES[command])
    plain = [at for at, text in enumerate(line) if not text.startswith("--") and line[max(0, at - 1)] != "--engine"]
    found = [[*line[:at], word, *line[at + 1 :]] for at in plain]
    found += [[*line, word]]
    for parameter in declared.params:
        if isinstance(parameter, click.Option) and not parameter.is_flag:
            found += [[*line, f"{parameter.opts[0]}={word}"]]
    return [[command, *words] for words in found]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_of_an_argument_ends_a_command_by_a_mistake(command: str, kind: str, place: Path) -> None:
    for words in lines_with(command, HOSTILE[kind]):
        ran = kmc(*words)
        assert ran.exit_code != 255, (words, ran.stderr)
        assert "KMC900" not in ran.stderr, (words, ran.stderr)
