"""The page about CI is true: its jobs are green and red when they should be, and its tables are the program's."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from support.commands.cli_runner import COUNTER, kmc

import kmc.cli.running.child_check as child_check
from kmc.errors import ExitStatus
from kmc.result import Verdict

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MANIFEST = """
[models.smoke]
description = "All of it"
invariants = ["InRange"]
deadlock = false
expect = { origin = "by hand", result = "ok", distinct = 4 }

[findings.two]
title = "The counter reaches two"
description = "An invariant that fails"
invariants = ["BelowTwo"]
deadlock = false
"""


def blocks(language: str) -> list[str]:
    """The blocks of the page in this language."""
    return [text for found, text in BLOCKS if found == language]


@pytest.fixture(autouse=True)
def _in_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder `specs` with one spec; checks run in this process, on the interpreter."""

    def run(words: Sequence[str]) -> tuple[int, str, str]:
        done = kmc(*words, "--engine", "python")
        return done.exit_code, done.stdout, done.stderr

    (tmp_path / "specs" / "counter").mkdir(parents=True)
    shutil.copy(Path(COUNTER) / "spec.py", tmp_path / "specs" / "counter")
    Path(tmp_path, "specs", "counter", "models.toml").write_text(MANIFEST, encoding="utf-8")
    monkeypatch.setattr(child_check, "run", run)
    monkeypatch.chdir(tmp_path)


def commands() -> dict[str, list[str]]:
    """The command of each job that checks, as its words behind `kmc`."""
    (github,) = re.findall(r"- run: (kmc .*)", blocks("yaml")[0])
    (jenkins,) = re.findall(r"sh '\.venv/bin/(kmc .*)'", blocks("groovy")[0])
    return {"GitHub": shlex.split(github)[1:], "Jenkins": shlex.split(jenkins)[1:]}


@pytest.mark.parametrize("job", commands())
def test_the_job_is_green_when_all_is_as_expected(job: str) -> None:
    ran = kmc(*commands()[job])
    assert (ran.exit_code, ran.stdout.splitlines()[-1]) == (0, "EXPECTED specs: 2 of 2 as expected")
    assert ElementTree.parse("kmc.xml").getroot().get("failures") == "0"
    assert [path.parent.name[:11] for path in Path("runs").glob("*/trace.html")] == ["counter-two"]


@pytest.mark.parametrize("job", commands())
def test_the_job_is_red_for_a_violation_and_its_trace_is_in_the_log_and_in_the_report(job: str) -> None:
    text = MANIFEST.replace('["InRange"]', '["BelowTwo"]')
    Path("specs/counter/models.toml").write_text(text, encoding="utf-8")
    ran = kmc(*commands()[job])
    assert ran.exit_code == 10
    step = "3  Climb(1): count 1 -> 2"
    assert f"  {step}" in ran.stdout.splitlines()
    (failure,) = ElementTree.parse("kmc.xml").iterfind(".//testcase[@name='smoke']/failure")
    assert step in (failure.text or "").splitlines()


def test_the_steps_of_the_jobs_are_yaml_and_each_runs_a_command_or_an_action() -> None:
    job, *others = map(yaml.safe_load, blocks("yaml"))
    assert job["jobs"].keys() == {"models"}
    found = [*job["jobs"]["models"]["steps"], *(step for steps in others for step in steps)]
    assert len(found) == 10
    assert [step for step in found if len(step.keys() & {"run", "uses"}) != 1] == []


def test_the_key_of_the_cache_names_the_processor_of_the_runner(tmp_path: Path) -> None:
    steps = yaml.safe_load(blocks("yaml")[0])["jobs"]["models"]["steps"]
    (kind,) = [step for step in steps if step.get("id") == "cpu"]
    (cache,) = [step for step in steps if "cache" in step.get("uses", "")]
    output = tmp_path / "output"
    subprocess.run(["bash", "-ec", kind["run"]], env={**os.environ, "GITHUB_OUTPUT": str(output)}, check=True)
    name, _, value = output.read_text(encoding="utf-8").strip().partition("=")
    assert re.fullmatch("[0-9a-f]{12}", value)
    assert value != sha256(b"").hexdigest()[:12]
    assert f"${{{{ steps.cpu.outputs.{name} }}}}" in cache["with"]["key"]


def test_the_first_command_prints_what_is_shown() -> None:
    command, _, printed = blocks("console")[0].partition("\n")
    seconds = re.compile(r" \([^()]* s\)$", re.MULTILINE)
    assert seconds.sub("", kmc(*shlex.split(command)[2:], "--no-run-dir").stdout) == seconds.sub("", printed)


def test_every_exit_status_of_a_check_is_in_the_table() -> None:
    rows = re.findall(r"^\| ([0-9, ]+) \|", PAGE, re.MULTILINE)
    told = {int(status) for row in rows for status in row.split(",")}
    assert {int(status) for status in ExitStatus} - told == {ExitStatus.INTERNAL}
    assert told <= {int(status) for status in ExitStatus}


def test_every_word_of_a_verdict_is_named() -> None:
    words = {verdict.name for verdict in Verdict} - {"BOUND_REACHED"} | {"BOUND", "EXPECTED", "UNEXPECTED", "STRICT"}
    assert [word for word in words if f"`{word}`" not in PAGE] == []


def test_every_option_that_is_named_exists() -> None:
    words = kmc("check", "--help").stdout
    options = set(re.findall(r"--[a-z][a-z-]*", PAGE)) - {"--kmc-timeout", "--junitxml", "--no-deps", "--wheel-dir"}
    assert len(options) > 12
    assert [option for option in sorted(options) if option not in words] == []
