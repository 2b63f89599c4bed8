"""`kmc check SPEC --all`: the models that are checked, the result of each, and the reports.

KMC_UPDATE_GOLDEN=1 writes tests/data/results/all_models.txt. Checks run in this process, but for tests of processes.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, kmc
from support.commands.golden_texts import assert_golden, golden_texts
from support.faults.full_memory import LIMIT, use_up_memory

import kmc.cli.running.child_check as child_check
from kmc.checking import check as checking
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


@pytest.fixture
def jumping_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds pass between two looks at the clock: a real one may not move at all."""
    monkeypatch.setattr(check_all, "time", SimpleNamespace(monotonic=itertools.count(1000.0, 2.0).__next__))


TEXTS = "all_models"
UNEXPECTED = "a failure, a model left out, a finding and a mutant that survives"
WARNED = "models with warnings"
TRACE = "the trace of an unexpected violation"
LIMIT_REACHED = "a check that a limit cut short"
WRONG_COUNT = "a wrong count"
OUT_OF_TIME = "the total time ran out"
INTERRUPTED = "an interrupt"
DIED = "a check that died"
FOLDER = "a folder of specs"
SKIPPED = "a spec without models"
BROKEN = "a broken manifest"


def shown(*words: str) -> tuple[int, list[str]]:
    """The exit status and the lines of `kmc check --all`, with fixed words for times and the memory of this process."""
    ran = kmc("check", *words, "--all", *QUICK)
    text = re.sub(r"\(([0-9]+ min )?[0-9.]+ s\)", "(<time>)", ran.stdout)
    return ran.exit_code, re.sub(r"(?<=about )[0-9.]+ .B\b|(?<=--memory )[0-9]+M\b", "<memory>", text).splitlines()


def json_of(*words: str) -> tuple[int, dict[str, Any]]:
    """The exit status and the object of `kmc check --all --json`."""
    ran = kmc("check", *words, "--all", *QUICK, "--json")
    return ran.exit_code, json.loads(ran.stdout)


def counts(**nonzero: int) -> dict[str, int]:
    """The counts of the JSON object, which has a zero for every other outcome; an underscore is a space."""
    zeros = dict.fromkeys(("expected", "unexpected", "left out", "not checked", "interrupted"), 0)
    return zeros | {name.replace("_", " "): count for name, count in nonzero.items()}


def states_of(summary: dict[str, Any]) -> dict[str, str]:
    """The outcome of each model in the JSON object, by the model's name."""
    return {model["model"]: model["state"] for model in summary["models"]}


def states_by_spec(summary: dict[str, Any]) -> dict[str, list[str]]:
    """The outcomes of the models of each spec in the JSON object."""
    states: dict[str, list[str]] = {}
    for model in summary["models"]:
        states.setdefault(model["spec"], []).append(model["state"])
    return states


@pytest.mark.usefixtures("checks")
def test_each_model_has_a_line_below_its_kind_and_the_last_line_is_the_verdict() -> None:
    status, lines = shown("counter")
    assert status == 10
    assert_golden(TEXTS, UNEXPECTED, lines)


@pytest.mark.usefixtures("checks")
def test_a_model_with_warnings_has_their_number_and_the_command_that_shows_them(counter: Path) -> None:
    assert "Warnings" not in "".join(shown("counter", "--kind", "model")[1])
    text = MANIFEST.replace('never_fires = ["Fall"]\n', "")
    text = text.replace('[mutants.lame]\ntitle = "Two is the top"', "[models.lame]")
    (counter / "models.toml").write_text(text, encoding="utf-8")
    status, lines = shown("counter", "--kind", "model")
    assert status == 0
    assert_golden(TEXTS, WARNED, lines)


