"""The pytest plugin: what is collected, what passes, what a failure says, and what is left alone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER
from support.faults.planted import failing, functions_of

from kmc.unexplained import ERRORS_VARIABLE

pytest_plugins = "pytester"

QUIET: tuple[str, ...] = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest")
QUIET += ("--kmc-engine", "python")
# In this process, the runs of pytest inherit that warnings are errors.
QUIET += ("-W", "default::kmc.ModelWarning")


@pytest.fixture
def specs(pytester: pytest.Pytester) -> Path:
    """A project with the spec of the counter in `specs/counter`, where pytest runs."""
    folder = pytester.path / "specs" / "counter"
    shutil.copytree(COUNTER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    # Nothing may import it: `open` is not in the language, and the file is a spec's.
    (folder / "__init__.py").write_text('"""A counter."""\n', encoding="utf-8")
    return folder


def outcomes(result: pytest.RunResult) -> dict[str, str]:
    """The outcome of each test by its name, as `pytest -v` tells them."""
    lines = [re.match(r"\S+::(\S+) (PASSED|FAILED|SKIPPED|ERROR)", line) for line in result.outlines]
    return {found[1]: found[2] for found in lines if found}


@pytest.mark.slow
def test_each_model_is_a_test_that_passes_if_its_result_is_the_expected_one(
    pytester: pytest.Pytester, specs: Path
) -> None:
    result = pytester.runpytest_inprocess("specs", "-v", *QUIET)
    passed = {name for name, outcome in outcomes(result).items() if outcome == "PASSED"}
    failed = {name for name, outcome in outcomes(result).items() if outcome == "FAILED"}
    assert passed == {"smoke", "bounded", "constrained", "two"}
    assert failed == {"wrong", "deadlock", "initial", "step", "temporal", "assertion", "overflow", "bounded_wrong"}
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_failure_says_what_differs_or_why_and_shows_the_steps(pytester: pytest.Pytester, specs: Path) -> None:
    result = pytester.runpytest_inprocess("specs", *QUIET, "-k", "wrong or step")
    result.stdout.fnmatch_lines(["*distinct: expected 5,000, found 4*"])
    result.stdout.fnmatch_lines(["Error: Action property NeverToTwo is violated.", "*", "3  Climb(1): count 1 -> 2"])
    assert "Traceback" not in str(result.stdout)
    assert "kmc/api" not in str(result.stdout)


@pytest.mark.slow
def test_a_mistake_in_an_explanation_changes_no_outcome_and_is_told_with_the_trace(
    pytester: pytest.Pytester, specs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ERRORS_VARIABLE)
    expected = outcomes(pytester.runpytest_inprocess("specs", "-v", *QUIET))
    with failing(functions_of("kmc.story")["kmc.story.counterexample:story_of"]) as calls:
        result = pytester.runpytest_inprocess("specs", "-v", *QUIET)
    assert calls
    assert outcomes(result) == expected
    result.stdout.fnmatch_lines(
        ["State 2: <Climb(1)>", "*The trace is shown plain: its explanation failed with PlantedMistake: planted*"]
    )
    assert "Traceback" not in str(result.stdout)


def test_what_weakens_a_result_is_a_warning_and_a_failure_where_warnings_are_errors(
    pytester: pytest.Pytester, specs: Path
) -> None:
    words = ("specs", *QUIET, "-k", "smoke or two")
    result = pytester.runpytest_inprocess(*words)
    result.assert_outcomes(passed=2, warnings=2, deselected=10)
    result.stdout.fnmatch_lines(["*ModelWarning: counter smoke: Action Fall never fired."])
    result.stdout.fnmatch_lines(["*ModelWarning: counter smoke: Reachable property beyond_the_top was never reached."])
    failing = pytester.runpytest_inprocess(*words, "-W", "error::kmc.ModelWarning")
    failing.assert_outcomes(passed=1, failed=1, deselected=10)
    failing.stdout.fnmatch_lines(["counter smoke: Action Fall never fired."])
    assert "Traceback" not in str(failing.stdout)


def test_what_the_manifest_says_never_happens_is_not_warned_of(pytester: pytest.Pytester, specs: Path) -> None:
    manifest = specs / "models.toml"
    text = manifest.read_text(encoding="utf-8")
    text = text.replace("deadlock = false\n", 'deadlock = false\nnever_fires = ["Fall"]\n', 1)
    text = text.replace("generated = 4\n", 'generated = 4\nunreached_goals = ["beyond_the_top"]\n', 1)
    manifest.write_text(text, encoding="utf-8")
    pytester.runpytest_inprocess("specs", *QUIET, "-k", "smoke").assert_outcomes(passed=1, deselected=11)


@pytest.mark.slow
def test_models_findings_and_mutants_are_told_apart(pytester: pytest.Pytester, specs: Path) -> None:
    for words in (("-m", "kmc(kind='finding')"), ("-k", "finding")):
        assert list(outcomes(pytester.runpytest_inprocess("specs", "-v", *QUIET, *words))) == ["two"]
    assert outcomes(pytester.runpytest_inprocess("specs", "-v", *QUIET, "-m", "not kmc")) == {}


@pytest.mark.slow
def test_a_large_model_is_skipped_with_the_reason_unless_it_is_named(pytester: pytest.Pytester, specs: Path) -> None:
    result = pytester.runpytest_inprocess("specs", "-v", "-rs", *QUIET, "--kmc-max-states", "4999", "-k", "wrong")
    assert outcomes(result)["wrong"] == "SKIPPED"
    result.stdout.fnmatch_lines(["*5,000 states expected, more than --kmc-max-states 4,999"])
    named = pytester.runpytest_inprocess("specs/counter/models.toml::wrong", "-v", *QUIET, "--kmc-max-states", "4999")
    assert outcomes(named) == {"wrong": "FAILED"}


@pytest.mark.parametrize("words", [(), (".",)])
def test_nothing_is_collected_unless_it_is_asked_for(
    pytester: pytest.Pytester, specs: Path, words: tuple[str, ...]
) -> None:
    assert pytester.runpytest_inprocess(*words, *QUIET).ret == pytest.ExitCode.NO_TESTS_COLLECTED
    asked = pytester.runpytest_inprocess(*words, "--kmc", "-v", *QUIET, "-k", "smoke")
    assert outcomes(asked) == {"smoke": "PASSED"}


def test_testpaths_ask_too(pytester: pytest.Pytester, specs: Path) -> None:
    pytester.makeini("[pytest]\ntestpaths = specs\n")
    assert outcomes(pytester.runpytest_inprocess("-v", *QUIET, "-k", "smoke")) == {"smoke": "PASSED"}


def test_a_models_file_of_another_tool_is_left_alone(pytester: pytest.Pytester) -> None:
    (pytester.path / "learning").mkdir()
    (pytester.path / "learning" / "models.toml").write_text("layers = 3\n", encoding="utf-8")
    (pytester.path / "learning" / "train.py").write_text("import sys\n", encoding="utf-8")
    (pytester.path / "learning" / "__init__.py").write_text("", encoding="utf-8")
    result = pytester.runpytest_inprocess("learning", "--kmc", *QUIET)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.slow
def test_a_mistake_in_a_manifest_or_a_spec_is_shown_at_its_line(pytester: pytest.Pytester, specs: Path) -> None:
    manifest = specs / "models.toml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace('invariants = ["InRange"]', 'invariant = ["InRange"]', 1), encoding="utf-8")
    result = pytester.runpytest_inprocess("specs", *QUIET)
    result.stdout.fnmatch_lines(["error?KMC321?: unknown key 'invariant'*", "*did you mean 'invariants'?*"])
    assert result.ret == pytest.ExitCode.INTERRUPTED
    manifest.write_text(text.replace('invariants = ["InRange"]', 'invariants = ["InRnge"]', 1), encoding="utf-8")
    result = pytester.runpytest_inprocess("specs", *QUIET, "-k", "smoke")
    result.stdout.fnmatch_lines(["error?KMC346?:*InRnge*", "*did you mean 'InRange'?*"])


OWN = """
def test_the_counter_stops_at_three(kmc_check, kmc_spec):
    result = kmc_check("../specs/counter", "smoke")
    result.assert_ok()
    assert result.distinct == 4
    assert result.details.engine == "python"
    assert kmc_check("../specs/counter", "smoke") is result
    assert kmc_check("../specs/counter", "smoke", max_depth=2) is not result
    spec = kmc_spec("../specs/counter", "smoke", Top=2)
    assert kmc_spec("../specs/counter", "smoke", Top=2) is spec
    assert kmc_check(spec).distinct == 3


