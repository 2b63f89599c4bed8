"""Drawn examples do not depend on what else ran in the process, so a red test is red alone too."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def examples() -> list[tuple[list[int], str]]:
    """What Hypothesis draws for one test."""
    drawn: list[tuple[list[int], str]] = []

    @settings(max_examples=100)
    @given(st.lists(st.integers()), st.text())
    def note(numbers: list[int], text: str) -> None:
        drawn.append((numbers, text))

    note()
    return drawn


def test_examples_do_not_depend_on_imported_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--hypothesis-profile") == "fuzz":
        return  # where examples differ every time, on purpose
    before = examples()
    path = tmp_path / "with_constants.py"
    path.write_text(f"NUMBERS = {[12345 + 7 * number for number in range(500)]}\nTEXT = 'an unusual text'\n")
    specification = importlib.util.spec_from_file_location("with_constants", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "with_constants", module)
    specification.loader.exec_module(module)
    assert examples() == before
