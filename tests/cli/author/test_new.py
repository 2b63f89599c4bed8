"""`kmc new` writes a spec that is right at once, and overwrites nothing. For mypy: tests/lang/test_typed_specs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.source_tree import ROOT

FINDINGS = {"counter": "lost_update", "messages": "two_leaders"}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("template", FINDINGS)
def test_a_new_spec_checks_with_the_expected_counts(template: str) -> None:
    assert kmc("new", "my_spec", "--template", template).exit_code == 0
    ran = kmc("check", "./my_spec", "--engine", "python", "--no-run-dir")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "Counts equal the expected ones" in ran.stdout


@pytest.mark.parametrize(("template", "finding"), FINDINGS.items())
def test_one_model_of_a_new_spec_fails_on_purpose(template: str, finding: str) -> None:
    kmc("new", "my_spec", "--template", template)
    ran = kmc("check", "./my_spec", finding, "--engine", "python", "--no-run-dir")
    assert ran.exit_code == 12
    assert "is not the expected one" not in ran.stdout


@pytest.mark.slow
def test_the_tests_of_new_specs_pass() -> None:
    folders = [f"of_{template}" for template in FINDINGS]
    for folder, template in zip(folders, FINDINGS, strict=True):
        kmc("new", folder, "--template", template)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--kmc-engine", "python", *folders]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert "10 passed" in ran.stdout  # of each, three models and two tests


@pytest.mark.parametrize("template", FINDINGS)
def test_ruff_has_nothing_to_say_about_a_new_spec(template: str) -> None:
    kmc("new", "my_spec", "--template", template)
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", "my_spec"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout


def test_the_settings_of_a_new_spec_are_those_of_the_page() -> None:
    kmc("new", "my_spec")
    page = (ROOT / "docs" / "typing.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert tomllib.loads(Path("my_spec/pyproject.toml").read_text(encoding="utf-8")) == tomllib.loads("\n".join(blocks))


def test_the_readme_names_the_spec_and_the_finding() -> None:
    kmc("new", "specs/my_spec", "--template", "messages")
    text = Path("specs/my_spec/README.md").read_text(encoding="utf-8")
    assert "$" not in text
    assert "`kmc check ./my_spec two_leaders`" in text


def test_what_was_written_and_what_comes_next_is_shown() -> None:
    shown = kmc("new", "specs/my_spec").stdout.splitlines()
    assert "Wrote specs/my_spec/spec.py" in shown
    assert "Check it:  kmc check ./specs/my_spec" in shown
    assert "Types:     mypy --config-file specs/my_spec/pyproject.toml specs/my_spec" in shown


def test_nothing_is_overwritten() -> None:
    Path("my_spec").mkdir()
    ran = kmc("new", "my_spec")
    assert ran.exit_code == 2
    assert "error[KMC646]: my_spec exists already" in ran.stderr
    assert list(Path("my_spec").iterdir()) == []


def test_a_link_that_leads_nowhere_is_not_overwritten() -> None:
    Path("my_spec").symlink_to("nowhere")
    assert "error[KMC646]" in kmc("new", "my_spec").stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("3x", "a letter, then letters"),
        ("my-spec", "a letter, then letters"),
        ("", "a letter, then letters"),
        ("wahlen_für_alle", "a letter, then letters"),
        ("class", "a word of Python"),
        ("specs/types", "Python has a module"),
    ],
)
def test_a_name_that_python_cannot_use_is_refused(name: str, why: str) -> None:
    ran = kmc("new", name)
    assert (ran.exit_code, list(Path().iterdir())) == (2, [])
    assert "error[KMC645]: a spec cannot be called" in ran.stderr
    assert why in ran.stderr


def test_tests_in_the_folder_of_a_spec_are_not_part_of_it() -> None:
    kmc("new", "my_spec")
    for name in ("conftest.py", "more_test.py"):
        Path("my_spec", name).write_text("import os\n", encoding="utf-8")
    assert kmc("check", "./my_spec", "--engine", "python", "--no-run-dir").exit_code == 0
