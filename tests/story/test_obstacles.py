"""An action that is not enabled names the guard that stops it, where that stands, and its values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.specs.small import IMPORTS, model_of

from kmc.actions.relation import NextStateRelation
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.story.explain.obstacles import Obstacle, disabled

GUARDED = """
Server = constant("Server", IdentSet(), "The servers")
Limit = constant("Limit", Int(0, 9), "How far a server counts", 2)


class Ping(Message):
    n: Int(0, 3)
    source: Server
    dest: Server


class Pong(Message):
    n: Int(0, 3)
    source: Server
    dest: Server


class State(Record):
    count: Map[Server, Int(0, 3)]
    msgs: MessageSet[Ping | Pong]
    chosen: Set[Server]


@spec.init
def init():
    first = {Ping(n=1, source=s, dest=d) for s in Server for d in Server if s != d}
    yield State(count={s: 2 for s in Server}, msgs=first, chosen=set())


@spec.action
def by_return(st, s: Server):
    if st.count[s] >= Limit:
        return
    yield st.set(count=st.count.set(s, 3))


@spec.action
def by_condition(st, s: Server):
    low = st.count[s] < Limit
    if low:
        yield st.set(count=st.count.set(s, 3))


@spec.action
def by_choice(st):
    for s in st.chosen:
        yield st.set(chosen=st.chosen - {s})


@spec.action
def by_ways(st):
    for _ in ways(len(st.chosen) > 0, Limit == 3):
        yield st.set(chosen=set())


def needs_room(st, s):
    require(st.count[s] < Limit)
    return st.count.set(s, 3)


@spec.action
def by_helper(st, s: Server):
    yield st.set(count=needs_room(st, s))


def yields_if_chosen(st, s):
    if s in st.chosen:
        yield st.set(chosen=set())


@spec.action
def by_delegation(st, s: Server):
    if st.count[s] == 2:
        yield from yields_if_chosen(st, s)


@spec.receive(Ping, s="dest")
def receive_ping(st, m, s):
    if m.n < st.count[s]:
        return
    yield st.set(msgs=st.msgs.discard(m))


@spec.receive(Pong, s="dest")
def receive_pong(st, m, s):
    yield st.set(msgs=st.msgs.discard(m))
"""


@pytest.fixture(scope="module")
def obstacles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Obstacle]:
    model = model_of(tmp_path_factory.mktemp("guarded"), GUARDED, "CONSTANT Server = {n1, n2}")
    (state,) = initial_states(model)
    found: dict[str, Obstacle] = {}
    for obstacle in disabled(model, state):
        found.setdefault(obstacle.action, obstacle)
    return found


@pytest.mark.parametrize(
    ("action", "guard", "holds", "sentence"),
    [
        ("ByReturn", "st.count[s] >= Limit", True, "count of n1 and Limit are both 2"),
        ("ByCondition", "low", False, "count of n1 and Limit are both 2"),
        ("ByChoice", "st.chosen", False, "chosen is empty"),
        ("ByWays", "ways(len(st.chosen) > 0, Limit == 3)", False, "len(chosen) is 0; Limit is 2, not 3"),
        ("ByHelper", "st.count[s] < Limit", False, "count of n1 and Limit are both 2"),
        ("ByDelegation", "s in st.chosen", False, "chosen is {}, which does not contain n1"),
        ("ReceivePing", "m.n < st.count[s]", True, "n of the message is 1, less than count of n2, which is 2"),
        ("ReceivePong", "", False, "there is no Pong to receive"),
    ],
)
def test_each_kind_of_guard_is_found(
    obstacles: dict[str, Obstacle], action: str, guard: str, holds: bool, sentence: str
) -> None:
    found = obstacles[action]
    assert (found.guard, found.holds, found.sentence) == (guard, holds, sentence)


def test_an_obstacle_names_place_arguments_and_message(obstacles: dict[str, Obstacle]) -> None:
    found = obstacles["ReceivePing"]
    line = (IMPORTS + GUARDED).splitlines().index("    if m.n < st.count[s]:") + 1
    assert found.place.endswith(f"/spec.py:{line}")
    assert found.message == "Ping n1 -> n2, n 1"
    assert found.arguments == (("s", "n2"),)
    assert [(value.expression, value.value) for value in found.values] == [
        ("n of the message", "1"),
        ("count of n2", "2"),
    ]


def _model(spec: str, name: str) -> Model:
    root = find_spec_root(spec)
    file = find_model(root, name)
    assert file is not None
    return bind(root, file)


def _states(model: Model, count: int) -> list[Any]:
    search = Search(model)
    search.run()
    states = list(search.graph.states)
    return states[:: max(1, len(states) // count)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "name"), [("two_phase_commit", "smoke"), ("kip_996", "leader_commits_alone"), ("kraft", "new_table")]
)
def test_every_disabled_instance_of_a_shipped_spec_has_a_guard(spec: str, name: str) -> None:
    model = _model(spec, name)
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    for state in _states(model, 4):
        enabled = [i for i in relation.instances(state) if relation.successors(i, state)]
        found = disabled(model, state)
        with_guard = [obstacle for obstacle in found if obstacle.guard]
        assert len(enabled) + len(with_guard) == len(list(relation.instances(state)))
        assert all(o.sentence.startswith("there is no ") for o in found if not o.guard)


def test_of_several_paths_the_one_that_comes_furthest_names_the_guard(tmp_path: Path) -> None:
    source = """
class State(Record):
    n: Int(0, 3)

@spec.init
def init():
    yield State(n=2)

@spec.action
def climb(st):
    for step in range(1, 4):
        require(st.n >= step)
        require(st.n > 2)
        yield st.set(n=0)

@spec.action
def climb_down(st):
    for step in range(-3, 0):
        require(st.n + step >= 0)
        require(st.n > 2)
        yield st.set(n=0)
"""
    model = model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")
    assert [found.guard for found in disabled(model, initial_states(model)[0])] == ["st.n > 2", "st.n > 2"]
