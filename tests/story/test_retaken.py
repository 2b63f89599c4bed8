"""A recorded trace is taken again by a spec that has changed: it stops at the first step that no longer holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.errors import TraceError
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.reference.recurrence import RecordedFailure, recurs
from kmc.reference.search import Search
from kmc.result import Verdict
from kmc.story.retaken import Retaken, StopReason, retake
from kmc.trace.files import trace_file
from kmc.trace.tlc_json import parse_tlc_json, tlc_json_text
from kmc.trace.untyped_trace import TraceFile

SPEC = """
Server = constant("Server", IdentSet(), "The servers")


class Node(Record):
    epoch: Int(0, 3)
    voted: Bool


class State(Record):
    servers: Map[Server, Node]


@spec.init
def init():
    yield State(servers={s: Node(epoch=0, voted=False) for s in Server})


@spec.action
def start(st, s: Server):
    if not st.servers[s].voted:
        yield st.set(servers=st.servers.set(s, Node(epoch=st.servers[s].epoch + 1, voted=True)))


@spec.action
def restart(st, s: Server):
    if st.servers[s].voted and st.servers[s].epoch < 3:
        yield st.set(servers=st.servers.set(s, st.servers[s].set(voted=False)))


@spec.invariant
def Low(st):
    return all(me.epoch < 2 for me in st.servers.values())


@spec.action_property
def KeepsVote(st, new):
    return all(new.servers[s].voted for s in st.servers if st.servers[s].voted)
