"""`kmc check` on the native engine: a mistake that the compiler refuses is named as the interpreter names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

from kmc.checking import refusal

SPEC = """\
from kmc.lang import Enum, Int, Opt, Record, Seq
from kmc.spec import spec


class Colour(Enum):
    RED, GREEN = range(2)


class Fruit(Enum):
    APPLE, PEAR = range(2)


class State(Record):
    colour: Colour
    last: Opt[Colour]
    seen: Seq[Colour, 2]
    number: Int(0, 3)


@spec.init
def init():
    yield State(colour=Colour.RED, last=None, seen=[Colour.RED], number=0)


@spec.action
def step(st):
    yield st.set({change})


@spec.invariant
def Holds(st):
    return {promise}
"""

NOTHING = "colour=None if st.number == 0 else (1 if st.number == 1 else st.colour)"
# Each is right in other states, so no type check finds it.
MISTAKES = [
    pytest.param(
        "colour=Fruit.PEAR if st.number == 0 else st.colour", "True", "KMC201", 75, id="a member of another enum"
    ),
    pytest.param("colour=1 if st.number == 0 else st.colour", "True", "KMC201", 75, id="an integer for an enum"),
    pytest.param(NOTHING, "True", "KMC201", 75, id="nothing where something is needed"),
    pytest.param(
        "colour=(st.seen if st.number == 0 else {1: Colour.RED})[1]",
        "True",
        "KMC223",
        75,
        id="a position that is not there",
    ),
    pytest.param("number=1", "st.number if st.number == 1 else True", "KMC261", 76, id="an invariant that is a number"),
]


@pytest.fixture(autouse=True)
def _time_for_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its three seconds are enough for a thousand states on a machine that has nothing else to do.
    monkeypatch.setattr(refusal, "_SECONDS", 1e9)


def check(folder: Path, change: str, promise: str) -> tuple[int, str]:
    (folder / "spec.py").write_text(SPEC.format(change=change, promise=promise), encoding="utf-8")
    ran = kmc("check", str(folder), "--engine", "native", "--no-run-dir", "--no-deadlock")
    return ran.exit_code, ran.stdout + ran.stderr


@pytest.mark.parametrize(("change", "promise", "code", "status"), MISTAKES)
def test_a_mistake_that_is_not_compiled_is_named(
    tmp_path: Path, change: str, promise: str, code: str, status: int
) -> None:
    exit_code, errors = check(tmp_path, change, promise)
    assert (exit_code, f"error[{code}]" in errors, "the interpreter accepts it" in errors) == (status, True, False)
    # The trace to the state in which it shows, as from the interpreter.
    assert "The initial state:" in errors or "1  Initial state" in errors


def test_a_mistake_of_kind_is_found_before_anything_is_compiled(tmp_path: Path) -> None:
    exit_code, errors = check(tmp_path, "colour=1", "True")
    assert (exit_code, "error[KMC201]: 'colour' of State: 1 is not in Colour" in errors) == (150, True)


def test_what_the_interpreter_takes_is_said_to_be_taken(tmp_path: Path) -> None:
    exit_code, errors = check(tmp_path, "number=(st.number + 9223372036854775807) % 2", "True")
    assert (exit_code, "error[KMC811]" in errors, "the interpreter accepts it" in errors) == (150, True, True)


def test_a_mistake_in_the_initial_states_comes_before_a_refusal(tmp_path: Path) -> None:
    text = SPEC.replace("number=0", "number=7").format(change=MISTAKES[1].values[0], promise="True")
    (tmp_path / "spec.py").write_text(text, encoding="utf-8")
    ran = kmc("check", str(tmp_path), "--engine", "native", "--no-run-dir", "--quiet")
    assert "7 is not in 0..3" in ran.stderr


FAR = """\
def larger(number):
    # One line more, so that the line is none of the action's.
    return (number + 9223372036854775807) % 2
"""
FAR_STEPS = """\
def larger_steps(st):
    # The same in a function that yields.
    yield st.set(number=(st.number + 9223372036854775807) % 2)
"""


@pytest.mark.parametrize(
    ("rules", "name", "body", "place"),
    [
        (FAR, "larger", "yield st.set(number=larger(st.number))", "rules.py:3:"),
        (FAR_STEPS, "larger_steps", "yield from larger_steps(st)", "rules.py:3:"),
        (
            FAR,
            "larger",
            "yield st.set(number=(st.number + 9223372036854775807) % 2 + larger(st.number))",
            "actions.py:",
        ),
    ],
)
def test_a_refusal_is_shown_in_the_file_of_the_function_that_it_is_about(
    tmp_path: Path, rules: str, name: str, body: str, place: str
) -> None:
    text = SPEC.format(change="number=0", promise="True").replace("yield st.set(number=0)", body)
    head, rest = text.split("\n\n\n", 1)
    (tmp_path / "actions.py").write_text(f"{head}\n\nfrom .rules import {name}\n\n\n{rest}", encoding="utf-8")
    (tmp_path / "rules.py").write_text(rules, encoding="utf-8")
    ran = kmc("check", str(tmp_path), "--engine", "native", "--no-run-dir", "--quiet", "--no-deadlock")
    assert (ran.exit_code, place in ran.stderr) == (150, True), ran.stderr
