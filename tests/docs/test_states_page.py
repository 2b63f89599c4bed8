"""The page about states is true: its questions have the answers that it shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

PAGE = Path(__file__).parents[2] / "docs" / "states.md"
CONSOLE = re.compile(r"^```console\n\$ kmc (.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def questions() -> Iterator[tuple[list[str], str]]:
    """The words of each question of the page, and the answer that it shows."""
    for block in CONSOLE.findall(PAGE.read_text(encoding="utf-8")):
        lines = block.splitlines(keepends=True)
        end = next(count for count in range(1, len(lines) + 1) if "".join(lines[:count]).count('"') == 2)
        yield shlex.split("".join(lines[:end])), "".join(lines[end:])


@pytest.mark.slow
def test_the_questions_have_the_answers_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (commands,) = SHELL.findall(PAGE.read_text(encoding="utf-8"))
    run = ""
    for line in commands.splitlines():
        assert kmc(*shlex.split(line.replace("RUN", run))[1:]).exit_code in (0, 20)
        (run,) = map(str, Path(".kmc/runs").iterdir())
    asked = list(questions())
    assert len(asked) == 3
    for words, answer in asked:
        assert kmc(*(run if word == "RUN" else word for word in words)).stdout == answer
