"""Results for people: what an assertion says, what a notebook shows, the states of a trace."""

from __future__ import annotations

import pytest
from support.commands.cli_runner import COUNTER
from support.faults.full_memory import LIMIT, use_up_memory

import kmc
from kmc.errors import CommandLineError, EvaluationError

JUGS = """\
Error: Invariant NotSolved is violated.
NotSolved fails: big and Wanted are both 4.
"""


def solved() -> kmc.CheckResult:
    """The check that solves the puzzle of the jugs."""
    return kmc.check("die_hard", "solution", engine="python")


def test_an_assertion_says_what_fails_a_line_a_step_and_why() -> None:
    with pytest.raises(AssertionError) as caught:
        solved().assert_ok()
    assert str(caught.value).startswith(JUGS)
    assert "\n3  BigToSmall: " in str(caught.value)


def test_states_of_a_trace_are_numbered_from_1_and_have_the_fields_of_the_spec() -> None:
    result = solved()
    trace = result.trace
    assert trace is not None
    assert (trace[1].big, trace[3].small, trace[-1].big, len(trace)) == (0, 3, 4, 7)
    assert [state.big for state in trace] == [0, 5, 2, 2, 0, 5, 4]
    assert trace.labels[:2] == ("FillBigJug", "BigToSmall")
    assert trace.steps[1].state == trace[2]
    assert result.spec.State(big=4, small=3) == trace[7]
    assert trace.back_to is None


@pytest.mark.parametrize("number", [0, 8, -8])
def test_a_state_that_the_trace_does_not_have_is_an_index_error(number: int) -> None:
    trace = solved().trace
    assert trace is not None
    with pytest.raises(IndexError, match=f"states 1 to 7, not {number}"):
        trace[number]


def test_several_states_of_a_trace_are_not_asked_for_at_once() -> None:
    trace = solved().trace
    assert trace is not None
    with pytest.raises(CommandLineError) as caught:
        trace[2:4]  # type: ignore[index]  # what is refused
    assert caught.value.code == "KMC693"


def test_a_lasso_says_to_which_state_it_goes_back() -> None:
    result = kmc.check("die_hard", "aimless", engine="python")
    assert (result.verdict, result.violated) == ("liveness", "EventuallySolved")
    assert result.trace is not None
    assert result.trace.back_to is not None
    assert f"back to state {result.trace.back_to}" in str(result)


def test_a_deadlock_and_an_error_have_a_trace_and_no_property() -> None:
    deadlock = kmc.check(COUNTER, "deadlock", engine="python")
    assert (deadlock.verdict, deadlock.violated, deadlock.error) == ("deadlock", None, None)
    overflow = kmc.check(COUNTER, "overflow", engine="python")
    assert overflow.verdict == "error"
    assert isinstance(overflow.error, EvaluationError)
    for result in (deadlock, overflow):
        with pytest.raises(AssertionError, match="Initial state"):
            result.assert_ok()


def test_a_bound_is_not_a_success_unless_it_is_asked_for() -> None:
    result = kmc.check(COUNTER, "bounded", engine="python")
    with pytest.raises(AssertionError, match="bounded_ok=True"):
        result.assert_ok()
    result.assert_ok(bounded_ok=True)


def test_a_strict_assertion_asks_for_every_action() -> None:
    result = kmc.check(COUNTER, "smoke", engine="python")
    result.assert_ok()
    with pytest.raises(AssertionError, match="Action Fall never fired"):
        result.assert_ok(strict=True)


def test_an_expected_violation_is_as_expected_and_a_wrong_expectation_is_not() -> None:
    kmc.check(COUNTER, "two", engine="python").assert_expected()
    with pytest.raises(AssertionError, match="Not the expected result: distinct: expected 5,000, found 4"):
        kmc.check(COUNTER, "wrong", engine="python").assert_expected()
    with pytest.raises(AssertionError, match="is not compared"):
        kmc.check(COUNTER, "two", engine="python", max_depth=9).assert_expected()


def test_without_figures_a_model_is_expected_to_hold_within_its_own_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    kmc.check(COUNTER, "bounded", engine="python").assert_expected()
    kmc.check(COUNTER, "constrained", engine="python").assert_expected()
    with pytest.raises(AssertionError, match=r"(?s)NeverToTwo is violated.*All was expected to hold"):
        kmc.check(COUNTER, "step", engine="python").assert_expected()
    use_up_memory(monkeypatch)
    with pytest.raises(AssertionError, match="The limit on memory ended the check before it could find"):
        kmc.check(COUNTER, "bounded", engine="python", memory=LIMIT).assert_expected()


def test_a_notebook_shows_the_page_of_a_counterexample_or_a_table() -> None:
    shown = solved()._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"')
    assert "<script" not in shown  # all of the page is text in an attribute
    assert "BigToSmall" in shown
    table = kmc.check(COUNTER, "smoke", engine="python")._repr_html_()
    assert "<td" in table
    assert "InRange" in table


def test_a_result_says_in_one_line_what_it_is() -> None:
    assert repr(solved()) == "<check of die_hard solution: violation: NotSolved, 14 distinct states>"
    smoke = kmc.check(COUNTER, "smoke", engine="python")
    assert repr(smoke) == "<check of counter smoke: ok, 4 distinct states>"
    assert str(smoke).splitlines()[0] == "Model checking completed. No error has been found."
    assert "Proved: in every state" in str(smoke)


def test_what_weakens_a_proof_stands_before_it_in_texts_and_in_notebooks() -> None:
    weak = kmc.check(COUNTER, "smoke", engine="python")
    idle, goal = ("Warning: Action Fall never fired.", "Warning: Reachable property beyond_the_top was never reached.")
    lines = str(weak).splitlines()
    assert lines[-3:-1] == [idle, goal]
    assert lines[-1].startswith("Proved: ")
    assert f"<p>{idle}</p><p>{goal}</p><p>Proved: " in weak._repr_html_()
    assert "Warning" not in str(kmc.check("die_hard", "smoke", engine="python"))


@pytest.mark.slow
def test_a_simulation_finds_the_same_with_the_same_seed() -> None:
    first, again = (kmc.simulate("die_hard", "solution", seed=5, number=200) for _ in range(2))
    assert not first.ok
    assert first.trace is not None
    assert again.trace is not None
    assert list(first.trace) != []
    assert first.trace.labels == again.trace.labels
    with pytest.raises(AssertionError, match="NotSolved"):
        first.assert_ok()
    assert first._repr_html_() is not None


def test_a_simulation_without_a_violation_proves_nothing() -> None:
    run = kmc.simulate("die_hard", seed=1, number=3, depth=4)
    run.assert_ok()
    assert run.ok
    assert "Nothing is proved" in str(run)
    assert run._repr_html_() is None
    with pytest.raises(CommandLineError, match="seed is 'x'"):
        kmc.simulate("die_hard", seed="x")  # type: ignore[arg-type]  # what is refused