"""
CFG = "CONSTANT Server = {n1, n2}\nINVARIANT Low"
LOW = RecordedFailure(Verdict.VIOLATION, "Low")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> TraceFile:
    model = model_of(tmp_path_factory.mktemp("before"), SPEC, CFG)
    violation = Search(model).run().violation
    assert violation is not None
    return trace_file(violation.trace, model, "violation", violated="Low")


def retaken(folder: Path, file: TraceFile, *changes: tuple[str, str]) -> Retaken:
    """The trace, taken by the spec with these changes of its text."""
    source = SPEC
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return retake(file, model_of(folder, source, CFG), LOW)


def test_all_steps_hold_and_the_failure_is_there(recorded: TraceFile, tmp_path: Path) -> None:
    found = retaken(tmp_path, recorded)
    assert [step.label for step in found.steps] == ["Initial predicate", "Start(n2)", "Restart(n2)", "Start(n2)"]
    assert (found.stop, found.shows) == (None, True)


def test_a_property_that_holds_now_is_seen(recorded: TraceFile, tmp_path: Path) -> None:
    found = retaken(tmp_path, recorded, ("me.epoch < 2", "me.epoch < 3"))
    assert (found.stop, found.shows) == (None, False)


def test_a_step_whose_guard_is_stronger_now_stops_the_replay(recorded: TraceFile, tmp_path: Path) -> None:
    stop = retaken(tmp_path, recorded, ("epoch < 3:", "epoch < 1:")).stop
    assert stop is not None
    assert (stop.number, stop.reason) == (3, StopReason.NOT_ENABLED)
    assert stop.sentence == "Step 3: Restart(n2) is not enabled in state 2 any more."
    assert stop.action is not None
    assert (stop.action.title, [str(value) for value in stop.arguments]) == ("Restart", ["n2"])


def test_a_renamed_action_is_named(recorded: TraceFile, tmp_path: Path) -> None:
    stop = retaken(tmp_path, recorded, ("def restart(", "def restarts(")).stop
    assert stop is not None
    assert (stop.number, stop.reason) == (3, StopReason.NO_ACTION)
    assert stop.sentence == "Step 3: the spec has no action Restart."
    assert stop.details == ("Did you mean Restarts?", "The same state is reached by Restarts(n2).")


def test_an_action_with_other_parameters_is_named(recorded: TraceFile, tmp_path: Path) -> None:
    stop = retaken(tmp_path, recorded, ("def restart(st, s: Server)", "def restart(st, s: Server, hard: Bool)")).stop
    assert stop is not None
    assert (stop.number, stop.reason) == (3, StopReason.OTHER_PARAMETERS)
    assert stop.sentence == "Step 3: Restart has the parameters s, hard, but the trace gives s."
    assert stop.details == ("The same state is reached by Restart(n2, false) and by Restart(n2, true).",)


def test_where_a_step_leads_now_is_told_down_to_the_field(recorded: TraceFile, tmp_path: Path) -> None:
    stop = retaken(tmp_path, recorded, ("set(voted=False)", "set(voted=False, epoch=0)")).stop
    assert stop is not None
    assert (stop.number, stop.reason) == (3, StopReason.LEADS_ELSEWHERE)
    assert stop.sentence == "Step 3: Restart(n2) leads to another state now."
    assert stop.details == ("servers.epoch of n2: 1 in the trace, 0 now",)


def test_differences_are_told_in_the_notation_of_views(recorded: TraceFile, tmp_path: Path) -> None:
    stop = retaken(tmp_path, recorded, ("set(voted=False)", "set(voted=True)")).stop
    assert stop is not None
    assert stop.details == ("servers.voted of n2: false in the trace, true now",)


def test_another_initial_state_is_told_down_to_the_field(recorded: TraceFile, tmp_path: Path) -> None:
    found = retaken(tmp_path, recorded, ("Node(epoch=0, voted=False)", "Node(epoch=1, voted=False)"))
    assert found.steps == ()
    assert found.stop is not None
    assert (found.stop.number, found.stop.reason) == (1, StopReason.NOT_INITIAL)
    assert found.stop.details == (
        "servers.epoch of n1: 0 in the trace, 1 now",
        "servers.epoch of n2: 0 in the trace, 1 now",
    )


def test_a_new_variable_is_left_open_and_all_its_values_are_followed(recorded: TraceFile, tmp_path: Path) -> None:
    # Only from disks=2 do all steps hold: the replay must not follow the first initial state alone.
    found = retaken(
        tmp_path,
        recorded,
        ("    servers: Map[Server, Node]", "    servers: Map[Server, Node]\n    disks: Int(0, 2)"),
        ("    yield State(servers", "    for disks in range(3):\n        yield State(disks=disks, servers"),
        ("st.servers[s].epoch < 3", "st.disks == 2"),
    )
    assert (found.stop, found.shows) == (None, True)
    assert found.notes == ("Not compared, since the trace does not have them: disks.",)
    assert found.states[-1].disks == 2


def test_actions_that_a_trace_does_not_name_are_found(recorded: TraceFile, tmp_path: Path) -> None:
    unnamed = replace(recorded, steps=tuple(replace(s, action=None, arguments=()) for s in recorded.steps))
    assert [step.label for step in retaken(tmp_path, unnamed).steps[1:]] == ["Start(n2)", "Restart(n2)", "Start(n2)"]
    changed = retaken(tmp_path, unnamed, ("set(voted=False)", "set(voted=False, epoch=0)")).stop
    assert changed is not None
    assert changed.sentence == "Step 3: no action of the spec leads from state 2 to it."
    assert changed.details == ("servers.epoch of n2: 1 in the trace, 0 now",)


def test_a_trace_of_tlc_is_taken_by_the_types_of_the_spec(recorded: TraceFile, tmp_path: Path) -> None:
    found = retaken(tmp_path, parse_tlc_json(tlc_json_text(recorded)))
    assert (found.stop, found.shows) == (None, True)


def test_a_trace_of_another_spec_is_an_error(recorded: TraceFile, tmp_path: Path) -> None:
    other = replace(
        recorded, variables=("big",), steps=tuple(replace(step, variables={"big": 1}) for step in recorded.steps)
    )
    with pytest.raises(TraceError) as caught:
        retaken(tmp_path, other)
    assert (caught.value.code, caught.value.message) == ("KMC429", "the trace has no variable of the spec 'spec'")


def test_a_property_that_the_spec_does_not_have_is_an_error(recorded: TraceFile, tmp_path: Path) -> None:
    model = model_of(tmp_path, SPEC, CFG)
    states = retake(recorded, model).states
    with pytest.raises(TraceError) as caught:
        recurs(model, RecordedFailure(Verdict.VIOLATION, "Lov"), states, None)
    assert (caught.value.code, caught.value.help) == ("KMC428", "did you mean 'Low'?")


def test_an_action_property_fails_at_its_own_step_only(recorded: TraceFile, tmp_path: Path) -> None:
    model = model_of(tmp_path, SPEC, CFG)
    states = retake(recorded, model).states
    kept = RecordedFailure(Verdict.VIOLATION, "KeepsVote")
    assert [recurs(model, kept, states[:length], None) for length in (1, 2, 3, 4)] == [False, False, True, False]


def test_a_deadlock_that_is_none_any_more_is_seen(tmp_path: Path) -> None:
    source = SPEC.replace("me.epoch < 2", "me.epoch <= 3")
    violation = Search(model_of(tmp_path / "before", source, CFG)).run().violation
    assert violation is not None
    assert violation.verdict is Verdict.DEADLOCK
    model = model_of(tmp_path / "before", source, CFG)
    file = trace_file(violation.trace, model, "deadlock")
    failure = RecordedFailure(Verdict.DEADLOCK, None)
    assert retake(file, model, failure).shows is True
    stutters = model_of(tmp_path / "after", source + "\n\n@spec.action\ndef idle(st):\n    yield st\n", CFG)
    assert retake(file, stutters, failure).shows is False


TOGGLE = """
from kmc.spec import NEXT, eventually, weak_fairness


