"""A regression test of a trace: it fails with words that a person understands, and never passes for want of meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from support.specs.small import COUNTER, IMPORTS

from kmc.errors import TraceError
from kmc.story import regression
from kmc.story.regression import assert_trace

CFG = "CONSTANT Limit = 3\nINVARIANT BelowTwo\n"
STEPS = [("Increase",), ("Increase",)]

JUMPS = """
class State(Record):
    n: Int(0, 9)
    loud: Bool


@spec.init
def init():
    for loud in [False, True]:
        yield State(n=0, loud=loud)


@spec.action
def jump(st, far: Bool):
    for step in [1, 2]:
        if st.n + step <= 3 and (st.loud or not far):
            yield st.set(n=st.n + step)


@spec.invariant
def NotFour(st):
    return not (st.n == 3 and st.loud)
"""


def spec_of(folder: Path, source: str) -> Path:
    """The file of a spec with this source."""
    path = folder / "spec.py"
    path.write_text(IMPORTS + source, encoding="utf-8")
    return path


def complaint(
    folder: Path,
    source: str,
    steps: Any = STEPS,
    fails: str | None = "BelowTwo",
    cfg: str = CFG,
    expect: Literal["fixed", "violation"] = "fixed",
    **more: Any,
) -> str | None:
    """What the test says; None if it passes."""
    try:
        assert_trace(spec_of(folder, source), cfg, steps, fails=fails, expect=expect, **more)
    except AssertionError as error:
        return str(error)
    return None


def test_a_failure_that_is_there_again_is_told_with_its_steps(tmp_path: Path) -> None:
    told = complaint(tmp_path, COUNTER)
    assert told is not None
    assert told.startswith(
        "BelowTwo fails again, by these steps:\n  1 Initial state\n  2 Increase\n  3 Increase\nBelowTwo fails: n is 2"
    )
    assert complaint(tmp_path, COUNTER, expect="violation") is None


def test_a_property_that_holds_now_is_fixed(tmp_path: Path) -> None:
    fixed = COUNTER.replace("st.n < 2", "st.n < 3")
    assert complaint(tmp_path, fixed) is None
    assert complaint(tmp_path, fixed, expect="violation") == (
        "Not as expected: BelowTwo holds at the end of this trace. If that is right, write expect='fixed'."
    )


def test_a_step_that_is_not_enabled_any_more_is_fixed(tmp_path: Path) -> None:
    fixed = COUNTER.replace("if st.n < Limit:", "if st.n < 1:")
    assert complaint(tmp_path, fixed) is None
    told = complaint(tmp_path, fixed, expect="violation")
    assert told is not None
    assert told.startswith(
        "This trace is not possible any more. Step 3: Increase is not enabled in state 2 any more.\n  Why: n is 1"
    )


@pytest.mark.parametrize("expect", ["fixed", "violation"])
def test_an_action_that_is_gone_makes_the_test_fail_either_way(
    tmp_path: Path, expect: Literal["fixed", "violation"]
) -> None:
    told = complaint(tmp_path, COUNTER.replace("def increase(", "def increased("), expect=expect)
    assert told == (
        "This test says nothing any more: Step 2: the spec has no action Increase. Did you mean Increased? "
        "Write it again: kmc replay TRACE --pytest FILE."
    )


def test_a_property_that_is_gone_makes_the_test_fail(tmp_path: Path) -> None:
    told = complaint(tmp_path, COUNTER, fails="BelowTwos")
    assert told is not None
    assert told.startswith("This test says nothing any more: the spec has no property 'BelowTwos'")


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (("Jump",), "Jump has the parameters far, but the trace gives none"),
        (("Jump", "near"), "near is not in Bool"),
        (("Jump", "{"), '"{" is not a TLA+ value'),
    ],
)
def test_arguments_that_do_not_fit_make_the_test_fail(tmp_path: Path, step: tuple[str, ...], reason: str) -> None:
    told = complaint(tmp_path, JUMPS, [step], "NotFour", "INVARIANT NotFour")
    assert told is not None
    assert told.startswith(f"This test says nothing any more: Step 2: {reason}")


def test_all_runs_that_fit_the_steps_are_followed(tmp_path: Path) -> None:
    # Only the loud run that jumps once by one and once by two violates.
    steps = [("Jump", "FALSE"), ("Jump", "FALSE")]
    told = complaint(tmp_path, JUMPS, steps, "NotFour", "INVARIANT NotFour")
    assert told is not None
    assert told.startswith("NotFour fails again")
    assert complaint(tmp_path, JUMPS, steps[:1], "NotFour", "INVARIANT NotFour") is None


def test_too_many_runs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression, "RUNS_MAX", 3)
    with pytest.raises(TraceError) as caught:
        complaint(tmp_path, JUMPS, [("Jump", "FALSE")], "NotFour", "INVARIANT NotFour")
    assert (caught.value.code, caught.value.message) == ("KMC438", "more than 3 runs fit the steps")


def test_a_deadlock_is_asked_for_by_its_verdict(tmp_path: Path) -> None:
    steps = [*STEPS, ("Increase",)]
    told = complaint(tmp_path, COUNTER, steps, None, verdict="deadlock")
    assert told is not None
    assert told.startswith("The last state is a deadlock again")
    assert complaint(tmp_path, COUNTER, STEPS, None, verdict="deadlock") is None


@pytest.mark.parametrize("body", ["nxt.n - st.n < 2", "nxt.n - st.n > 1"])
def test_runs_that_end_in_one_state_are_told_apart_by_their_last_step(tmp_path: Path, body: str) -> None:
    # State 3 is reached from 1 by two and from 2 by one: one of the two steps fails, whichever is asked about.
    source = f"{JUMPS}\n\n@spec.action_property\ndef Jumps(st, nxt):\n    return {body}\n"
    steps = [("Jump", "FALSE"), ("Jump", "FALSE")]
    told = complaint(tmp_path, source, steps, "Jumps", "PROPERTY Jumps")
    assert told is not None
    assert told.startswith("Jumps fails again")
