"""A view that forgets what something reads is warned about: what follows from states of one view may differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import IMPORTS, model_of

from kmc.compiler.checks.view_reads import forgotten_reads

SPEC = """
class State(Record):
    n: Int(0, 3)
    used: Int(0, 9)
    seen: Int(0, 9)

def may_go(st, most):
    return {guard} < most

@spec.init
def init():
    yield State(n=0, used=0, seen=0)

@spec.action
def up(st):
    if st.n < 3 and may_go(st, 3):
        moved = st.set(n=st.n + 1, used=st.used + 1)
        yield moved.set(seen=moved.used)

@spec.invariant
def Small(st):
    return {invariant} < 10

@spec.action_property
def Grows(st, nxt):
    return nxt.n >= {step}

@spec.constraint
def Near(st):
    return {constraint} < 9

spec.view("kept", drop=["used", "seen"])
"""

CLEAN = {"guard": "st.n", "invariant": "st.n", "step": "st.n", "constraint": "st.n"}
CFG = "VIEW kept INVARIANT Small PROPERTY Grows CONSTRAINT Near CHECK_DEADLOCK FALSE"
CASES = [
    ("guard", "st.used", ("used", "Up")),
    ("guard", "(st.n if st.seen > 2 else 0)", ("seen", "Up")),
    ("invariant", "st.seen", ("seen", "Small")),
    ("step", "st.used", ("used", "Grows")),
    ("step", "nxt.used", ("used", "Grows")),
    ("constraint", "st.set(n=0).used", ("used", "Near")),
]


def readings(folder: Path, view: str, **parts: str) -> list[tuple[str, str, int]]:
    """The forgotten reads of the spec with some of its parts replaced, by field, reader and line."""
    model = model_of(folder, SPEC.format(**{**CLEAN, **parts}), CFG.replace("VIEW kept", view))
    return [(reading.field, reading.reader, reading.line) for reading in forgotten_reads(model)]


@pytest.mark.parametrize(("part", "text", "expected"), CASES)
def test_a_read_of_a_forgotten_field_is_found(part: str, text: str, expected: tuple[str, str], tmp_path: Path) -> None:
    found = readings(tmp_path, "VIEW kept", **{part: text})
    lines = (tmp_path / "spec.py").read_text(encoding="utf-8").splitlines()
    assert [(field, reader) for field, reader, _ in found] == [expected]
    assert text in lines[found[0][2] - 1]


def test_a_forgotten_field_that_only_feeds_forgotten_fields_is_not_warned_about(tmp_path: Path) -> None:
    assert readings(tmp_path, "VIEW kept") == []


def test_without_a_view_nothing_is_forgotten(tmp_path: Path) -> None:
    assert readings(tmp_path, "", guard="st.used") == []


def test_a_check_warns_of_it(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(IMPORTS + SPEC.format(**{**CLEAN, "guard": "st.used"}), encoding="utf-8")
    (tmp_path / "view.cfg").write_text(CFG, encoding="utf-8")
    done = kmc("check", str(tmp_path / "spec.py"), str(tmp_path / "view.cfg"), "--no-run-dir")
    assert "Warning: view kept drops used, but Up reads it (" in done.stdout
