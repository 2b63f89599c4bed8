"""Running the command line in this process, for the tests: no colour, no terminal, in a folder of the test's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from kmc.cli.program import cli

DATA = Path(__file__).parents[2] / "data" / "cli"
COUNTER = str(DATA / "counter")

_ENVIRONMENT = {"COLUMNS": "100", "FORCE_COLOR": None, "NO_COLOR": None, "TTY_COMPATIBLE": None}

# What differs from run to run and from machine to machine, and what stands for it in golden files.
_VARYING = (
    # A slow machine reports progress where a fast one has ended.
    (re.compile(r"^(Progress\(|Compiling |Building the behaviour graph|Searching lassos).*\n", re.MULTILINE), ""),
    (re.compile(re.escape(str(DATA.parents[2].resolve()) + "/")), ""),
    (re.compile(r"^[0-9.]+ (s|min [0-9]+ s), .* engine (\w+)\.$", re.MULTILINE), r"<time>, <memory>, engine \2."),
    (re.compile(r"(?<=, seed )([0-9]+), .*\.$", re.MULTILINE), r"\1, <time>."),
    (re.compile(r"-[0-9]{8}-[0-9]{6}\b"), "-<time>"),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"), "<date and time>"),
)


def kmc(*words: str) -> Result:
    """Run `kmc` with these words; its exit status, stdout and stderr."""
    return CliRunner().invoke(cli, list(words), env=_ENVIRONMENT)


def check_json(*words: str) -> dict[str, Any]:
    """The object that `kmc check ... --json` prints, saving nothing."""
    found: dict[str, Any] = json.loads(kmc("check", *words, "--json", "--no-run-dir").stdout)
    return found


def steady(text: str) -> str:
    """The text with a fixed word for what varies."""
    for pattern, fixed in _VARYING:
        text = pattern.sub(fixed, text)
    return text
