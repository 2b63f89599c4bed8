"""What a search reports when something fails: the same failure in every run, and errors at the author's line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.commands.search_report import CASES
from support.specs.small import BALLOT, COUNTER, model_of

from kmc.errors import EvaluationError, ExitStatus, InvariantError, KmcError
from kmc.reference import search as search_module
from kmc.reference.search import Search
from kmc.reference.states.traces import trace_of
from kmc.result import Result, Trace, Verdict

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What search_report.py prints under several seeds of Python's hashes, from the same folder."""
    folder = tmp_path_factory.mktemp("ballot")
    return [_report(folder, hash_seed) for hash_seed in ("0", "1", "2", "20261121")]


def _report(folder: Path, hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, str(TESTS / "support" / "commands" / "search_report.py"), str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


DIAMOND = """
class State(Record):
    n: Int(0, 4)


@spec.init
def init():
    yield State(n=0)


@spec.action
def first(st):
    if st.n == 0:
        yield st.set(n=2)
        yield st.set(n=1)


@spec.action
def second(st):
    if st.n == 1 or st.n == 2:
        yield st.set(n=4)
        yield st.set(n=3)


@spec.invariant
def BelowThree(st):
    return st.n < 3
"""
"""Two ways to each of two failing states; of states and ways the greater is generated first."""


class TestDeterminism:
    @pytest.mark.slow
    def test_results_and_traces_do_not_depend_on_the_process(self, reports: list[str]) -> None:
        assert all(report == reports[0] for report in reports[1:])

    @pytest.mark.slow
    def test_every_case_reports_a_failure(self, reports: list[str]) -> None:
        assert reports[0].count("Initial predicate") == len(CASES)

    @pytest.mark.parametrize("constraint", ["", "CONSTRAINT Small"], ids=["stored", "outside of a constraint"])
    def test_the_least_failing_state_is_reached_by_the_least_predecessors(
        self, constraint: str, tmp_path: Path
    ) -> None:
        source = DIAMOND + "\n\n@spec.constraint\ndef Small(st):\n    return st.n < 3\n"
        violation = Search(model_of(tmp_path, source, f"INVARIANT BelowThree {constraint}")).run().violation
        assert violation is not None
        assert numbers(violation.trace) == [0, 1, 3]


def failing(folder: Path, source: str, cfg: str = "") -> tuple[Result, KmcError]:
    """The result of a search that ends in an error, and the error."""
    result = Search(model_of(folder, source, cfg)).run()
    assert result.violation is not None
    assert result.violation.error is not None
    return result, result.violation.error


def numbers(trace: Trace) -> list[int]:
    """The values of n along a trace."""
    return [step.state.n for step in trace.steps]


def text_at(error: KmcError) -> str:
    """The author's text that an error points at."""
    assert error.span is not None
    line = error.span.source_line()
    assert line is not None
    assert error.span.end_column is not None
    return line[error.span.column - 1 : error.span.end_column - 1]


class TestErrors:
    def test_a_failed_assert_is_a_violation_at_its_line(self, tmp_path: Path) -> None:
        source = COUNTER.replace("    if st.n < Limit:\n        yield", "    assert st.n < 2\n    yield")
        result, error = failing(tmp_path, source)
        assert (result.verdict, result.exit_status(), text_at(error)) == (
            Verdict.ASSERTION,
            ExitStatus.ASSERTION,
            "st.n < 2",
        )
        assert result.violation is not None
        assert numbers(result.violation.trace) == [0, 1, 2]

    def test_a_value_outside_its_domain_is_an_error_at_its_line(self, tmp_path: Path) -> None:
        result, error = failing(tmp_path, COUNTER.replace("st.n + 1", "st.n + 60"), "CONSTANT Limit = 99")
        assert (result.verdict, result.exit_status()) == (Verdict.ERROR, ExitStatus.SPEC_EVALUATION)
        assert (text_at(error), error.notes) == ("st.set(n=st.n + 60)", ("while evaluating Increase",))

    def test_an_invariant_that_raises_is_an_error_of_its_own_kind(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.invariant\ndef Fails(st):\n    return {0: True, 1: True}[st.n]\n"
        result, error = failing(tmp_path, source, "INVARIANT Fails")
        assert (type(error), result.exit_status()) == (InvariantError, ExitStatus.INVARIANT_EVALUATION)
        assert (text_at(error), error.notes) == ("{0: True, 1: True}[st.n]", ("while evaluating Fails",))

    def test_an_invariant_that_is_not_a_bool_is_an_error(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.invariant\ndef Fails(st):\n    return st.n\n"
        _, error = failing(tmp_path, source, "INVARIANT Fails")
        assert error.message == "Fails is 0, not True or False"

    def test_an_action_property_that_raises_ends_before_the_step(self, tmp_path: Path) -> None:
        source = COUNTER.replace("nxt.n != 3", "{0: True, 1: True, 2: True}[nxt.n]")
        result, error = failing(tmp_path, source, "PROPERTY NeverToThree")
        assert result.violation is not None
        assert (error.code, numbers(result.violation.trace)) == ("KMC226", [0, 1, 2])

    def test_a_constraint_that_raises_is_an_error_of_the_spec(self, tmp_path: Path) -> None:
        source = COUNTER.replace("return st.n <= 2", "return {0: True, 1: True}[st.n]")
        result, _ = failing(tmp_path, source, "CONSTRAINT AtMostTwo")
        assert result.exit_status() is ExitStatus.SPEC_EVALUATION

    def test_a_constraint_that_raises_in_an_initial_state_is_an_error_there(self, tmp_path: Path) -> None:
        result, error = failing(
            tmp_path, COUNTER.replace("return st.n <= 2", "return {1: True}[st.n]"), "CONSTRAINT AtMostTwo"
        )
        assert result.violation is not None
        assert (error.code, numbers(result.violation.trace)) == ("KMC226", [0])

    def test_a_spec_without_initial_states_is_refused(self, tmp_path: Path) -> None:
        source = COUNTER.replace("    yield State(n=0)", "    if Limit > 99:\n        yield State(n=0)")
        with pytest.raises(EvaluationError, match="the spec has no initial state"):
            Search(model_of(tmp_path, source)).run()

    def test_an_error_comes_before_a_violation_of_the_same_length(self, tmp_path: Path) -> None:
        source = COUNTER + "\n\n@spec.invariant\ndef Fails(st):\n    return {0: True, 1: True}[st.n]\n"
        result, _ = failing(tmp_path, source, "INVARIANTS BelowTwo Fails")
        assert result.verdict is Verdict.ERROR

    def test_the_steps_beside_an_error_are_taken(self, tmp_path: Path) -> None:
        cfg = "CONSTANTS Server = {n1, n2} TrustTwo = 2"
        result, _ = failing(tmp_path, BALLOT, cfg)
        free = Search(model_of(tmp_path, BALLOT, "CONSTANT Server = {n1, n2}")).run()
        depth = result.counters.depth
        # At the level of the error, every vote of weight 2 at a total of 2 or more fails; the others go on.
        assert result.levels[:-1] == free.levels[: depth - 1]
        assert 0 < result.levels[-1] < free.levels[depth - 1]


class TestReplay:
    def test_a_counterexample_that_does_not_replay_is_never_returned(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def shortened(*arguments: Any) -> Trace:
            return Trace(trace_of(*arguments).steps[1:])

        monkeypatch.setattr(search_module, "trace_of", shortened)
        with pytest.raises(KmcError, match="state 1 of the trace is not an initial state"):
            Search(model_of(tmp_path, COUNTER, "INVARIANT BelowTwo")).run()