@pytest.mark.parametrize(
    ("words", "status", "names"),
    [
        (["--kind", "finding"], 0, ["two"]),
        (["--kind", "finding", "--kind", "mutant"], 10, ["two", "lame"]),
        (["--kind", "model", "--max-cost", "2000000"], 10, ["smoke", "large"]),
        (["--kind", "model", "--strict"], 0, ["smoke"]),
        (["--kind", "finding", "--total-timeout", "1s"], 20, []),
        (["--kind", "finding", "--total-timeout", "1s", "--bounded-ok"], 0, []),
    ],
)
@pytest.mark.usefixtures("jumping_clock")
def test_kinds_and_costs_choose_what_is_checked(
    words: list[str], status: int, names: list[str], checks: list[list[str]]
) -> None:
    assert shown("counter", *words)[0] == status
    assert [ran[2] for ran in checks] == names
    assert all("--expect" in ran and ("--strict" in ran) == ("--strict" in words) for ran in checks)


@pytest.mark.usefixtures("checks", "jumping_clock")
def test_the_verdict_is_not_expected_where_the_time_ran_out() -> None:
    words = ("counter", "--kind", "finding", "--total-timeout", "1s", "--bounded-ok")
    status, summary = json_of(*words)
    assert (status, summary["result"], summary["counts"]) == (0, "bound", counts(not_checked=1))
    assert_golden(TEXTS, OUT_OF_TIME, shown(*words)[1])


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
    assert_golden(TEXTS, TRACE, lines)
    # The command omits the rest of the total time, which was not typed.
    assert shown("counter", "--kind", "model", "--total-timeout", "9m")[1] == lines
    limited = shown("counter", "--kind", "model", "--total-timeout", "9m", "--timeout", "5m")[1]
    assert limited == [line.replace("--no-run-dir", "--no-run-dir --timeout 5m") for line in lines]


@pytest.mark.usefixtures("checks")
def test_a_check_that_a_limit_cut_short_is_printed_once_with_the_limit_the_figures_and_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_up_memory(monkeypatch)
    words = ("counter", "--kind", "model", "--memory", LIMIT)
    status, summary = json_of(*words)
    assert (status, summary["counts"]) == (10, counts(unexpected=1, left_out=1))
    cut_short = summary["models"][0]["result"]
    assert (cut_short["bound"], cut_short["initial"], cut_short["depth"]) == ("memory", 1, 1)
    assert_golden(TEXTS, LIMIT_REACHED, shown(*words)[1])


@pytest.mark.usefixtures("checks")
def test_a_wrong_count_is_printed_once_with_the_command(counter: Path) -> None:
    manifest = MANIFEST.replace("distinct = 4", "distinct = 5")
    (counter / "models.toml").write_text(manifest, encoding="utf-8")
    status, lines = shown("counter", "--kind", "model")
    assert status == 10
    assert_golden(TEXTS, WRONG_COUNT, lines)


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


@pytest.mark.usefixtures("checks")
def test_the_json_object_has_all_results() -> None:
    status, summary = json_of("counter")
    assert (status, summary["exit_status"], summary["result"]) == (10, 10, "unexpected")
    assert summary["counts"] == {"expected": 2, "unexpected": 1, "left out": 1, "not checked": 0, "interrupted": 0}
    models = {model["model"]: model for model in summary["models"]}
    assert [models[name]["kind"] for name in ("smoke", "two", "lame")] == ["model", "finding", "mutant"]
    assert (models["smoke"]["result"]["distinct"], models["large"]["result"]) == (4, None)
    assert models["two"]["result"]["trace"][2]["label"] == "Climb(1)"


@pytest.mark.usefixtures("checks")
def test_each_warning_of_the_checks_is_printed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    log, search = CompileLog(), checking._searched

    def searched(*given: Any) -> Any:
        log.not_kept(CacheFault("/proc/nope", "No such file"))
        return search(*given)

    monkeypatch.setattr(checking, "LOG", log)
    monkeypatch.setattr(checking, "_searched", searched)
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


def test_an_interrupt_prints_what_was_done(monkeypatch: pytest.MonkeyPatch, checks: list[list[str]]) -> None:
    interrupting(monkeypatch, checks)
    status, lines = shown("counter")
    assert status == 130
    assert_golden(TEXTS, INTERRUPTED, lines)


