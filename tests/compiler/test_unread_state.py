"""Fields and messages that nothing reads any more, as the text of a spec says."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.compiler.checks.unread.unread_state import unread_state

ROLES = """
Server = constant("Server", IdentSet(), "All servers")


class Role(Enum):
    FOLLOWER, CANDIDATE, LEADER = range(3)


class Node(Record):
    role: Role
    votes: Set[Server]
    seen: Int(0, 3)


class State(Record):
    nodes: Map[Server, Node]


@spec.init
def init():
    yield State(nodes={i: Node(role=Role.FOLLOWER, votes=set(), seen=0) for i in Server})


def put(st, i, me):
    return st.set(nodes=st.nodes.set(i, me))


@spec.action
def stand(st, i: Server):
    me = st.nodes[i]
    require(me.role == Role.FOLLOWER)
    yield put(st, i, me.set(role=Role.CANDIDATE, votes={i}, seen=0))


"""

VOTED = """
@spec.action
def voted(st, i: Server, j: Server):
    me = st.nodes[i]
    if me.role != Role.CANDIDATE:
        return
    if me.seen < 3:
        yield put(st, i, me.set(votes=me.votes | {j}, seen=me.seen + 1))


"""

CFG = "CONSTANT Server = {s1, s2}\nINIT Init\nNEXT Next\n"


def unread(folder: Path, source: str, cfg: str = CFG) -> list[str]:
    return [str(found) for found in unread_state(model_of(folder, source, cfg))]


WON = {
    "a test before": """
@spec.action
def win(st, i: Server):
    me = st.nodes[i]
    if me.role == Role.CANDIDATE and len(me.votes) > 1:
        yield put(st, i, me.set(role=Role.LEADER))
""",
    "a test that ends the action": """
@spec.action
def win(st, i: Server):
    if st.nodes[i].role in {Role.FOLLOWER, Role.LEADER}:
        return
    me = st.nodes[i]
    require(len(me.votes) > 1)
    yield put(st, i, me.set(role=Role.LEADER))
""",
    "helpers of other names": """
def is_standing(node):
    return node.role == Role.CANDIDATE


def has_most(votes):
    return len(votes) > 1


@spec.action
def win(st, who: Server):
    candidate = st.nodes[who]
    if not is_standing(candidate):
        return
    enough = has_most(candidate.votes)
    if enough:
        yield put(st, who, candidate.set(role=Role.LEADER))
""",
    "a condition of a comprehension": """
@spec.action
def win(st, i: Server):
    require(i in {j for j in Server if st.nodes[j].role == Role.CANDIDATE and len(st.nodes[j].votes) > 1})
    yield put(st, i, st.nodes[i].set(role=Role.LEADER))
""",
}


@pytest.mark.parametrize("way", WON)
def test_a_field_is_unread_where_all_its_reads_are_behind_a_test(way: str, tmp_path: Path) -> None:
    found = unread(tmp_path, ROLES + VOTED + WON[way])
    assert "votes of Node while role is Follower or Leader" in found


READ = {
    "without a test": "len(me.votes) > 1",
    "under the other test": "me.role == Role.FOLLOWER and len(me.votes) > 1",
    "beside the test": "me.role == Role.CANDIDATE or len(me.votes) > 1",
    "of another record": "st.nodes[i].role == Role.CANDIDATE and any(len(st.nodes[j].votes) > 1 for j in Server)",
}


@pytest.mark.parametrize("way", READ)
def test_a_field_is_read_where_the_test_says_nothing_about_it(way: str, tmp_path: Path) -> None:
    win = f"""
@spec.action
def win(st, i: Server):
    me = st.nodes[i]
    if {READ[way]}:
        yield put(st, i, me.set(role=Role.LEADER))
"""
    assert "votes of Node while role is Follower or Leader" not in unread(tmp_path, ROLES + VOTED + win)


def test_a_property_that_is_checked_reads_and_one_that_is_not_does_not(tmp_path: Path) -> None:
    few = "\n@spec.invariant\ndef Few(st):\n    return all(len(st.nodes[i].votes) < 3 for i in Server)\n"
    source = ROLES + VOTED + WON["a test before"] + few
    assert "votes of Node while role is Follower or Leader" in unread(tmp_path / "without", source)
    found = unread(tmp_path / "with", source, CFG + "INVARIANT Few\n")
    assert found == ["seen of Node while role is Follower or Leader"]


def test_a_field_that_is_not_set_when_it_comes_into_use_is_kept(tmp_path: Path) -> None:
    source = ROLES.replace("role=Role.CANDIDATE, votes={i}, seen=0", "role=Role.CANDIDATE, seen=0")
    assert unread(tmp_path, source + VOTED + WON["a test before"]) == ["seen of Node while role is Follower or Leader"]


def test_a_field_that_only_its_own_next_value_reads_is_never_read(tmp_path: Path) -> None:
    source = """
class State(Record):
    n: Int(0, 3)
    steps: Int(0, 9)
    shadow: Int(0, 9)


@spec.init
def init():
    yield State(n=0, steps=0, shadow=0)


@spec.action
def step(st):
    if st.n < 3:
        yield st.set(n=st.n + 1, steps=min(st.steps + 1, 9), shadow=st.steps)
"""
    assert unread(tmp_path, source, "INIT Init\nNEXT Next\n") == ["steps of State", "shadow of State"]


def test_messages_that_a_bag_keeps_and_those_older_than_their_receiver_are_proposed(tmp_path: Path) -> None:
    source = """
Server = constant("Server", IdentSet(), "All servers")


class Vote(Message):
    epoch: Int(0, 3)
    source: Server
    dest: Server


class Node(Record):
    current: Int(0, 3)


class State(Record):
    sent: MessageBag[Vote, 9, 2]
    nodes: Map[Server, Node]


@spec.init
def init():
    yield State(sent={}, nodes={i: Node(current=0) for i in Server})


@spec.receive(Vote)
def take(st, m):
    if m.epoch < st.nodes[m.dest].current:
        return
    yield st.set(sent=st.sent.take(m), nodes=st.nodes.set(m.dest, Node(current=m.epoch)))
"""
    assert unread(tmp_path, source) == [
        "source of Vote",
        "Vote in sent after its delivery",
        "Vote in sent while its epoch < current of its receiver",
    ]


def test_plain_records_of_a_network_have_no_receiver_that_they_could_be_older_than(tmp_path: Path) -> None:
    world = """
class Note(Record):
    n: Int(0, 3)


class State(Record):
    notes: MessageSet[Note, 4]


@spec.init
def init():
    yield State(notes=set())


@spec.action
def write(st, n: Int(0, 3)):
    yield st.set(notes=st.notes.send(Note(n=n)))
"""
    assert [str(found) for found in unread_state(model_of(tmp_path, world))] == ["notes of State", "n of Note"]


def test_kraft_reads_votes_of_candidates_only() -> None:
    found = [str(proposal) for proposal in unread_state(shipped_model("kraft", "standard"))]
    others = "Follower or IllegalState or Leader or Resigned or Unattached or Voted"
    assert f"votes_granted of Node while state is {others}" in found
