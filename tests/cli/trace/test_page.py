"""`kmc trace --html` writes the page of a trace, and every saved counterexample has one beside it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc

TRACE = Path(__file__).parents[2] / "data" / "views" / "own_vote_elects.itf.json"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_a_page_stands_beside_the_trace_unless_a_file_is_given(tmp_path: Path) -> None:
    trace = tmp_path / "election.itf.json"
    shutil.copy(TRACE, trace)
    beside = kmc("trace", str(trace), "--html")
    assert (beside.exit_code, beside.stdout) == (0, "Page: election.html\n")
    given = kmc("trace", str(trace), "--html", "other.html")
    assert (given.exit_code, given.stdout) == (0, "Page: other.html\n")
    text = Path("election.html").read_text(encoding="utf-8")
    assert text == Path("other.html").read_text(encoding="utf-8")
    assert "<h1>ElectionSafety does not hold</h1>" in text
    assert kmc("trace", str(trace), "--format", "html").stdout.strip() == text.strip()


def test_a_trace_is_never_overwritten_by_its_page() -> None:
    refused = kmc("trace", "--html", str(TRACE), str(TRACE))
    assert "error[KMC680]" in refused.stderr
    assert "write kmc trace FILE --html" in refused.stderr


def test_a_page_that_cannot_be_written_is_an_error() -> None:
    refused = kmc("trace", str(TRACE), "--html", "absent/page.html")
    assert "error[KMC506]: cannot write the page absent/page.html: No such file or directory" in refused.stderr
    assert refused.exit_code == 153


def test_a_saved_counterexample_has_the_page_that_its_trace_has() -> None:
    told = kmc("check", COUNTER, "two").stdout
    (folder,) = Path(".kmc/runs").iterdir()
    assert f"Open in a browser: {folder}/trace.html\n" in told
    saved = (folder / "trace.html").read_text(encoding="utf-8")
    walk = f"kmc explore {COUNTER} --from {folder}/trace.itf.json"
    assert f"<pre>kmc check {COUNTER} two\n{walk}</pre>" in saved
    assert f"Walk on from it: {walk}\nReproduce: kmc check {COUNTER} two\n" in told
    assert kmc("trace", str(folder / "trace.itf.json"), "--spec", COUNTER, "--html", "again.html").exit_code == 0
    again = Path("again.html").read_text(encoding="utf-8")
    replay = f"kmc replay {folder}/trace.itf.json --spec {COUNTER}"
    assert again.strip() == saved.strip().replace(f"<pre>kmc check {COUNTER} two\n", f"<pre>{replay}\n")


def test_the_commands_of_a_page_work_where_the_check_ran(tmp_path: Path) -> None:
    shutil.copytree(COUNTER, tmp_path / "counter", ignore=shutil.ignore_patterns("__pycache__"))
    assert kmc("simulate", "./counter", "two", "--seed", "3", "--quiet").exit_code == 12
    (folder,) = Path(".kmc/runs").iterdir()
    saved = (folder / "trace.html").read_text(encoding="utf-8")
    assert "<pre>kmc simulate ./counter two --seed 3\nkmc explore ./counter --from " in saved
    assert '"place":"counter/spec.py:' in saved
    assert kmc("trace", str(folder), "--html", "again.html").exit_code == 0
    replay = f"kmc replay {folder}/trace.itf.json --spec ./counter"
    assert f"<pre>{replay}\n" in Path("again.html").read_text(encoding="utf-8")
    assert kmc(*replay.split()[1:]).exit_code == 0


@pytest.mark.slow
def test_a_check_that_finds_nothing_loads_no_story_page_or_server() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from kmc.cli.program import cli\n"
        f"ran = CliRunner().invoke(cli, ['check', {COUNTER!r}, 'smoke', '--engine', 'python', '--no-run-dir'])\n"
        "late = ('kmc.story.', 'kmc.views.page', 'kmc.views.text', 'kmc.explorer.', 'kmc.api')\n"
        "print(ran.exit_code, sorted(name for name in sys.modules if name.startswith(late)))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "0 []\n"
