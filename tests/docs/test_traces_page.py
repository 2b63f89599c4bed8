"""The page about traces is true: its commands run, print what it shows, and its test passes."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc, steady

PAGE = Path(__file__).parents[2] / "docs" / "traces.md"
TEXT = PAGE.read_text(encoding="utf-8")
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TRACE = Path(__file__).parents[1] / "data" / "views" / "own_vote_elects.itf.json"
CHECK = "kmc check kip_996 own_vote_elects"
STATUSES = {"kmc replay last --model smoke": 10}


def shown_commands() -> Iterator[tuple[str, str]]:
    """Each command of the page, and what the page shows of its output."""
    for block in CONSOLE.findall(TEXT):
        for part in block.removeprefix("$ ").split("\n$ "):
            command, _, shown = part.rstrip().partition("\n")
            yield command, shown


@pytest.mark.slow
def test_the_commands_run_and_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The check itself is that of a finding, which other tests run; here is the trace that it saves.
    run = tmp_path / ".kmc" / "runs" / "kip_996-own_vote_elects-20260101-000000"
    run.mkdir(parents=True)
    shutil.copy(TRACE, run / "trace.itf.json")
    monkeypatch.chdir(tmp_path)
    commands = list(shown_commands())
    assert commands[0] == (CHECK, "")
    for command, shown in commands[1:]:
        found = kmc(*shlex.split(command)[1:])
        assert found.exit_code == STATUSES.get(command, 0), found.output
        assert steady(found.stdout).startswith(shown)
        if command.endswith("tlc-json"):
            Path("trace.tlc.json").write_text(found.stdout, encoding="utf-8")
    assert len(commands) == 21
    assert 'fails="ElectionSafety"' in Path("test_election_safety.py").read_text(encoding="utf-8")


def test_the_test_of_the_page_passes(tmp_path: Path) -> None:
    (source,) = PYTHON.findall(TEXT)
    path = tmp_path / "written.py"
    path.write_text(source, encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(source, str(path), "exec"), names)  # an example of the page
    test = names["test_consistent_is_violated"]
    assert callable(test)
    test()