def test_a_shipped_spec_is_found_by_name(kmc_spec):
    assert kmc_spec("die_hard").BigJug == 5


def test_a_violation_fails(kmc_check):
    kmc_check("../specs/counter", "two").assert_ok()
"""


def test_fixtures_serve_assertions_of_ones_own(pytester: pytest.Pytester, specs: Path) -> None:
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_counter.py").write_text(OWN, encoding="utf-8")
    result = pytester.runpytest_inprocess("tests", "-v", *QUIET)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: Error: Invariant BelowTwo is violated.*"])


MISTAKEN = """
def test_no_such_model(kmc_check):
    kmc_check("../specs/counter", "smok")


def test_no_such_spec(kmc_spec):
    kmc_spec("countr")


def test_a_violation(kmc_check):
    kmc_check("../specs/counter", "two").assert_ok()
"""


def test_a_mistake_in_a_test_is_shown_at_its_line_without_frames_of_kmc(pytester: pytest.Pytester, specs: Path) -> None:
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_mistaken.py").write_text(MISTAKEN, encoding="utf-8")
    result = pytester.runpytest_inprocess("tests", *QUIET)
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        [
            '>       kmc_check("../specs/counter", "smok")',
            "E       *KMC349*: the spec has no model 'smok'",
            "E         = help: did you mean 'smoke'?",
            '>       kmc_spec("countr")',
            '>       kmc_check("../specs/counter", "two").assert_ok()',
        ],
    )
    assert "kmc/api" not in str(result.stdout)
    assert "pytest_plugin.py" not in str(result.stdout)


@pytest.mark.slow
def test_a_run_that_does_not_use_the_plugin_imports_nothing_of_it(tmp_path: Path) -> None:
    # In a process of its own, because kmc is imported in this one. It sees the plugin as any environment does.
    (tmp_path / "test_it.py").write_text(
        "import sys\n\n\ndef test_it():\n    assert {m for m in sys.modules if m.startswith('kmc')} == "
        "{'kmc', 'kmc.pytest_plugin'}\n    assert not {'numpy', 'click', 'rich', 'psutil'} & set(sys.modules)\n",
        encoding="utf-8",
    )
    words = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", "-q"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout


@pytest.mark.slow
def test_a_run_that_is_sent_sigterm_while_a_model_is_checked_has_its_report(
    pytester: pytest.Pytester, specs: Path
) -> None:
    pytester.makeconftest(
        """
        import os, signal
        import kmc

        checked = kmc.check

        def check(spec, model, **arguments):
            if model == "two":
                os.kill(os.getpid(), signal.SIGTERM)
            return checked(spec, model, **arguments)

        kmc.check = check
        """
    )
    result = pytester.runpytest_subprocess("specs", "--junitxml=report.xml", *QUIET, "-k", "smoke or two")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    cases = [case.get("name") for case in ElementTree.parse("report.xml").iter("testcase")]
    assert "smoke" in cases
