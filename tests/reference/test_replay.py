"""Replay: a true counterexample is accepted, and every planted fault in one is refused at its step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.specs.small import COUNTER, model_of

from kmc.errors import EvaluationError, InternalError, KmcError
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.lang.permutation import permute_state, swaps
from kmc.reference.search import Search
from kmc.reference.states.replay import check_violation, error_at_end, replay
from kmc.result import Trace, TraceStep, Verdict, Violation


def shipped(spec: str, model: str) -> Model:
    """A model of a shipped spec."""
    root = find_spec_root(spec)
    file = find_model(root, model)
    assert file is not None
    return bind(root, file)


def violation_of(model: Model, start: Any = None) -> Violation:
    """What a search finds."""
    violation = Search(model, start=start).run().violation
    assert violation is not None
    return violation


@pytest.fixture(scope="module")
def kraft() -> Model:
    return shipped("kraft", "restarts")


@pytest.fixture(scope="module")
def illegal_state(kraft: Model) -> Violation:
    """The seven states that lead to NoIllegalState."""
    return violation_of(kraft)


def refused(model: Model, trace: Trace, start: Any = None) -> str:
    """The code and message with which a trace is refused."""
    with pytest.raises(InternalError) as caught:
        replay(model, trace, start)
    return f"{caught.value.code} {caught.value.message}"


Alteration = Callable[[list[TraceStep]], None]


def altered(trace: Trace, alter: Alteration) -> Trace:
    """The trace after `alter` has worked on the list of its steps."""
    steps = list(trace.steps)
    alter(steps)
    return Trace(tuple(steps))


def put(steps: list[TraceStep], at: int, **changes: Any) -> None:
    """Change one step, counted from 1."""
    steps[at - 1] = replace(steps[at - 1], **changes)


class TestKRaft:
    def test_the_counterexample_of_the_search_replays(self, kraft: Model, illegal_state: Violation) -> None:
        check_violation(kraft, illegal_state)

    def test_it_replays_from_any_of_its_own_states(self, kraft: Model, illegal_state: Violation) -> None:
        third = illegal_state.trace.steps[2].state
        replay(kraft, Trace((TraceStep(third), *illegal_state.trace.steps[3:])), start=third)

    def test_it_does_not_replay_from_another_start(self, kraft: Model, illegal_state: Violation) -> None:
        start = illegal_state.trace.steps[1].state
        assert refused(kraft, illegal_state.trace, start) == "KMC902 state 1 of the trace is not the given state"

    def test_a_trace_without_its_first_state_is_refused(self, kraft: Model, illegal_state: Violation) -> None:
        trace = Trace(illegal_state.trace.steps[1:])
        assert refused(kraft, trace) == "KMC902 state 1 of the trace is not an initial state"

    def test_a_step_that_is_dropped_is_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        for position in range(1, len(illegal_state.trace) - 1):
            shorter = Trace((*illegal_state.trace.steps[:position], *illegal_state.trace.steps[position + 1 :]))
            assert refused(kraft, shorter).startswith(("KMC904 state", "KMC905 state"))

    def test_two_steps_that_are_swapped_are_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        steps = illegal_state.trace.steps
        for position in range(1, len(steps) - 1):
            swapped = Trace((*steps[:position], steps[position + 1], steps[position], *steps[position + 2 :]))
            assert refused(kraft, swapped).startswith(("KMC904 state", "KMC905 state"))

    def test_one_altered_field_of_any_state_is_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        for number, step in enumerate(illegal_state.trace.steps, start=1):
            other = replace(step, state=step.state.set(restart_ctr=1 - step.state.restart_ctr))
            steps = (*illegal_state.trace.steps[: number - 1], other, *illegal_state.trace.steps[number:])
            assert refused(kraft, Trace(steps)).startswith(f"KMC90{2 if number == 1 else 5} state {number} ")

    def test_the_altered_field_is_named_with_both_values(self, kraft: Model, illegal_state: Violation) -> None:
        last = illegal_state.trace.steps[-1].state
        trace = altered(illegal_state.trace, lambda steps: put(steps, 7, state=last.set(election_ctr=0)))
        with pytest.raises(InternalError) as caught:
            replay(kraft, trace)
        assert caught.value.notes == ("electionCtr is 1, in the trace 0",)

    def test_a_renamed_action_is_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        trace = altered(illegal_state.trace, lambda steps: put(steps, 2, action="Restart"))
        assert refused(kraft, trace).startswith("KMC905 state 2 of the trace: Restart(")

    def test_an_unknown_action_is_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        trace = altered(illegal_state.trace, lambda steps: put(steps, 3, action="Abdicate"))
        assert refused(kraft, trace) == "KMC903 state 3 of the trace: the spec has no action Abdicate"

    def test_an_action_whose_name_is_not_quite_right_is_recognized(
        self, kraft: Model, illegal_state: Violation
    ) -> None:
        trace = altered(illegal_state.trace, lambda steps: put(steps, 3, action="RequestVotes"))
        with pytest.raises(InternalError) as caught:
            replay(kraft, trace)
        assert "RequestVote" in (caught.value.help or "")

    def test_a_changed_argument_is_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        (name, server), *_ = illegal_state.trace.steps[1].arguments
        other = next(member for member in type(server).members if member is not server)
        trace = altered(illegal_state.trace, lambda steps: put(steps, 2, arguments=((name, other),)))
        assert refused(kraft, trace).startswith("KMC905 state 2 of the trace")

    def test_a_renamed_parameter_is_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        (_, server), *_ = illegal_state.trace.steps[1].arguments
        trace = altered(illegal_state.trace, lambda steps: put(steps, 2, arguments=(("k", server),)))
        assert refused(kraft, trace).startswith(
            "KMC908 state 2 of the trace: RequestVote does not take the parameters given"
        )

    def test_arguments_that_are_not_given_are_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        trace = altered(illegal_state.trace, lambda steps: put(steps, 2, arguments=()))
        assert refused(kraft, trace).endswith("RequestVote does not take the parameters given: none")

    def test_a_wrong_label_is_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        trace = altered(illegal_state.trace, lambda steps: put(steps, 2, label="RequestVote(s9)"))
        assert refused(kraft, trace).startswith("KMC906 state 2 of the trace is labelled RequestVote(s9), not ")

    def test_an_action_before_the_first_state_is_noticed(self, kraft: Model, illegal_state: Violation) -> None:
        trace = altered(illegal_state.trace, lambda steps: put(steps, 1, action="Restart"))
        assert refused(kraft, trace).startswith("KMC906 state 1 of the trace")


def rejected(model: Model, violation: Violation) -> str:
    """The message with which a violation is refused whose trace is a behaviour."""
    replay(model, violation.trace)
    with pytest.raises(InternalError) as caught:
        check_violation(model, violation)
    assert caught.value.code == "KMC907"
    return caught.value.message


def one_step_less(violation: Violation) -> Violation:
    """The violation with a trace that ends too early."""
    return replace(violation, trace=Trace(violation.trace.steps[:-1]))


class TestInvariants:
    def test_an_invariant_that_holds_at_the_end_is_refused(self, kraft: Model, illegal_state: Violation) -> None:
        assert rejected(kraft, one_step_less(illegal_state)) == "NoIllegalState holds at the end of the trace"

    def test_the_trace_must_be_a_behaviour(self, kraft: Model, illegal_state: Violation) -> None:
        trace = Trace((TraceStep(illegal_state.trace.steps[-1].state),))
        with pytest.raises(InternalError) as caught:
            check_violation(kraft, replace(illegal_state, trace=trace))
        assert caught.value.code == "KMC902"
        check_violation(kraft, replace(illegal_state, trace=trace), start=trace.steps[0].state)

    def test_an_invariant_that_the_model_does_not_have_is_refused(self, kraft: Model, illegal_state: Violation) -> None:
        message = rejected(kraft, replace(illegal_state, name="TestInv"))
        assert message == "the model has no property TestInv of this kind"

    def test_an_action_property_is_asked_of_the_last_step(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER, "PROPERTY NeverToThree")
        violation = violation_of(model)
        check_violation(model, violation)
        assert rejected(model, one_step_less(violation)) == "NeverToThree holds at the end of the trace"

    def test_an_action_property_needs_a_step(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER, "PROPERTY NeverToThree")
        violation = violation_of(model)
        alone = replace(violation, trace=Trace(violation.trace.steps[:1]))
        assert rejected(model, alone) == "the trace has no last step that could violate NeverToThree"

    def test_an_action_property_may_break_in_the_first_step(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER.replace("nxt.n != 3", "nxt.n != 1"), "PROPERTY NeverToThree")
        violation = violation_of(model)
        assert len(violation.trace) == 2
        check_violation(model, violation)

    def test_a_stuttering_step_breaks_no_action_property(self, tmp_path: Path) -> None:
        source = COUNTER.replace("nxt.n != 3", "nxt.n != 1") + "\n\n@spec.action\ndef idle(st):\n    yield st\n"
        model = model_of(tmp_path, source, "PROPERTY NeverToThree")
        violation = violation_of(model)
        last = violation.trace.steps[-1].state
        stuttering = Trace((*violation.trace.steps, TraceStep(last, "Idle", "Idle")))
        message = rejected(model, replace(violation, trace=stuttering))
        assert message == "the trace has no last step that could violate NeverToThree"

    def test_a_step_property_is_not_a_state_property(self, tmp_path: Path) -> None:
        model = model_of(tmp_path, COUNTER, "INVARIANT BelowTwo")
        violation = replace(violation_of(model), is_step=True)
        assert rejected(model, violation) == "the model has no property BelowTwo of this kind"


def test_a_deadlock_has_no_successor(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER)
    violation = violation_of(model)
    check_violation(model, violation)
    assert rejected(model, one_step_less(violation)).startswith("the last state of the trace has a successor")


def test_a_verdict_that_is_not_a_violation_is_refused(kraft: Model, illegal_state: Violation) -> None:
    assert rejected(kraft, replace(illegal_state, verdict=Verdict.OK)).startswith("a verdict 'ok' is not a violation")


FAILURES = {
    "an assert": ("    assert st.n < 2\n    yield st.set(n=st.n + 1)\n", "", "KMC290"),
    "a value outside its domain": ("    yield st.set(n=st.n + 1 if st.n < 2 else 7)\n", "", "KMC201"),
    "an invariant that raises": ("    yield st.set(n=st.n + 1)\n", "INVARIANT Fails", "KMC241"),
    "a constraint that raises": ("    yield st.set(n=st.n + 1)\n", "CONSTRAINT FailsAsBound", "KMC241"),
    "an action property that raises": ("    yield st.set(n=st.n + 1)\n", "PROPERTY FailsInStep", "KMC241"),
    "an action constraint that raises": ("    yield st.set(n=st.n + 1)\n", "ACTION_CONSTRAINT FailsAsStep", "KMC241"),
}

FAILING = """
class Inner(Record):
    x: Bool


