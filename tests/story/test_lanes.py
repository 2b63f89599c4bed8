"""The types of a spec say which values are processes, not how a key, a field or an argument happens to be called."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.process_kinds import violation_of
from support.specs.small import model_of

from kmc.story.parts.story import Change
from kmc.story.tell import tell

TALK = """
Server = constant("Server", IdentSet(), "Who talks")
Process = Int(1, 3)


class Ping(Message):
    source: Process
    dest: Process


class Node(Record):
    on: Bool
    n1: Bool


class State(Record):
    net: MessageSet[Ping]
    nodes: Map[Int(1, 2), Node]
    slots: Map[Int(1, 2), Bool]
    seen: Map[Process, Set[Process]]
    n1: Map[Server, Bool]


@spec.init
def init():
    yield State(
        net=set(), nodes={i: Node(on=False, n1=False) for i in range(1, 3)}, slots={i: False for i in range(1, 3)},
        seen={i: set() for i in range(1, 4)}, n1={s: False for s in Server},
    )


@spec.action
def change(st, epoch: Int(1, 2), p: Process):
    if epoch == 1 and p == 2 and not st.slots[1]:
        yield st.set(
            net={Ping(source=2, dest=1), Ping(source=1, dest=3)},
            nodes=st.nodes.set(1, Node(on=True, n1=True)), slots=st.slots.set(1, True),
            seen=st.seen.set(3, {1}), n1={s: True for s in Server},
        )


@spec.receive(Ping)
def arrive(st, m):
    yield st.set(net=st.net.discard(m))


@spec.invariant
def Quiet(st):
    return not st.slots[1]
"""


def test_the_process_of_a_change_is_found_by_the_types_along_its_path(tmp_path: Path) -> None:
    model = model_of(tmp_path, TALK, "CONSTANT Server = {n1, n2} INVARIANT Quiet CHECK_DEADLOCK FALSE")
    story = tell(model.spec, violation_of(model).trace)
    assert story.lanes == ("1", "2", "3")
    assert story.of_lane == ("nodes", "seen")
    step = story.steps[1]
    assert [(change.path, change.lane) for change in step.changes] == [
        (("nodes", "1", "on"), "1"),
        (("nodes", "1", "n1"), "1"),
        (("slots", "1"), None),
        (("seen", "3"), "3"),
        (("n1", "n1"), None),
        (("n1", "n2"), None),
    ]
    # Neither sender of its messages is the only one; of the arguments, the second is a process.
    assert step.actor == "2"


SHARED = """
{kind}
Slot = Int(1, 2)


class State(Record):
    role: Map[Who, Bool]
    vote: PartialMap[Who, Int(0, 1)]
    chosen: Map[Slot, Bool]
    asked: Map[Slot, Bool]


@spec.init
def init():
    yield State(role={{w: False for w in {members}}}, vote={{}}, chosen={{s: False for s in range(1, 3)}},
                asked={{s: False for s in range(1, 3)}})


@spec.action
def choose(st, s: Slot):
    yield st.set(chosen=st.chosen.set(s, True))


@spec.invariant
def Never(st):
    return not st.chosen[2]
"""


@pytest.mark.parametrize(
    ("kind", "members", "lanes", "variables"),
    [
        ("class Who(Enum):\n    ANN, BOB = range(2)", "Who", ("Ann", "Bob"), ("role", "vote")),
        ('Who = constant("Who", IdentSet(), "They")', "Who", None, ("role", "vote")),
        ("Who = Int(5, 6)", "range(5, 7)", ("1", "2", "5", "6"), ("role", "vote", "chosen", "asked")),
    ],
    ids=["enumeration", "identifiers", "numbers"],
)
def test_keys_that_several_maps_share_are_processes_and_names_come_before_numbers(
    tmp_path: Path, kind: str, members: str, lanes: tuple[str, ...] | None, variables: tuple[str, ...]
) -> None:
    cfg = "CONSTANT Who = {ann, bob}" if "IdentSet" in kind else ""
    model = model_of(tmp_path, SHARED.format(kind=kind, members=members), f"{cfg} INVARIANT Never")
    story = tell(model.spec, violation_of(model).trace)
    assert story.lanes == (lanes or ("ann", "bob"))
    assert story.of_lane == variables


def test_a_place_of_a_variable_that_is_called_like_its_process_keeps_its_name() -> None:
    assert Change(("n1", "n1", "epoch"), "n1", "1", "2").place == "n1.epoch of n1"


HEARD = """
class Tell(Message, source="by", dest=None):
    by: Int(1, 2)


class State(Record):
    net: MessageSet[Tell]
    heard: Map[Int(1, 2), Bool]


@spec.init
def init():
    yield State(net={Tell(by=1)}, heard={p: False for p in range(1, 3)})


@spec.receive(Tell, by="by")
def hear(st, m, by, loud: Bool):
    if loud:
        yield st.set(net=st.net.discard(m), heard=st.heard.set(2, True))


@spec.invariant
def Quiet(st):
    return not st.heard[2]
"""


def test_the_sender_of_a_message_without_receiver_is_not_the_process_that_receives_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, HEARD, "INVARIANT Quiet CHECK_DEADLOCK FALSE")
    story = tell(model.spec, violation_of(model).trace)
    step = story.steps[-1]
    assert step.actor is None
    assert story.arrow(story.messages[0], step) == ("1", None)
