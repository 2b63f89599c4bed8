"""A story names who acts, follows each message from sending to delivery, and lists changes down to the field."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of
from support.views.stories import story_of_finding

from kmc.frontend.binding import bind
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.reference.search import Search
from kmc.story.parts.story import Change, Story
from kmc.story.tell import tell

PINGS = """
Server = constant("Server", IdentSet(), "The servers")


class Ping(Message):
    epoch: Int(0, 3)
    source: Server
    dest: Server


class Node(Record):
    epoch: Int(0, 3)
    log: Seq[Int(0, 3), 2]


class State(Record):
    msgs: MessageSet[Ping]
    servers: Map[Server, Node]


@spec.init
def init():
    yield State(msgs=set(), servers={s: Node(epoch=0, log=[]) for s in Server})


@spec.action
def ping(st, s: Server):
    "Server s pings all others."
    if st.servers[s].epoch == 0 and len(st.msgs) == 0:
        me = st.servers[s].set(epoch=1)
        yield st.set(
            servers=st.servers.set(s, me),
            msgs=st.msgs.send_all({Ping(epoch=1, source=s, dest=d) for d in Server if d != s}),
        )


@spec.receive(Ping, s="dest")
def pong(st, m, s):
    "Server s notes the epoch."
    if st.servers[s].epoch != 0:
        return
    me = st.servers[s].set(log=st.servers[s].log.append(m.epoch), epoch=1)
    yield st.set(servers=st.servers.set(s, me), msgs=st.msgs.discard(m))


@spec.action
def cut(st):
    "Everything in flight is lost."
    if len(st.msgs) == 1 and any(me.log == [1] for me in st.servers.values()):
        yield st.set(msgs=st.msgs.keep(lambda m: False))


@spec.invariant
def NothingIsLost(st):
    return not (len(st.msgs) == 0 and any(me.log == [1] for me in st.servers.values()))
"""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    model = model_of(tmp_path_factory.mktemp("pings"), PINGS, "CONSTANT Server = {n1, n2, n3}\nINVARIANT NothingIsLost")
    violation = Search(model).run().violation
    assert violation is not None
    return tell(model.spec, violation.trace)


def test_every_step_names_who_acts_and_the_message(story: Story) -> None:
    assert story.lanes == ("n1", "n2", "n3")
    assert [(step.label, step.actor) for step in story.steps] == [
        ("Initial state", None),
        ("Ping(n2)", "n2"),
        ("Pong n2 -> n3, epoch 1", "n3"),
        ("Cut", None),
    ]
    assert [step.doc for step in story.steps[1:]] == [
        "Server s pings all others.",
        "Server s notes the epoch.",
        "Everything in flight is lost.",
    ]


def test_each_message_is_followed_to_its_end(story: Story) -> None:
    assert [(m.name, m.brief, m.sent_at, m.received_at, m.lost_at) for m in story.messages] == [
        ("m1", "Ping n2 -> n1, epoch 1", 2, (), 4),
        ("m2", "Ping n2 -> n3, epoch 1", 2, (3,), None),
    ]
    assert [m.gone_at for m in story.messages] == [4, 3]
    assert [(step.sent, step.received, step.lost) for step in story.steps] == [
        ((), None, ()),
        ((1, 2), None, ()),
        ((), 2, ()),
        ((), None, (1,)),
    ]


def test_changes_name_the_field_and_the_process(story: Story) -> None:
    first = story.steps[1].changes
    assert first == (Change(("servers", "n2", "epoch"), "n2", "0", "1"),)
    assert Change(("servers", "n3", "log", "[1]"), "n3", None, "1") in story.steps[2].changes
    assert story.steps[3].changes == ()


@pytest.mark.slow
def test_a_flag_of_a_message_is_told_when_it_is_false_too() -> None:
    told = story_of_finding("kip_996", "own_vote_elects")
    votes = [message.brief for message in told.messages if message.kind == "RequestVoteRequest"]
    assert votes[:3:2] == [
        "RequestVoteRequest s2 -> s1, replica_epoch 1, pre_vote",
        "RequestVoteRequest s2 -> s1, replica_epoch 2, not pre_vote",
    ]


@pytest.mark.slow
def test_spawned_servers_carry_a_letter_and_declared_columns_are_shown() -> None:
    root = find_spec_root("kip_996")
    file = find_model(root, "own_vote_elects")
    assert file is not None
    model = bind(root, file)
    violation = Search(model).run().violation
    assert violation is not None
    told = tell(model.spec, violation.trace)
    assert told.lanes == ("s1", "s2", "s3")
    assert [column.title for column in told.columns] == ["state", "epoch", "leader", "log end", "high watermark"]
    assert [column.length for column in told.columns] == [False, False, False, True, False]
    assert told.networks == ("net_messages",)
    assert told.archives == ("net_messages_processed",)
    assert told.steps[-1].label == "BecomeLeader(s3)"


def test_a_spec_without_processes_has_a_story_too(tmp_path: Path) -> None:
    source = """
class State(Record):
    n: Int(0, 3)

@spec.init
def init():
    yield State(n=0)

@spec.action
def up(st):
    yield st.set(n=st.n + 1 if st.n < 3 else 3)

@spec.invariant
def Low(st):
    return st.n < 2
"""
    model = model_of(tmp_path, source, "INVARIANT Low")
    violation = Search(model).run().violation
    assert violation is not None
    told = tell(model.spec, violation.trace)
    assert told.lanes == ()
    assert told.messages == ()
    assert told.steps[1].changes == (Change(("n",), None, "0", "1"),)


COPIES = """
Client = constant("Client", IdentSet(), "The clients")


class Note(Message):
    source: Client
    dest: Client


class State(Record):
    net: MessageBag[Note]
    n: Int(0, 3)


@spec.init
def init():
    yield State(net={}, n=0)


@spec.action
def write(st, c: Client):
    if st.n < 2:
        yield st.set(net=st.net.add(Note(source=c, dest=c)), n=st.n + 1)


@spec.receive(Note)
def read(st, m):
    if st.n == 2:
        yield st.set(net=st.net.take(m), n=3)


@spec.invariant
def NothingIsRead(st):
    return st.n < 3
"""


def test_one_of_two_equal_messages_is_received_and_the_other_one_stays(tmp_path: Path) -> None:
    model = model_of(tmp_path, COPIES, "CONSTANT Client = {c1}\nINVARIANT NothingIsRead")
    violation = Search(model).run().violation
    assert violation is not None
    told = tell(model.spec, violation.trace)
    last = told.steps[-1]
    assert (last.number, last.received, last.sent, last.lost) == (4, 1, (), ())
    assert [(message.received_at, message.lost_at, message.gone_at) for message in told.messages] == [
        ((4,), None, 4),
        ((), None, None),
    ]
