"""An observer of kraft only fetches: in every state of a small graph it neither votes, stands, leads nor is counted."""

from __future__ import annotations

from typing import Any

import pytest
from support.oracles.bisimulation import relation_of
from support.specs.shipped import shipped_model

from kmc.reference.states.initial import initial_states

FETCHES = {"FetchRequest", "FetchResponseOk", "FetchResponseNotOk", "FetchResponseDiverging"}


@pytest.fixture(scope="module")
def states() -> set[Any]:
    """All states of the graph."""
    model = shipped_model("kraft", "observer_live")
    relation, first = relation_of(model), next(iter(initial_states(model)))
    found, todo = {first}, [first]
    while todo:
        new = {t for _, _, t in relation.steps(todo.pop())} - found
        found |= new
        todo += new
    return found


def observers(state: Any) -> set[Any]:
    """The names of the servers that observe."""
    return {i for i, me in state.servers.items() if me.observes == 1}


@pytest.mark.slow
def test_the_last_server_observes_for_ever(states: set[Any]) -> None:
    assert {tuple(sorted(map(str, observers(state)))) for state in states} == {("n3",)}


@pytest.mark.slow
def test_an_observer_only_follows(states: set[Any]) -> None:
    assert {str(state.servers[i].state) for state in states for i in observers(state)} == {"Unattached", "Follower"}


@pytest.mark.slow
def test_an_observer_only_sends_and_gets_fetches(states: set[Any]) -> None:
    kinds = {type(m).__name__ for state in states for m in state.messages if {m.msource, m.mdest} & observers(state)}
    assert kinds <= FETCHES
    assert "FetchRequest" in kinds


@pytest.mark.slow
def test_no_leader_counts_an_observer(states: set[Any]) -> None:
    assert not any(me.end_offset[i] for state in states for i in observers(state) for me in state.servers.values())


@pytest.mark.slow
def test_an_observer_finds_the_leader_by_a_voter_that_does_not_lead(states: set[Any]) -> None:
    assert any(
        m.merror is not None and str(m.merror) == "NotLeader" and m.mleader not in (None, m.msource)
        for state in states
        for m in state.messages
        if type(m).__name__ == "FetchResponseNotOk" and m.mdest in observers(state)
    )
