"""The file of a JUnit report is whole or not there, and a folder that cannot hold it is refused before the check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.commands.cli_runner import COUNTER, kmc

from kmc.cli.saved.junit_file import refuse_unwritable, write_junit
from kmc.failpoints import FAILPOINT_VARIABLE


def test_a_junit_report_in_a_folder_that_is_missing_says_so() -> None:
    assert "the folder missing does not exist\n" in kmc("check", COUNTER, "--junit", "missing/report.xml").stderr


def test_a_junit_report_is_there_only_when_it_is_whole(tmp_path: Path) -> None:
    there: list[list[str]] = []
    report = tmp_path / "kept" / "report.xml"
    report.parent.mkdir()
    refuse_unwritable(str(report))
    there.append(list(map(str, report.parent.iterdir())))
    report.write_text("an old one", encoding="utf-8")
    refuse_unwritable(str(report))
    assert (there, report.read_text(encoding="utf-8")) == ([[]], "an old one")
    write_junit(str(report), "<whole/>")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in report.parent.iterdir()] == [
        ("report.xml", "<whole/>")
    ]


def test_a_process_that_dies_while_it_writes_the_report_leaves_the_one_before(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text("an old one", encoding="utf-8")
    program = f"from kmc.cli.saved.junit_file import write_junit; write_junit({str(report)!r}, 'new')"
    environment = {**os.environ, FAILPOINT_VARIABLE: "before sync junit"}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == -9
    assert report.read_text(encoding="utf-8") == "an old one"


def test_a_junit_report_goes_through_a_link_and_to_a_device(tmp_path: Path) -> None:
    (tmp_path / "link.xml").symlink_to(tmp_path / "real.xml")
    write_junit(str(tmp_path / "link.xml"), "<whole/>")
    assert (tmp_path / "link.xml").is_symlink()
    assert (tmp_path / "real.xml").read_text(encoding="utf-8") == "<whole/>"
    refuse_unwritable("/dev/null")
    write_junit("/dev/null", "<whole/>")