class State(Record):
    n: Int(0, 5)
    inner: Opt[Inner]


@spec.init
def init():
    yield State(n=0, inner=None)


@spec.action
def increase(st):
BODY

@spec.invariant
def Fails(st):
    return st.n < 2 or st.inner.x


@spec.constraint
def FailsAsBound(st):
    return st.n < 2 or st.inner.x


@spec.action_property
def FailsInStep(st, nxt):
    return nxt.n < 2 or nxt.inner.x


@spec.action_constraint
def FailsAsStep(st, nxt):
    return nxt.n < 2 or nxt.inner.x
"""


@pytest.mark.parametrize("failure", FAILURES)
def test_an_error_recurs_at_the_end_of_its_trace(failure: str, tmp_path: Path) -> None:
    body, cfg, code = FAILURES[failure]
    model = model_of(tmp_path, FAILING.replace("BODY", body), cfg)
    violation = violation_of(model)
    assert violation.error is not None
    assert violation.error.code == code
    check_violation(model, violation)


@pytest.mark.parametrize("failure", FAILURES)
def test_an_error_that_does_not_recur_is_refused(failure: str, tmp_path: Path) -> None:
    body, cfg, _ = FAILURES[failure]
    model = model_of(tmp_path, FAILING.replace("BODY", body), cfg)
    assert rejected(model, one_step_less(violation_of(model))).startswith("the error does not recur")


def test_another_error_is_not_the_error(tmp_path: Path) -> None:
    body, cfg, _ = FAILURES["an assert"]
    model = model_of(tmp_path, FAILING.replace("BODY", body), cfg)
    violation = replace(violation_of(model), error=EvaluationError("KMC290", "not an assertion"))
    assert rejected(model, violation).startswith("the error does not recur")


def test_each_of_several_initial_states_is_a_beginning(tmp_path: Path) -> None:
    two = COUNTER.replace("    yield State(n=0)\n", "    yield State(n=0)\n    yield State(n=2)\n")
    model = model_of(tmp_path, two)
    replay(model, Trace((TraceStep(model.spec.state_class(n=2)),)))


def test_the_error_of_a_state_is_the_error_at_the_end_of_its_trace(tmp_path: Path) -> None:
    model = model_of(tmp_path, CLIENTS, "CONSTANT Client = {a, b} SYMMETRY clients INVARIANT NoneHasFailed")
    violation = violation_of(model)
    last, error = violation.trace.steps[-1].state, violation.error
    assert error is not None
    assert error_at_end(model, violation.trace, last, error) is error
    (swap,) = swaps(model.symmetry[0].classes)[1:]
    found = error_at_end(model, violation.trace, permute_state(last, swap, {}), error)
    assert (found.code, found.span) == (error.code, error.span)
    assert found is not error
    with pytest.raises(KmcError) as caught:
        error_at_end(model, one_step_less(violation).trace, last, error)
    assert caught.value.code == "KMC262"


CLIENTS = """
Client = constant("Client", IdentSet(symmetric=True), "Who")


class State(Record):
    failed: Opt[Client]
    log: Seq[Int(0, 3), 1]


@spec.init
def init():
    yield State(failed=None, log=[])


@spec.action
def fail(st, c: Client):
    yield st.set(failed=c)


@spec.invariant
def NoneHasFailed(st):
    return st.failed is None or st.log.at(1) == 0


spec.symmetry("clients", Client)
"""
