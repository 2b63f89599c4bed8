"""`kmc check SPEC --all`: which models are checked, what is told of each, and what the reports have.

The checks run in this process here, but where the process is what a test is about.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, kmc
from support.faults.full_memory import LIMIT, use_up_memory

import kmc.cli.running.child_check as child_check
from kmc.cli.commands import check_all
from kmc.compile_log import CacheFault, CompileLog

MANIFEST = """
[models.smoke]
description = "All of it"
invariants = ["InRange"]
deadlock = false
never_fires = ["Fall"]
expect = { origin = "by hand", result = "ok", distinct = 4, unreached_goals = ["beyond_the_top"] }

[models.large]
description = "More than one wants to wait for, says its manifest"
invariants = ["InRange"]
deadlock = false
expect = { origin = "guessed", result = "ok", distinct = 2000000 }

[findings.two]
title = "The counter reaches two"
description = "An invariant that fails"
invariants = ["BelowTwo"]
deadlock = false

[mutants.lame]
title = "Two is the top"
description = "A mutant that nothing kills"
constants = { Top = 2 }
invariants = ["InRange"]
deadlock = false
"""
QUICK = ("--engine", "python", "--no-run-dir", "--quiet")


@pytest.fixture(autouse=True)
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A counter with a model that is as expected, one that is too large, a finding, and a mutant that is not killed."""
    folder = tmp_path / "counter"
    folder.mkdir()
    shutil.copy(Path(COUNTER) / "spec.py", folder)
    (folder / "models.toml").write_text(MANIFEST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines of the checks, which run in this process."""
    ran: list[list[str]] = []

    def run(words: Sequence[str]) -> tuple[int, str, str]:
        ran.append([*words[: words.index("--json")]])
        done = kmc(*words)
        return done.exit_code, done.stdout, done.stderr

    monkeypatch.setattr(child_check, "run", run)
    return ran


def shown(*words: str) -> tuple[int, list[str]]:
    """The exit status and the lines of `kmc check --all` of the counter."""
    ran = kmc("check", *words, "--all", *QUICK)
    return ran.exit_code, ran.stdout.splitlines()


@pytest.mark.usefixtures("checks")
def test_each_model_has_a_line_below_its_kind_and_the_last_line_is_the_verdict() -> None:
    status, lines = shown("counter")
    assert status == 10
    assert [line.partition(" (")[0] for line in lines[:9]] == [
        "Models",
        "  smoke  as expected  4 distinct states, all 4 levels",
        "  large  left out     2,000,000 states expected, more than --max-cost 1,000,000",
        "",
        "Findings",
        "  two    as expected  BelowTwo fails, a trace of 3 states",
        "",
        "Mutants",
        "  lame   UNEXPECTED   A mutant is expected to fail, and nothing did",
    ]
    assert lines[-5:] == [
        "models              1           0         1",
        "findings            1           0         0",
        "mutants             0           1         0",
        "all                 2           1         1",
        "UNEXPECTED counter: 2 of 4 as expected, 1 unexpected, 1 left out",
    ]


@pytest.mark.usefixtures("checks")
def test_a_model_with_warnings_has_their_number_and_the_command_that_shows_them(counter: Path) -> None:
    assert "Warnings" not in "".join(shown("counter", "--kind", "model")[1])
    text = MANIFEST.replace('never_fires = ["Fall"]\n', "")
    text = text.replace('[mutants.lame]\ntitle = "Two is the top"', "[models.lame]")
    (counter / "models.toml").write_text(text, encoding="utf-8")
    status, lines = shown("counter", "--kind", "model")
    assert status == 0
    assert [line.partition(" (0")[0] for line in lines[1:7]] == [
        "  smoke  as expected  4 distinct states, all 4 levels (1 warning)",
        "  large  left out     2,000,000 states expected, more than --max-cost 1,000,000",
        "  lame   as expected  3 distinct states, all 3 levels (2 warnings)",
        "",
        "Warnings: kmc check counter smoke shows them, and so for 1 more model.",
        "",
    ]
    assert lines[-1] == "EXPECTED counter: 2 of 3 as expected, 1 left out"


@pytest.mark.parametrize(
    ("words", "status", "names"),
    [
        (["--kind", "finding"], 0, ["two"]),
        (["--kind", "finding", "--kind", "mutant"], 10, ["two", "lame"]),
        (["--kind", "model", "--max-cost", "2000000"], 10, ["smoke", "large"]),
        (["--kind", "model", "--strict"], 0, ["smoke"]),
        (["--kind", "finding", "--total-timeout", "0.000001"], 20, []),
        (["--kind", "finding", "--total-timeout", "0.000001", "--bounded-ok"], 0, []),
    ],
)
def test_kinds_and_costs_choose_what_is_checked(
    words: list[str], status: int, names: list[str], checks: list[list[str]]
) -> None:
    assert shown("counter", *words)[0] == status
    assert [ran[2] for ran in checks] == names
    assert all("--expect" in ran and ("--strict" in ran) == ("--strict" in words) for ran in checks)


@pytest.mark.usefixtures("checks")
def test_the_verdict_is_not_expected_where_the_time_ran_out() -> None:
    lines = shown("counter", "--kind", "finding", "--total-timeout", "0.000001", "--bounded-ok")[1]
    assert lines[-1] == "BOUND counter: 0 of 1 as expected, 1 not checked"


def test_a_check_gets_what_is_left_of_the_time(checks: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    # Half a second passes between two looks at the clock.
    monkeypatch.setattr(check_all, "time", SimpleNamespace(monotonic=itertools.count(1000.0, 0.5).__next__))
    shown("counter", "--kind", "model", "--total-timeout", "1h", "--timeout", "10s")
    assert checks[0][-4:] == ["--timeout", "10s", "--engine", "python"]
    shown("counter", "--kind", "model", "--total-timeout", "9s", "--timeout", "10s")
    assert checks[1][-4:] == ["--timeout", "8.5s", "--engine", "python"]


@pytest.mark.usefixtures("checks")
def test_the_trace_of_what_is_not_expected_is_shown_with_the_command_that_repeats_it(counter: Path) -> None:
    (counter / "models.toml").write_text(MANIFEST.replace('"InRange"', '"NotZero"', 1), encoding="utf-8")
    status, lines = shown("counter", "--kind", "model")
    assert status == 10
    assert "counter smoke: NotZero fails; result: expected ok, found violation (and 2 more)" in lines
    assert "  NotZero fails: count is 0." in lines
    assert "  Reproduce: kmc check counter smoke --expect --no-run-dir --engine python" in lines
    # What was left of the total time is not a part of it, since it was not typed.
    assert shown("counter", "--kind", "model", "--total-timeout", "9m")[1][3:] == lines[3:]
    limited = "  Reproduce: kmc check counter smoke --expect --no-run-dir --timeout 5m --engine python"
    assert limited in shown("counter", "--kind", "model", "--total-timeout", "9m", "--timeout", "5m")[1]


def below(title: str, lines: list[str]) -> list[str]:
    """The lines of the list of what is not as expected, below this title."""
    first = lines.index(title) + 1
    return [line.strip() for line in lines[first : lines.index("", first)]]


@pytest.mark.usefixtures("checks")
def test_a_check_that_a_limit_cut_short_is_told_once_with_the_limit_the_figures_and_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_up_memory(monkeypatch)
    status, lines = shown("counter", "--kind", "model", "--memory", LIMIT)
    told = "--memory 64.0GB ended the check before its first step"
    # In the list, and above what is told of it.
    assert (status, sum(told in line for line in lines[:-1])) == (10, 2)
    proved, *_, repeat = below(f"counter smoke: The result is not compared: {told}", lines)
    assert proved.startswith("Nothing is proved: the limit on memory was reached before the search; 1 initial state")
    assert repeat == "Reproduce: kmc check counter smoke --expect --memory 64G --no-run-dir --engine python"


@pytest.mark.usefixtures("checks")
def test_a_wrong_count_is_told_once_with_the_command(counter: Path) -> None:
    manifest = MANIFEST.replace("distinct = 4", "distinct = 5")
    (counter / "models.toml").write_text(manifest, encoding="utf-8")
    _, lines = shown("counter", "--kind", "model")
    proved, repeat = below("counter smoke: distinct: expected 5, found 4", lines)
    assert proved.startswith("Proved: ")
    assert repeat == "Reproduce: kmc check counter smoke --expect --no-run-dir --engine python"


@pytest.mark.usefixtures("checks")
def test_the_junit_report_has_a_case_a_model_with_its_trace() -> None:
    assert kmc("check", "counter", "--all", *QUICK, "--junit", "report.xml").exit_code == 10
    suite = ElementTree.parse("report.xml").getroot()
    assert [suite.get(key) for key in ("name", "tests", "failures", "errors", "skipped")] == [
        *("kmc.counter", "4", "1", "0", "1")
    ]
    cases = {(case.get("classname"), case.get("name")): case for case in suite.iter("testcase")}
    assert [*cases] == [
        *(("counter.models", "smoke"), ("counter.models", "large")),
        *(("counter.findings", "two"), ("counter.mutants", "lame")),
    ]
    assert "3  Climb(1): count 1 -> 2" in cases["counter.findings", "two"].findtext("system-out", "")
    skipped = cases["counter.models", "large"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "left out: 2,000,000 states expected, more than --max-cost 1,000,000"
    failure = cases["counter.mutants", "lame"].find("failure")
    assert failure is not None
    assert failure.get("message") == "A mutant is expected to fail, and nothing did"
    assert suite.findtext("system-out", "").startswith("UNEXPECTED counter: ")


def json_of(*words: str) -> tuple[int, dict[str, Any]]:
    """The exit status and the object of `kmc check --all --json`."""
    ran = kmc("check", "counter", "--all", *QUICK, "--json", *words)
    return ran.exit_code, json.loads(ran.stdout)


@pytest.mark.usefixtures("checks")
def test_the_json_object_has_all_results() -> None:
    status, found = json_of()
    assert (status, found["exit_status"], found["result"]) == (10, 10, "unexpected")
    assert found["counts"] == {"expected": 2, "unexpected": 1, "left out": 1, "not checked": 0, "interrupted": 0}
    models = {model["model"]: model for model in found["models"]}
    assert [models[name]["kind"] for name in ("smoke", "two", "lame")] == ["model", "finding", "mutant"]
    assert (models["smoke"]["result"]["distinct"], models["large"]["result"]) == (4, None)
    assert models["two"]["result"]["trace"][2]["label"] == "Climb(1)"


@pytest.mark.usefixtures("checks")
def test_each_warning_of_the_checks_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    log = CompileLog()
    log.not_kept(CacheFault("/proc/nope", "No such file"))
    monkeypatch.setattr("kmc.checking.check.LOG", log)
    ran = kmc("check", "counter", "--all", *QUICK, "--json")
    (warning,) = json.loads(ran.stdout)["warnings"]
    assert warning.startswith("Compiled code cannot be kept in /proc/nope (No such file)")
    assert ran.stderr.splitlines() == [f"Warning: {warning}"]


def interrupting(monkeypatch: pytest.MonkeyPatch, checks: list[list[str]]) -> None:
    """Let Ctrl-C come in the second check."""
    in_process = child_check.run

    def run(words: Sequence[str]) -> tuple[int, str, str]:
        if checks:
            raise KeyboardInterrupt
        return in_process(words)

    monkeypatch.setattr(child_check, "run", run)


def test_an_interrupt_tells_what_was_done(monkeypatch: pytest.MonkeyPatch, checks: list[list[str]]) -> None:
    interrupting(monkeypatch, checks)
    status, lines = shown("counter")
    assert status == 130
    assert lines[-1] == "INTERRUPTED counter: 1 of 4 as expected, 1 left out, 1 not checked, 1 interrupted"


def test_an_interrupt_leaves_the_reports(monkeypatch: pytest.MonkeyPatch, checks: list[list[str]]) -> None:
    interrupting(monkeypatch, checks)
    status, found = json_of("--junit", "report.xml")
    assert (status, found["result"]) == (130, "interrupted")
    states = ["expected", "left out", "interrupted", "not checked"]
    assert [model["state"] for model in found["models"]] == states
    suite = ElementTree.parse("report.xml").getroot()
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["4", "0", "1", "2"]


def test_a_check_that_dies_costs_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_check, "run", lambda words: (-11, "", "one\ntwo"))
    status, lines = shown("counter", "--kind", "finding")
    assert status == 10
    assert lines[1].startswith("  two  UNEXPECTED   ended with status -11")
    assert lines[3:6] == ["counter two: ended with status -11", "  one", "  two"]


@pytest.mark.usefixtures("checks")
def test_a_model_with_a_mistake_costs_one_line(counter: Path) -> None:
    text = MANIFEST.replace('["BelowTwo"]', '["BelowTow"]')
    (counter / "models.toml").write_text(text, encoding="utf-8")
    status, lines = shown("counter", "--kind", "finding")
    assert status == 10
    assert lines[1].startswith("  two  UNEXPECTED   error[KMC346]: the spec has no invariant 'BelowTow'")


def test_a_folder_of_specs_means_all_of_them(tmp_path: Path, counter: Path, checks: list[list[str]]) -> None:
    (tmp_path / "specs").mkdir()
    for name in ("one", "two"):
        shutil.copytree(counter, tmp_path / "specs" / name)
    (tmp_path / "specs" / "notes").mkdir()
    status, lines = shown("specs", "--kind", "finding")
    assert [ran[1] for ran in checks] == ["specs/one", "specs/two"]
    assert [line for line in lines if "findings" in line][:2] == ["specs/one, findings", "specs/two, findings"]
    assert (status, lines[-1]) == (0, "EXPECTED specs: 2 of 2 as expected")


def specs_of(lines: Sequence[str]) -> dict[str, str]:
    """What is said of the first finding, or of the manifest, of each spec in the list."""
    return {
        title.partition(",")[0]: " ".join(line.split()).partition(" (")[0]
        for title, line in pairwise(lines)
        if title.startswith("specs") and ", " in title
    }


@pytest.fixture
def specs(tmp_path: Path, counter: Path) -> Path:
    """A folder of specs, with one."""
    shutil.copytree(counter, tmp_path / "specs" / "one")
    return tmp_path / "specs"


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("place", ["team/lock", "team/a/b/c"])
def test_specs_at_any_depth_are_checked(place: str, specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / place)
    status, lines = shown("specs", "--kind", "finding")
    as_expected = "two as expected BelowTwo fails, a trace of 3 states"
    assert specs_of(lines) == {"specs/one": as_expected, f"specs/{place}": as_expected}
    assert (status, lines[-1]) == (0, "EXPECTED specs: 2 of 2 as expected")


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("place", [".kmc/x", ".venv/x", "build/x", "env/x", "__pycache__/x", "toml_of_others"])
def test_hidden_folders_environments_and_other_files_are_not_entered(place: str, specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / place)
    if place == "env/x":
        (specs / "env" / "pyvenv.cfg").touch()
    if place == "toml_of_others":
        (specs / place / "spec.py").unlink()
    status, lines = shown("specs", "--kind", "finding")
    assert (status, lines[-1]) == (0, "EXPECTED specs: 1 of 1 as expected")


@pytest.mark.usefixtures("checks")
def test_a_link_in_a_circle_ends(specs: Path) -> None:
    (specs / "one" / "again").symlink_to(specs)
    status, lines = shown("specs", "--kind", "finding")
    assert (status, lines[-1]) == (0, "EXPECTED specs: 1 of 1 as expected")


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize(
    ("manifest", "told"), [(None, "specs/bare has no models.toml"), ("# none yet\n", "it has no models")]
)
def test_a_spec_without_models_is_told_and_skipped(manifest: str | None, told: str, specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / "bare")
    (specs / "bare" / "models.toml").unlink()
    if manifest is not None:
        (specs / "bare" / "models.toml").write_text(manifest, encoding="utf-8")
    status, lines = shown("specs", "--kind", "finding", "--junit", "report.xml")
    assert specs_of(lines)["specs/bare"] == f"models.toml left out {told}"
    assert (status, lines[-1]) == (0, "EXPECTED specs: 1 of 2 as expected, 1 left out")
    (case,) = ElementTree.parse("report.xml").iterfind(".//testcase[@classname='bare.manifests']")
    assert [detail.get("message") for detail in case.iterfind("skipped")] == [f"left out: {told}"]


def test_a_folder_of_specs_without_all_says_what_to_type(specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / "two")
    hint = "specs is a folder of specs: add --all, or give one, such as specs/one"
    assert hint in kmc("check", "specs", *QUICK).stderr
    assert "folder of specs" not in kmc("check", "specs/one", "smok", *QUICK).stderr


@pytest.mark.usefixtures("checks")
def test_a_spec_in_several_folders_without_models_is_told_once(specs: Path, counter: Path) -> None:
    (specs / "bare" / "actions").mkdir(parents=True)
    shutil.copy(counter / "spec.py", specs / "bare" / "actions")
    (specs / "bare" / "types.py").touch()
    assert specs_of(shown("specs", "--kind", "finding")[1]).keys() == {"specs/one", "specs/bare"}


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize(
    ("text", "told"),
    [("[models.smoke\n", "error[KMC320]: this is not TOML"), ("[model.a]\n", "error[KMC321]: unknown key 'model'")],
)
def test_a_broken_manifest_costs_its_own_line(text: str, told: str, specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / "broken")
    (specs / "broken" / "models.toml").write_text(text, encoding="utf-8")
    status, lines = shown("specs", "--kind", "finding", "--junit", "report.xml")
    assert specs_of(lines)["specs/broken"].startswith(f"models.toml UNEXPECTED {told}")
    assert any("--> specs/broken/models.toml:" in line for line in lines)
    assert (status, lines[-1]) == (10, "UNEXPECTED specs: 1 of 2 as expected, 1 unexpected")
    (failure,) = ElementTree.parse("report.xml").iterfind(".//testcase[@classname='broken.manifests']/failure")
    assert failure.get("message", "").startswith(told)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["counter", "smoke", "--all"], "KMC625"),
        (["counter", "--all", "--set", "Top=2"], "KMC625"),
        (["counter", "--all", "--max-depth", "2"], "KMC625"),
        (["counter", "--kind", "model"], "KMC625"),
        (["counter", "--max-cost", "10"], "KMC625"),
        (["empty", "--all"], "KMC626"),
        (["counter/spec.py", "--all", "--max-cost", "3", "--kind", "model"], "KMC627"),
        (["bare", "--all", "--kind", "mutant"], "KMC627"),
    ],
)
def test_what_means_nothing_together_is_refused(words: list[str], code: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "models.toml").write_text('[models.a]\ndescription = "A"\n', encoding="utf-8")
    ran = kmc("check", *words, *QUICK, "--junit", "report.xml", "--json")
    assert (ran.exit_code, ran.stderr.partition(":")[0]) == (2, f"error[{code}]")


def test_an_interrupted_check_has_ended_before_its_caller_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[subprocess.Popen[str]] = []
    wait = subprocess.Popen.communicate

    def communicate(child: subprocess.Popen[str], *rest: Any, **named: Any) -> Any:
        waited.append(child)
        if len(waited) == 1:
            raise KeyboardInterrupt
        return wait(child, *rest, **named)

    monkeypatch.setattr(subprocess.Popen, "communicate", communicate)
    with pytest.raises(KeyboardInterrupt):
        child_check.run(["check", "die_hard", "--no-run-dir"])
    assert len(waited) == 2
    assert waited[0].returncode  # neither None, since it has ended, nor 0, since it was told to end


def test_a_check_ends_when_the_process_dies_that_began_it() -> None:
    # The child of a child says that it waits; then its parent is killed. The pipe ends when no process has it open.
    reading, writing = os.pipe()
    waiting = f"import os, time; os.write({writing}, b'begun '); time.sleep(120); os.write({writing}, b'survived')"
    caller = (
        "import sys, kmc.cli.running.child_check as child_check\n"
        "begin = child_check.subprocess.Popen\n"
        f"waiting = [sys.executable, '-c', {waiting!r}]\n"
        f"child_check.subprocess.Popen = lambda command, **more: begin(waiting, pass_fds=[{writing}], **more)\n"
        "child_check.run([])"
    )
    with subprocess.Popen([sys.executable, "-c", caller], pass_fds=[writing]) as killed:
        os.close(writing)
        with open(reading, "rb", buffering=0) as told:
            first = told.read(6)
            killed.kill()
            assert (first, told.read()) == (b"begun ", b"")


def test_a_check_in_a_process_of_its_own_gives_its_result() -> None:
    done = child_check.check_apart(["check", "counter", "smoke", "--engine", "python", "--no-run-dir"])
    assert done.result is not None
    assert (done.status, done.result["distinct"], done.stderr) == (0, 4, "")
    assert done.verdict == "OK counter smoke: 4 distinct states, all 4 levels"


@pytest.mark.parametrize("words", [("check", "counter", "x"), ("report", "counter", "x")])
def test_models_findings_and_mutants_are_listed_apart(words: tuple[str, ...], counter: Path) -> None:
    lists = "known models: smoke, large; findings: two; mutants: lame"
    assert lists in kmc(*words).stderr
    text = MANIFEST.replace("smoke", "small")
    (counter / "models.toml").write_text(text, encoding="utf-8")
    assert "name one of its models: small, large; findings: two; mutants: lame" in kmc("check", "counter").stderr
