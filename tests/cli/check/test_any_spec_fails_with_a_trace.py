"""A check of a spec that fails gives the violation and its trace, however its author names and types things."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import IMPORTS

ELECTION = """
Server = constant("Server", IdentSet(), "Who votes")


class State(Record):
    votes: Set[Server]
    leaders: Set[Server]


@spec.init
def init():
    yield State(votes=frozenset(), leaders=frozenset())


def is_quorum(servers):
    return len(servers) * 2 > len(Server)


@spec.action
def vote(st, s: Server):
    if s not in st.votes:
        yield st.set(votes=st.votes | {s})


@spec.action
def become_leader(st, s: Server):
    if is_quorum(st.votes):
        yield st.set(leaders=st.leaders | {s})


@spec.invariant
def OneLeader(st):
    return len(st.leaders) < 2
"""
PINGS = """
Process = Int(1, 3)


class Ping(Message):
    source: Process
    dest: Process


class State(Record):
    messages: MessageSet[Ping]


@spec.init
def init():
    yield State(messages=frozenset())


@spec.action
def ping(st, p: Process):
    if p < 3 and len(st.messages) < 2:
        yield st.set(messages=st.messages.send(Ping(source=p, dest=p + 1)))


@spec.invariant
def Quiet(st):
    return len(st.messages) < 2
"""
SPECS = {
    "a helper with the name of another spec's": (ELECTION, "OneLeader", 5),
    "one with a majority that is declared": (ELECTION.replace("def is_quorum", "@spec.majority\ndef wins")
                                             .replace("if is_quorum", "if wins"), "OneLeader", 5),
    "processes that are numbers": (PINGS, "Quiet", 3),
}  # fmt: skip


@pytest.mark.parametrize("how", [("--engine", "python"), ("--threads", "2"), ("--shards", "2")], ids=lambda how: how[0])
@pytest.mark.parametrize("spec", SPECS)
def test_the_violation_stands_on_every_engine(
    spec: str, how: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, invariant, length = SPECS[spec]
    Path("spec.py").write_text(IMPORTS + source, encoding="utf-8")
    servers = "CONSTANT Server = {s1, s2, s3}\n" if "Server =" in source else ""
    Path("m.cfg").write_text(f"{servers}INVARIANT {invariant}\nCHECK_DEADLOCK FALSE\n", encoding="utf-8")
    ran = kmc("check", "spec.py", "m.cfg", *how, "--json")
    found = json.loads(ran.stdout)
    assert (ran.exit_code, found["invariant"], found["trace_length"]) == (12, invariant, length)
    assert found["warnings"] == []
    assert found["why"]["property"] == invariant