def test_an_interrupt_leaves_the_reports(monkeypatch: pytest.MonkeyPatch, checks: list[list[str]]) -> None:
    interrupting(monkeypatch, checks)
    status, summary = json_of("counter", "--junit", "report.xml")
    assert (status, summary["result"]) == (130, "interrupted")
    assert summary["counts"] == counts(expected=1, left_out=1, not_checked=1, interrupted=1)
    assert [*states_of(summary).values()] == ["expected", "left out", "interrupted", "not checked"]
    suite = ElementTree.parse("report.xml").getroot()
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["4", "0", "1", "2"]


def test_a_check_that_dies_costs_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_check, "run", lambda words: (-11, "", "one\ntwo"))
    status, lines = shown("counter", "--kind", "finding")
    assert status == 10
    assert_golden(TEXTS, DIED, lines)


@pytest.mark.usefixtures("checks")
def test_a_model_with_a_mistake_costs_one_line(counter: Path) -> None:
    text = MANIFEST.replace('["BelowTwo"]', '["BelowTow"]')
    (counter / "models.toml").write_text(text, encoding="utf-8")
    status, summary = json_of("counter", "--kind", "finding")
    (model,) = summary["models"]
    assert (status, model["model"], model["state"]) == (10, "two", "unexpected")
    assert model["told"].startswith("error[KMC346]: the spec has no invariant 'BelowTow'")


def test_a_folder_of_specs_means_all_of_them(tmp_path: Path, counter: Path, checks: list[list[str]]) -> None:
    (tmp_path / "specs").mkdir()
    for name in ("one", "two"):
        shutil.copytree(counter, tmp_path / "specs" / name)
    (tmp_path / "specs" / "notes").mkdir()
    status, lines = shown("specs", "--kind", "finding")
    assert (status, [ran[1] for ran in checks]) == (0, ["specs/one", "specs/two"])
    assert_golden(TEXTS, FOLDER, lines)


@pytest.fixture
def specs(tmp_path: Path, counter: Path) -> Path:
    """A folder of specs, with one."""
    shutil.copytree(counter, tmp_path / "specs" / "one")
    return tmp_path / "specs"


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("place", ["team/lock", "team/a/b/c"])
def test_specs_at_any_depth_are_checked(place: str, specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / place)
    status, summary = json_of("specs", "--kind", "finding")
    assert (status, states_by_spec(summary)) == (0, {"specs/one": ["expected"], f"specs/{place}": ["expected"]})
    assert [(model["result"]["invariant"], model["result"]["trace_length"]) for model in summary["models"]] == [
        *(("BelowTwo", 3), ("BelowTwo", 3))
    ]


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("place", [".kmc/x", ".venv/x", "build/x", "env/x", "__pycache__/x", "toml_of_others"])
def test_hidden_folders_environments_and_other_files_are_not_entered(place: str, specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / place)
    if place == "env/x":
        (specs / "env" / "pyvenv.cfg").touch()
    if place == "toml_of_others":
        (specs / place / "spec.py").unlink()
    status, summary = json_of("specs", "--kind", "finding")
    assert (status, states_by_spec(summary)) == (0, {"specs/one": ["expected"]})


@pytest.mark.usefixtures("checks")
def test_a_link_in_a_circle_ends(specs: Path) -> None:
    (specs / "one" / "again").symlink_to(specs)
    status, summary = json_of("specs", "--kind", "finding")
    assert (status, states_by_spec(summary)) == (0, {"specs/one": ["expected"]})


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize(
    ("manifest", "reason"), [(None, "specs/bare has no models.toml"), ("# none yet\n", "it has no models")]
)
def test_a_spec_without_models_is_named_and_skipped(
    manifest: str | None, reason: str, specs: Path, counter: Path
) -> None:
    shutil.copytree(counter, specs / "bare")
    (specs / "bare" / "models.toml").unlink()
    if manifest is not None:
        (specs / "bare" / "models.toml").write_text(manifest, encoding="utf-8")
    status, summary = json_of("specs", "--kind", "finding", "--junit", "report.xml")
    assert (status, states_by_spec(summary)) == (0, {"specs/one": ["expected"], "specs/bare": ["left out"]})
    assert [model["told"] for model in summary["models"] if model["spec"] == "specs/bare"] == [reason]
    if manifest is None:
        assert_golden(TEXTS, SKIPPED, shown("specs", "--kind", "finding")[1])
    (case,) = ElementTree.parse("report.xml").iterfind(".//testcase[@classname='bare.manifests']")
    assert [detail.get("message") for detail in case.iterfind("skipped")] == [f"left out: {reason}"]


