"""`kmc check --expect`: 0 exactly when the result of the manifest comes out; and what a model says of its actions."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, check_json, kmc

QUICK = ("--engine", "python", "--no-run-dir")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def last_line(*words: str) -> tuple[int, str]:
    """The exit status of a check, and the last line of its stdout."""
    ran = kmc("check", *words, *QUICK)
    return ran.exit_code, ran.stdout.splitlines()[-1] if ran.stdout else ran.stderr.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["smoke"], 0, "EXPECTED counter smoke: 4 distinct states, all 4 levels (2 warnings)"),
        (["wrong"], 10, "UNEXPECTED counter wrong: distinct: expected 5,000, found 4 (and 1 more)"),
        # A violation that the manifest has figures for, and one in a model without figures.
        (["two"], 0, "EXPECTED counter two: BelowTwo fails, a trace of 3 states"),
        (["step"], 10, "UNEXPECTED counter step: All was expected to hold, and NeverToTwo fails"),
        (["deadlock"], 10, "UNEXPECTED counter deadlock: All was expected to hold, and there is a deadlock"),
        (["temporal"], 10, "UNEXPECTED counter temporal: All was expected to hold, and TopAgainAndAgain fails"),
        (["overflow"], 10, "UNEXPECTED counter overflow: Evaluating the spec failed, which nothing expects"),
        # A bound of the model is part of it; a limit of the command line is not.
        (["bounded"], 0, "EXPECTED counter bounded: 2 distinct states, levels 1 to 2 (3 warnings)"),
        (["bounded_wrong"], 10, "UNEXPECTED counter bounded_wrong: distinct: expected 3, found 2"),
        (["constrained"], 0,
         "EXPECTED counter constrained: 2 distinct states, all 2 levels within UpToOne (3 warnings)"),
        (["smoke", "--max-states", "2"], 10,
         "UNEXPECTED counter smoke: The result is not compared: --max-states 2 ended the search at level 2, after 2 "
         "distinct states"),
        (["bounded", "--max-states", "1"], 10,
         "UNEXPECTED counter bounded: The limit on states ended the check before it could find what is expected"),
        (["smoke", "--strict"], 10, "STRICT counter smoke: action Fall never fired (and 1 more)"),
        (["two", "--strict"], 0, "EXPECTED counter two: BelowTwo fails, a trace of 3 states"),
    ],
)  # fmt: skip
def test_the_status_is_zero_exactly_when_the_expected_result_comes_out(
    words: list[str], status: int, line: str
) -> None:
    assert last_line(*words_of(words), "--expect") == (status, line)


def words_of(words: list[str]) -> list[str]:
    """The words behind `kmc check` for a model of the counter."""
    return [COUNTER, *words]


@pytest.mark.parametrize("words", [["smoke", "--set", "Top=3"], ["two", "--max-depth", "9"], ["smoke", "--continue"]])
def test_another_check_than_the_manifests_cannot_be_as_expected(words: list[str]) -> None:
    status, line = last_line(COUNTER, *words, "--expect")
    assert (status, line) == (2, f"error[KMC624]: {words[1]} would make this another check than the one whose result "
                              "is expected")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["bounded_wrong", "--max-depth", "2"], 10),
        (["bounded_wrong", "--max-depth", "1"], 20),
        (["wrong", "--no-deadlock"], 10),
        (["wrong", "--deadlock"], 11),
    ],
)
def test_an_option_that_repeats_the_model_keeps_the_expectation(words: list[str], status: int) -> None:
    assert last_line(COUNTER, *words)[0] == status


def test_json_says_whether_the_result_is_the_expected_one() -> None:
    models = ("smoke", "two", "wrong", "step")
    found = {model: check_json(COUNTER, model, "--engine", "python") for model in models}
    assert [found[model]["expected"] for model in models] == [True, True, False, False]
    assert found["step"]["unexpected"] == ["All was expected to hold, and NeverToTwo fails."]
    assert (found["two"]["exit_status"], check_json(COUNTER, "two", *QUICK, "--expect")["exit_status"]) == (12, 0)


@pytest.mark.parametrize("model", ["smoke", "two", "wrong", "step", "overflow", "bounded", "bounded_wrong"])
def test_a_junit_report_fails_exactly_when_the_result_is_not_the_expected_one(model: str) -> None:
    status = kmc("check", COUNTER, model, *QUICK, "--expect", "--junit", "report.xml").exit_code
    suite = ElementTree.parse("report.xml").getroot()
    assert (status != 0) == (suite.get("failures") != "0" or suite.get("errors") != "0")


def test_an_expected_violation_is_told_in_a_case_that_passed() -> None:
    kmc("check", COUNTER, "two", *QUICK, "--expect", "--junit", "report.xml")
    cases = {case.get("name"): case for case in ElementTree.parse("report.xml").iter("testcase")}
    told = cases["BelowTwo: BelowTwo is violated, as expected"].findtext("system-out", "")
    assert "3  Climb(1): count 1 -> 2" in told
    assert [child.tag for child in cases["the result is the expected one"]] == []


def test_the_place_of_a_saved_run_and_the_verdict_are_the_last_lines_of_a_quiet_check() -> None:
    saved, verdict = kmc("check", COUNTER, "two", "--engine", "python", "--quiet").stdout.splitlines()[-2:]
    assert saved.startswith("Saved: .kmc/runs/counter-two-")
    assert verdict == "VIOLATION counter two: BelowTwo fails, a trace of 3 states"


@pytest.fixture
def told_counter(tmp_path: Path) -> Path:
    """A copy of the counter whose `smoke` and `idle` may say in `never_fires` what does not fire."""
    folder = tmp_path / "counter"
    shutil.copytree(COUNTER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def saying(folder: Path, line: str) -> str:
    """The spec in this folder, whose model `idle` has another line."""
    manifest = folder / "models.toml"
    model = f'\n[models.idle]\ndescription = "Up only"\ninvariants = ["InRange"]\ndeadlock = false\n{line}\n'
    expect = '[models.idle.expect]\norigin = "by hand"\nresult = "ok"\nunreached_goals = ["beyond_the_top"]\n'
    manifest.write_text(manifest.read_text(encoding="utf-8") + model + expect, encoding="utf-8")
    return str(folder)


def test_strict_is_content_with_an_action_of_which_the_model_says_that_it_does_not_fire(told_counter: Path) -> None:
    spec = saying(told_counter, 'never_fires = ["Fall"]')
    assert last_line(spec, "idle", "--strict") == (0, "OK counter idle: 4 distinct states, all 4 levels")
    assert "never" not in kmc("check", spec, "idle", *QUICK).stdout


def test_what_is_said_of_a_model_is_not_said_of_another(told_counter: Path) -> None:
    spec = saying(told_counter, 'never_fires = ["Fall"]')
    status, line = last_line(spec, "idle", "--strict", "--set", "Top=2")
    assert (status, line) == (10, "STRICT counter idle: action Fall never fired (and 1 more)")


@pytest.mark.parametrize("words", [(), ("--strict",), ("--expect",)])
def test_an_action_that_fires_although_the_model_says_that_it_does_not_is_an_error(
    words: tuple[str, ...], told_counter: Path
) -> None:
    spec = saying(told_counter, 'never_fires = ["Fall", "Climb"]')
    stale = "never_fires, Climb: expected no state, found 3 generated"
    assert last_line(spec, "idle", *words) == (10, f"UNEXPECTED counter idle: {stale}")


def test_an_action_that_is_misspelt_in_never_fires_is_an_error_at_its_place(told_counter: Path) -> None:
    ran = kmc("check", saying(told_counter, 'never_fires = ["Fal"]'), "idle", *QUICK)
    assert (ran.exit_code, ran.stdout) == (151, "")
    assert ran.stderr.startswith("error[KMC354]: the spec has no action 'Fal'\n")
    assert "did you mean 'Fall'?" in ran.stderr
