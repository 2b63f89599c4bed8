"""What dropping unread state would save, measured on the first levels, and what the trial on states refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.process_kinds import KINDS, process_model
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.checking.unread.savings import unread_savings
from kmc.compiler.checks.unread.unread_state import unread_state

COMPARED = """
class Pair(Record):
    a: Int(0, 2)
    b: Int(0, 2)


class State(Record):
    now: Pair
    before: Pair
    over: Bool


@spec.init
def init():
    yield State(now=Pair(a=0, b=0), before=Pair(a=0, b=0), over=False)


@spec.action
def step(st, b: Int(0, 2)):
    yield st.set(now=Pair(a=0, b=b))


@spec.action
def end(st):
    require(st.now != st.before)
    yield st.set(over=True)


@spec.invariant
def NotOver(st):
    return not st.over
"""

VOTES = """
Server = constant("Server", IdentSet(), "All servers")


class Vote(Message):
    epoch: Int(0, 2)
    source: Server
    dest: Server


class State(Record):
    sent: MessageSet[Vote]
    nodes: Map[Server, Node]


@spec.init
def init():
    yield State(sent=set(), nodes={{i: Node(current=0, votes=0) for i in Server}})


@spec.action
def rise(st, i: Server):
    me = st.nodes[i]
    require(me.current < 2)
    yield st.set(nodes=st.nodes.set(i, me.set(current=me.current + 1)))


@spec.action
def vote(st, i: Server, j: Server):
    yield st.set(sent=st.sent.send(Vote(epoch=st.nodes[i].current, source=i, dest=j)))


@spec.receive(Vote)
def count_vote(st, m):
    me = st.nodes[m.dest]
    if {guard}:
        yield st.set(sent=st.sent.discard(m), nodes=st.nodes.set(m.dest, me.set(votes={votes})))
""".replace("class State", "class Node(Record):\n    current: Int(0, 2)\n    votes: Int(0, 2)\n\n\nclass State", 1)


def dropped(folder: Path, source: str, cfg: str = "") -> list[str]:
    savings = unread_savings(model_of(folder, source, cfg), seconds=60)
    return [] if savings is None else [saving.what for saving in savings.dropped]


def test_what_is_dropped_is_measured_on_the_first_levels() -> None:
    savings = unread_savings(shipped_model("two_phase_commit", "smoke"))
    assert savings is not None
    assert (savings.states, savings.levels) == (288, 11)
    (only,) = savings.dropped
    assert (only.what, only.states) == ("prepared of State while tm is Aborted or Committed", 136)


def test_a_field_that_only_a_comparison_of_whole_records_reads_is_refused_by_the_trial(tmp_path: Path) -> None:
    cfg = "INVARIANT NotOver"
    assert "b of Pair" in [str(found) for found in unread_state(model_of(tmp_path / "text", COMPARED, cfg))]
    assert dropped(tmp_path / "states", COMPARED, cfg) == []
    assert dropped(tmp_path / "unasked", COMPARED) == ["over of State"]


OLDER = "Vote in sent while its epoch < current of its receiver"


@pytest.mark.slow
def test_messages_older_than_their_receiver_are_dropped_where_no_step_notices(tmp_path: Path) -> None:
    cfg = "CONSTANT Server = {s1, s2}"
    ignored = VOTES.format(guard="m.epoch == me.current", votes="min(2, me.votes + 1)")
    counted = VOTES.format(guard="m.epoch <= me.current", votes="min(2, me.votes + 1)")
    asked = "\n\n@spec.invariant\ndef Few(st):\n    return all(st.nodes[i].votes < 2 for i in Server)\n"
    assert OLDER in dropped(tmp_path / "ignored", ignored + asked, cfg + " INVARIANT Few")
    assert OLDER not in dropped(tmp_path / "counted", counted + asked, cfg + " INVARIANT Few")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_specs_with_processes_of_any_kind_are_looked_through(kind: str, tmp_path: Path) -> None:
    unread_savings(process_model(tmp_path, kind, "invariant"), states=50, seconds=5)


NESTED = """
class Inner(Record):
    read: Int(0, 2)
    tick: Int(0, 2)


class State(Record):
    lists: Seq[Opt[Inner], 2]
    pairs: Map[Side, Opt[Inner]]


@spec.init
def init():
    yield State(lists=[None, Inner(read=0, tick=0)], pairs={i: None for i in range(0, 2)})


@spec.action
def step(st, i: Side):
    old = st.lists.at(2)
    require(old is not None and old.read < 2)
    for tick in range(0, 3):
        inner = Inner(read=old.read + 1, tick=tick)
        yield st.set(lists=[None, inner], pairs=st.pairs.set(i, inner))
"""


def test_a_field_is_cleared_in_records_that_are_optional_in_sequences_and_maps(tmp_path: Path) -> None:
    assert dropped(tmp_path, "Side = Int(0, 1)\n" + NESTED) == ["pairs of State", "tick of Inner"]