def test_a_folder_of_specs_without_all_says_what_to_type(specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / "two")
    hint = "specs is a folder of specs: add --all, or give one, such as specs/one"
    assert hint in kmc("check", "specs", *QUICK).stderr
    assert "folder of specs" not in kmc("check", "specs/one", "smok", *QUICK).stderr


@pytest.mark.usefixtures("checks")
def test_a_spec_in_several_folders_without_models_is_named_once(specs: Path, counter: Path) -> None:
    (specs / "bare" / "actions").mkdir(parents=True)
    shutil.copy(counter / "spec.py", specs / "bare" / "actions")
    (specs / "bare" / "types.py").touch()
    _, summary = json_of("specs", "--kind", "finding")
    assert [model["spec"] for model in summary["models"]] == ["specs/bare", "specs/one"]


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize(
    ("text", "told"),
    [("[models.smoke\n", "error[KMC320]: this is not TOML"), ("[model.a]\n", "error[KMC321]: unknown key 'model'")],
)
def test_a_broken_manifest_costs_its_own_line(text: str, told: str, specs: Path, counter: Path) -> None:
    shutil.copytree(counter, specs / "broken")
    (specs / "broken" / "models.toml").write_text(text, encoding="utf-8")
    status, summary = json_of("specs", "--kind", "finding", "--junit", "report.xml")
    assert (status, states_by_spec(summary)) == (10, {"specs/broken": ["unexpected"], "specs/one": ["expected"]})
    assert next(model["told"] for model in summary["models"] if model["spec"] == "specs/broken").startswith(told)
    if told.startswith("error[KMC321]"):
        assert_golden(TEXTS, BROKEN, shown("specs", "--kind", "finding")[1])
    (failure,) = ElementTree.parse("report.xml").iterfind(".//testcase[@classname='broken.manifests']/failure")
    assert failure.get("message", "").startswith(told)
    assert "--> specs/broken/models.toml:" in (failure.text or "")


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


@pytest.mark.slow
def test_a_check_ends_when_the_process_dies_that_began_it() -> None:
    # The child of a child says that it waits; then its parent is killed. The pipe ends when no process has it open.
    reading, writing = os.pipe()
    waiting = f"import os, time; os.write({writing}, b'begun '); time.sleep(120); os.write({writing}, b'survived')"
    caller = (
        "import sys, kmc.cli.running.child_check as child_check; begin = child_check.subprocess.Popen\n"
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


@pytest.mark.slow
def test_a_check_in_a_process_of_its_own_gives_its_result() -> None:
    done = child_check.check_apart(["check", "counter", "smoke", "--engine", "python", "--no-run-dir"])
    assert done.result is not None
    assert (done.status, done.result["distinct"], done.stderr) == (0, 4, "")
    assert done.verdict == "OK counter smoke: 4 distinct states, all 4 levels"


@pytest.mark.parametrize("words", [("check", "counter", "x"), ("report", "counter", "x")])
def test_models_findings_and_mutants_are_listed_apart(words: tuple[str, ...], counter: Path) -> None:
    lists = "known models: smoke, large; findings: two; mutants: lame"
    assert lists in kmc(*words).stderr
    (counter / "models.toml").write_text(MANIFEST.replace("smoke", "small"), encoding="utf-8")
    assert "name one of its models: small, large; findings: two; mutants: lame" in kmc("check", "counter").stderr


def test_the_golden_texts_are_those_of_the_tests_above() -> None:
    kinds = {UNEXPECTED, WARNED, OUT_OF_TIME, TRACE, LIMIT_REACHED, WRONG_COUNT, INTERRUPTED, DIED, FOLDER, SKIPPED}
    assert golden_texts(TEXTS).keys() == kinds | {BROKEN}
