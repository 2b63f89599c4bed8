"""`kmc check --expect`: 0 exactly when the result of the manifest comes out; and actions that a model says never fire.

Results are asserted as data. tests/data/results/verdicts.txt has the line of each kind of verdict, and
KMC_UPDATE_GOLDEN=1 writes it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, check_json, kmc
from support.commands.golden_texts import assert_golden, golden_texts

QUICK = ("--engine", "python", "--no-run-dir")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


VERDICTS = "verdicts"
FIGURE = "Not the expected result: "
NOT_EXPECTED = "All was expected to hold, and "

# The words behind `kmc check counter`, the exit status, and the differences from the expected result.
EXPECTATIONS: list[tuple[list[str], int, list[str]]] = [
    (["smoke"], 0, []),
    (["wrong"], 10, [f"{FIGURE}distinct: expected 5,000, found 4", "  generated_by_action, Fall: expected 1, found 0"]),
    # A violation that the manifest has figures for, and one in a model without figures.
    (["two"], 0, []),
    (["step"], 10, [f"{NOT_EXPECTED}NeverToTwo fails."]),
    (["deadlock"], 10, [f"{NOT_EXPECTED}there is a deadlock."]),
    (["temporal"], 10, [f"{NOT_EXPECTED}TopAgainAndAgain fails."]),
    (["overflow"], 10, ["Evaluating the spec failed, which nothing expects."]),
    # A bound of the model is part of it; a limit of the command line is not.
    (["bounded"], 0, []),
    (["bounded_wrong"], 10, [f"{FIGURE}distinct: expected 3, found 2"]),
    (["constrained"], 0, []),
    (["smoke", "--max-states", "2"], 10, [
        "The result is not compared: --max-states 2 ended the search at level 2, after 2 distinct states."
    ]),
    (["bounded", "--max-states", "1"], 10, [
        "The limit on states ended the check before it could find what is expected."
    ]),
    (["smoke", "--strict"], 10, []),
    (["two", "--strict"], 0, []),
]  # fmt: skip


def last_line(*words: str) -> str:
    """The last line that a check prints."""
    return kmc("check", *words, *QUICK).stdout.splitlines()[-1]


@pytest.mark.parametrize(("words", "status", "differences"), EXPECTATIONS)
def test_the_status_is_zero_exactly_when_the_expected_result_comes_out(
    words: list[str], status: int, differences: list[str]
) -> None:
    result = check_json(COUNTER, *words, *QUICK, "--expect")
    assert (result["exit_status"], result["unexpected"]) == (status, differences)
    assert result["expected"] == (not differences)


@pytest.mark.parametrize("words", [words for words, _, _ in EXPECTATIONS], ids=" ".join)
def test_the_last_line_has_the_verdict(words: list[str]) -> None:
    assert_golden(VERDICTS, " ".join(words), [last_line(COUNTER, *words, "--expect")])


def test_the_golden_verdicts_are_those_of_the_cases() -> None:
    assert [*golden_texts(VERDICTS)] == [" ".join(words) for words, _, _ in EXPECTATIONS]


@pytest.mark.parametrize("words", [["smoke", "--set", "Top=3"], ["two", "--max-depth", "9"], ["smoke", "--continue"]])
def test_another_check_than_the_manifests_cannot_be_as_expected(words: list[str]) -> None:
    ran = kmc("check", COUNTER, *words, "--expect", *QUICK)
    error = f"error[KMC624]: {words[1]} would make this another check than the one whose result is expected"
    assert (ran.exit_code, ran.stdout, ran.stderr.splitlines()[0]) == (2, "", error)


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
    assert kmc("check", COUNTER, *words, *QUICK).exit_code == status


def test_json_says_whether_the_result_is_the_expected_one() -> None:
    models = ("smoke", "two", "wrong", "step")
    results = {model: check_json(COUNTER, model, "--engine", "python") for model in models}
    assert [results[model]["expected"] for model in models] == [True, True, False, False]
    assert results["step"]["unexpected"] == ["All was expected to hold, and NeverToTwo fails."]
    assert (results["two"]["exit_status"], check_json(COUNTER, "two", *QUICK, "--expect")["exit_status"]) == (12, 0)


@pytest.mark.parametrize("model", ["smoke", "two", "wrong", "step", "overflow", "bounded", "bounded_wrong"])
def test_a_junit_report_fails_exactly_when_the_result_is_not_the_expected_one(model: str) -> None:
    status = kmc("check", COUNTER, model, *QUICK, "--expect", "--junit", "report.xml").exit_code
    suite = ElementTree.parse("report.xml").getroot()
    assert (status != 0) == (suite.get("failures") != "0" or suite.get("errors") != "0")


def test_an_expected_violation_is_in_a_case_that_passed() -> None:
    kmc("check", COUNTER, "two", *QUICK, "--expect", "--junit", "report.xml")
    cases = {case.get("name"): case for case in ElementTree.parse("report.xml").iter("testcase")}
    text = cases["BelowTwo: BelowTwo is violated, as expected"].findtext("system-out", "")
    assert "3  Climb(1): count 1 -> 2" in text
    assert [child.tag for child in cases["the result is the expected one"]] == []


def test_the_place_of_a_saved_run_and_the_verdict_are_the_last_lines_of_a_quiet_check() -> None:
    saved, verdict = kmc("check", COUNTER, "two", "--engine", "python", "--quiet").stdout.splitlines()[-2:]
    assert saved.startswith("Saved: .kmc/runs/counter-two-")
    assert verdict == "VIOLATION counter two: BelowTwo fails, a trace of 3 states"


@pytest.fixture
def own_counter(tmp_path: Path) -> Path:
    """A copy of the counter, whose manifest a test may change."""
    folder = tmp_path / "counter"
    shutil.copytree(COUNTER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def saying(folder: Path, line: str) -> str:
    """Add the model `idle` with this line to the spec in this folder; the path of the spec."""
    manifest = folder / "models.toml"
    model = f'\n[models.idle]\ndescription = "Up only"\ninvariants = ["InRange"]\ndeadlock = false\n{line}\n'
    expect = '[models.idle.expect]\norigin = "by hand"\nresult = "ok"\nunreached_goals = ["beyond_the_top"]\n'
    manifest.write_text(manifest.read_text(encoding="utf-8") + model + expect, encoding="utf-8")
    return str(folder)


def test_strict_is_content_with_an_action_of_which_the_model_says_that_it_does_not_fire(own_counter: Path) -> None:
    spec = saying(own_counter, 'never_fires = ["Fall"]')
    result = check_json(spec, "idle", "--strict", *QUICK)
    assert (result["result"], result["distinct"], result["levels"], result["exit_status"]) == ("ok", 4, [1] * 4, 0)
    assert "never" not in kmc("check", spec, "idle", *QUICK).stdout


def test_what_a_model_says_of_its_actions_is_not_said_of_another_model(own_counter: Path) -> None:
    spec = saying(own_counter, 'never_fires = ["Fall"]')
    result = check_json(spec, "idle", "--strict", "--set", "Top=2", *QUICK)
    assert (result["result"], result["exit_status"]) == ("ok", 10)
    assert (result["never_fired"], result["unreached_goals"]) == (["Fall"], ["beyond_the_top"])


@pytest.mark.parametrize("words", [(), ("--strict",), ("--expect",)])
def test_an_action_that_fires_although_the_model_says_that_it_does_not_is_an_error(
    words: tuple[str, ...], own_counter: Path
) -> None:
    spec = saying(own_counter, 'never_fires = ["Fall", "Climb"]')
    result = check_json(spec, "idle", *words, *QUICK)
    assert (result["exit_status"], result["expected"]) == (10, False)
    assert result["unexpected"] == [f"{FIGURE}never_fires, Climb: expected no state, found 3 generated"]


def test_an_action_that_is_misspelt_in_never_fires_is_an_error_at_its_place(own_counter: Path) -> None:
    ran = kmc("check", saying(own_counter, 'never_fires = ["Fal"]'), "idle", *QUICK)
    assert (ran.exit_code, ran.stdout) == (151, "")
    assert ran.stderr.startswith("error[KMC354]: the spec has no action 'Fal'\n")
    assert "did you mean 'Fall'?" in ran.stderr
