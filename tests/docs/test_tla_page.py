"""The page about TLA+ modules is true: its commands print what it shows, and its Python runs.

Set KMC_UPDATE_GOLDEN=1 to write what the commands print now into the page.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc, steady

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tla.md"
CONSOLE = re.compile(r"^```console\n\$ (.*)\n((?:.*\n)*?)```$", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The text of the page, in a folder with its modules."""
    shutil.copytree(ROOT / "docs" / "tla", tmp_path / "docs" / "tla")
    monkeypatch.chdir(tmp_path)
    return PAGE.read_text(encoding="utf-8")


def shown(block: re.Match[str]) -> str:
    """Return a block with what its command prints now."""
    return f"```console\n$ {block[1]}\n{kmc(*shlex.split(block[1])[1:]).stdout.rstrip()}\n```"


@pytest.mark.slow
def test_the_commands_of_the_page_print_what_it_shows(page: str) -> None:
    found = CONSOLE.sub(shown, page)
    if os.environ.get("KMC_UPDATE_GOLDEN"):
        PAGE.write_text(found, encoding="utf-8")
    assert steady(found) == steady(page)
    assert len(CONSOLE.findall(page)) == 6


def test_the_python_of_the_page_runs(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = PYTHON.findall(page)
    # Reason for exec: the example is the text of the page.
    exec(compile(example, str(PAGE), "exec"), {})
    assert re.fullmatch(r"\d+ \d+ \d+\n", capsys.readouterr().out)
