"""The page about Python is true: its examples run one after another, and its tests pass."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import kmc
from kmc.pytest_plugin import pytest_addoption

pytest_plugins = "pytester"

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(PRINTED,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ROWS = re.compile(r"^\| (`.*?) \|", re.MULTILINE)


@pytest.mark.slow
def test_the_examples_run_and_print_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for example in EXAMPLES[:-1]:
        # Reason for exec: an example goes on with the names of the one before, as in a notebook.
        exec(compile(example, "docs/python.md", "exec"), names)
    assert len(EXAMPLES) == 6
    assert capsys.readouterr().out.startswith(PRINTED.removesuffix("...\n"))


def test_the_tests_of_the_page_pass(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import kmc\n" + EXAMPLES[-1])
    quiet = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest")
    pytester.runpytest_inprocess(*quiet, "--kmc-engine", "python").assert_outcomes(passed=2)


def test_every_argument_of_a_check_and_every_attribute_of_a_result_exists() -> None:
    rows = " ".join(ROWS.findall(PAGE))
    arguments = set(re.findall(r"`(\w+)=", rows))
    known = set(kmc.check.__wrapped__.__kwdefaults__)  # type: ignore[attr-defined]  # what functools.wraps sets
    assert arguments == known
    attributes = set(re.findall(r"`(?:result)?\.(\w+)", rows))
    assert len(attributes) > 15
    assert [name for name in attributes if not hasattr(kmc.CheckResult, name)] == []


def test_the_page_names_every_option_of_the_plugin() -> None:
    names = []

    class Parser:
        """Notes the names of options."""

        def getgroup(self, *_: str) -> Parser:
            return self

        def addoption(self, name: str, **_: Any) -> None:
            names.append(name)

    pytest_addoption(Parser())  # type: ignore[arg-type]  # only what is called of it
    assert set(re.findall(r"`(--kmc[\w-]*)", PAGE)) == set(names)
