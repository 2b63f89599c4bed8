"""Literate tests of the command line: `$ kmc ...`, its output, `[exit status]`, in the files tests/data/cli/*.txt.

The commands of a file run one after the other in one fresh folder that holds a copy of the spec `counter`. Set
KMC_UPDATE_GOLDEN=1 to write what the commands print now into the files, then read the difference with care.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, DATA, kmc, steady

SCRIPTS = sorted(DATA.glob("*.txt"))


def transcript(script: str) -> str:
    """The script with the output that its commands have now."""
    lines: list[str] = []
    for line in script.splitlines():
        if line.startswith("#") or (not line and lines and lines[-1].startswith("#")):
            lines.append(line)
        if line.startswith("$ kmc "):
            ran = kmc(*map(_expanded, shlex.split(line)[2:]))
            lines += [line, *steady(ran.output).rstrip().splitlines(), f"[exit {ran.exit_code}]", ""]
    return "\n".join(lines).rstrip() + "\n"


def _expanded(word: str) -> str:
    """The path that a word with a star stands for, as a shell would put it in; with `#STEP` behind it."""
    path, mark, step = word.partition("#")
    return str(next(iter(Path().glob(path)))) + mark + step if "*" in path else word


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_the_commands_print_what_the_file_shows(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(COUNTER, tmp_path / "counter", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    wanted = script.read_text(encoding="utf-8")
    found = transcript(wanted)
    if os.environ.get("KMC_UPDATE_GOLDEN"):
        script.write_text(found, encoding="utf-8")
    assert found == wanted


def test_there_are_scripts() -> None:
    assert SCRIPTS
