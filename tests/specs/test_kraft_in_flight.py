"""Without KeepsDelivered, kraft forgets messages and no behaviour of its servers.

Variables that are written before they are read again are set aside. Restarts from the quorum-state file are not
compared with the bag: there the answer to a fetch may be taken for one to the same fetch sent again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.oracles.bisimulation import relation_of
from support.specs.shipped import shipped_model

from kmc.actions.abstraction import Abstraction
from kmc.frontend.model import Model
from kmc.lang.order import sort_key
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states

RESTARTS = ("MaxElections=2", "MaxRestarts=1", "RestartFromQuorumState=TRUE", "RestartedLeaderResigns=TRUE")


def servers_of(state: Any) -> Any:
    """The servers without what is not read any more, and the counters."""

    def read(me: Any) -> Any:
        role = str(me.state)
        return me.set(
            voted_for=me.voted_for if role == "Voted" else None,
            votes_granted=me.votes_granted if role == "Candidate" else frozenset(),
            end_offset=me.end_offset if role == "Leader" else type(me.end_offset)(dict.fromkeys(me.end_offset, 0)),
        )

    nodes = tuple(sort_key(read(me)) for me in state.servers.values())
    return nodes, sort_key(state.acked), state.election_ctr, state.restart_ctr


def reached(model: Model) -> set[Any]:
    """The servers of all states of the graph."""
    relation, first = relation_of(model), next(iter(initial_states(model)))
    found, todo = {first}, [first]
    while todo:
        new = {t for _, _, t in relation.steps(todo.pop())} - found
        found |= new
        todo += new
    return {servers_of(state) for state in found}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_servers", "smoke"])
def test_the_servers_of_kraft_tla_are_reached(name: str) -> None:
    assert reached(shipped_model("kraft", name)) == reached(shipped_model("kraft", name, "KeepsDelivered=FALSE"))


@pytest.mark.slow
def test_the_messages_in_flight_are_those_of_kip_642() -> None:
    kraft, kip_642 = (
        shipped_model(spec, name, "KeepsDelivered=FALSE", *RESTARTS)
        for spec, name in (("kraft", "two_servers"), ("kip_642", "plain_two_servers"))
    )
    drops = kip_642.spec.properties["DropStale"]
    assert isinstance(drops, Abstraction)
    results = [Search(model).run() for model in (kraft, replace(kip_642, abstractions=(drops,)))]
    ours, theirs = (result.counters for result in results)
    assert (ours.generated, ours.distinct, ours.depth) == (theirs.generated, theirs.distinct, theirs.depth)
    assert ours.distinct > 900