class State(Record):
    x: Int(0, 2)


@spec.init
def init():
    yield State(x=0)


@spec.action
def toggle(st):
    yield st.set(x=1 - st.x)


@spec.specification
def Fair():
    return weak_fairness(NEXT)


@spec.liveness
def GetsToTwo():
    return eventually(lambda st: st.x == 2)
"""
TOGGLE_CFG = "SPECIFICATION Fair PROPERTY GetsToTwo"


def lasso(model: Model) -> TraceFile:
    """The trace of the lasso that a check finds."""
    violation = Search(model, problem=problem_of(model)).run().violation
    assert violation is not None
    assert violation.refutation is not None
    cycle = violation.refutation.cycle
    assert cycle is not None
    return trace_file(violation.trace, model, "liveness", violated=violation.name, loop=cycle.back_to - 1,
                      closing=cycle.closing)  # fmt: skip


def test_the_cycle_of_a_lasso_is_taken_too(tmp_path: Path) -> None:
    failure = RecordedFailure(Verdict.LIVENESS, "GetsToTwo")
    before = model_of(tmp_path / "before", TOGGLE, TOGGLE_CFG)
    file = lasso(before)
    found = retake(file, before, failure)
    assert (found.loop, found.closing and found.closing.label, found.shows) == (0, "Toggle", True)
    onward = TOGGLE.replace("st.set(x=1 - st.x)", "st.set(x=st.x + 1 if st.x < 2 else 2)")
    stop = retake(file, model_of(tmp_path / "after", onward, TOGGLE_CFG), failure).stop
    assert stop is not None
    assert (stop.number, stop.sentence) == (3, "Step 3: Toggle leads to another state now.")
    assert stop.details == ("x: 0 in the trace, 2 now",)


def test_a_cycle_that_is_not_fair_any_more_refutes_nothing(tmp_path: Path) -> None:
    before = model_of(tmp_path / "before", TOGGLE, TOGGLE_CFG)
    source = TOGGLE + "\n\n@spec.action\ndef finish(st):\n    yield st.set(x=2)\n"
    fairly = source.replace("return weak_fairness(NEXT)", "return weak_fairness(finish)")
    after = model_of(tmp_path / "after", fairly, TOGGLE_CFG)
    found = retake(lasso(before), after, RecordedFailure(Verdict.LIVENESS, "GetsToTwo"))
    assert (found.stop, found.shows) == (None, False)


def test_states_without_a_cycle_refute_no_promise_that_a_later_one_may_keep(tmp_path: Path) -> None:
    bound = model_of(tmp_path, TOGGLE, TOGGLE_CFG)
    start = replace(lasso(bound), loop=None, closing=None)
    assert retake(start, bound, RecordedFailure(Verdict.LIVENESS, "GetsToTwo")).shows is False


def test_the_cycle_closes_in_the_state_that_it_began_in_where_variables_are_new(tmp_path: Path) -> None:
    before = model_of(tmp_path / "before", TOGGLE, TOGGLE_CFG)
    # The closing step may lead to two states that look alike in the trace; only one of them is where it began.
    source = TOGGLE.replace("    x: Int(0, 2)\n", "    x: Int(0, 2)\n    y: Int(0, 1)\n").replace(
        "State(x=0)", "State(x=0, y=1)"
    )
    source = source.replace(
        "    yield st.set(x=1 - st.x)", "    for y in (0, 1):\n        yield st.set(x=1 - st.x, y=y)"
    )
    found = retake(lasso(before), model_of(tmp_path / "after", source, TOGGLE_CFG))
    assert (found.stop, found.loop) == (None, 0)
    assert found.closing is not None
    assert found.closing.state == found.states[0]
