"""A JUnit report is never one of a run before: it says from the beginning on that the check has not ended."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, kmc

import kmc.cli.commands.check as check_command
import kmc.cli.running.child_check as child_check
from kmc.cli.saved.junit_file import write_unfinished

NOT_ENDED = "the check did not end: its process was killed, or is still at work"
QUICK = ("--engine", "python", "--no-run-dir", "--quiet", "--junit", "report.xml")
GREEN = '<testsuite name="a green one of yesterday" />'


@pytest.fixture(autouse=True)
def _beside_an_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("report.xml").write_text(GREEN, encoding="utf-8")


def outcomes() -> list[tuple[str, str, str]]:
    """Each test case of the report: name, outcome, and message."""
    found = []
    for case in ElementTree.parse("report.xml").iter("testcase"):
        details = [child for child in case if child.tag != "system-out"]
        found.append((case.get("name", ""), *next(((d.tag, d.get("message", "")) for d in details), ("passed", ""))))
    return found


class _Killed(BaseException):
    """As SIGKILL: nothing that a check does on its way out happens."""


def test_a_check_that_is_killed_leaves_no_report_of_the_run_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(_: object) -> None:
        raise _Killed

    monkeypatch.setattr(check_command, "_run", killed)
    with pytest.raises(_Killed):
        kmc("check", COUNTER, "smoke", *QUICK)
    assert outcomes() == [("every reachable state is explored", "error", NOT_ENDED)]


def test_a_check_of_all_that_is_killed_leaves_what_was_done_until_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(COUNTER, tmp_path / "counter")
    lines = ["[models.one]", 'description = "It holds"', 'invariants = ["InRange"]', "deadlock = false", ""]
    text = "\n".join(line for name in ("one", "two", "three") for line in [lines[0].replace("one", name), *lines[1:]])
    (tmp_path / "counter" / "models.toml").write_text(text, encoding="utf-8")
    before: list[list[tuple[str, str, str]]] = []

    def run(words: Sequence[str]) -> tuple[int, str, str]:
        before.append(outcomes())
        if len(before) == 2:
            raise _Killed
        done = kmc(*words)
        return done.exit_code, done.stdout, done.stderr

    monkeypatch.setattr(child_check, "run", run)
    with pytest.raises(_Killed):
        kmc("check", "counter", "--all", *QUICK)
    waits = "not begun when the process was killed, or not yet"
    assert before == [
        [("one", "error", NOT_ENDED), ("two", "skipped", waits), ("three", "skipped", waits)],
        [("one", "passed", ""), ("two", "error", NOT_ENDED), ("three", "skipped", waits)],
    ]
    assert outcomes() == before[1]


def test_what_cannot_be_replaced_is_written_once_and_a_full_disk_is_told_at_the_end() -> None:
    write_unfinished("/dev/full", "<begun/>")
    write_unfinished("missing/report.xml", "<begun/>")
    assert "missing" not in {path.name for path in Path().iterdir()}
