"""DropsStale keeps all steps of kip_642: what it drops is written here again, and compared state by state.

Fetches are numbered in Kafka, so that an answer to an earlier fetch is not taken for one to the same fetch sent again.
The spec has no numbers: where it keeps what is stale, `Numbered` throws such answers away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import pytest
from support.oracles.bisimulation import Abstraction, relation_of, walk
from support.specs.shipped import shipped_model

from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.lang.order import sort_key
from kmc.model_files.model_file import parse_set
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states

Stale = Callable[[Any, Any], bool]

MODELS = {
    "elections": ("grow", "ClientsWrite=FALSE", "MaxElections=2"),
    "a crash": ("grow", "MaxElections=1", "MaxCrashes=1"),
    "a lost connection": ("grow", "MaxElections=1", "MaxDisconnects=1"),
    "a restart": ("grow_restart", "MaxElections=1"),
    "a resignation": ("swap", "ClientsWrite=FALSE"),
    "a removal": ("swap_restart", "FirstLeader=2", "MaxElections=2"),
}

RARE = {"Restart", "Crash", "Disconnect"}
"""What happens once or twice: walks mostly pass it over, so that they go on."""


def unawaited(st: Any, m: Any) -> bool:
    """An answer to a fetch that its receiver does not wait for."""
    return type(m).__name__.startswith("FetchResponse") and st.servers[m.mdest].pending_fetch != m.correlation


def stale(st: Any, m: Any) -> bool:
    """A message that changes nothing, now or later."""
    receiver = st.servers[m.mdest]
    match type(m).__name__:
        case "RequestVoteResponse":
            tells = m.mleader is not None or m.merror is not None or str(receiver.state) == "Candidate"
            return m.mepoch < receiver.current_epoch or (m.mepoch == receiver.current_epoch and not tells)
        case "FetchRequest":
            return bool(m.mepoch < receiver.current_epoch and st.servers[m.msource].pending_fetch != m)
        case "BeginQuorumRequest" | "EndQuorumRequest":
            return bool(m.mepoch < receiver.current_epoch)
    return unawaited(st, m)


def without(is_stale: Stale) -> Abstraction:
    """The states without stale messages, and without variables that are written before they are read."""

    def forget(me: Any) -> Any:
        state = str(me.state)
        return me.set(
            voted_for=me.voted_for if state == "Voted" else None,
            votes_granted=me.votes_granted if state == "Candidate" else frozenset(),
            end_offset=me.end_offset if state == "Leader" else type(me.end_offset)(dict.fromkeys(me.end_offset, 0)),
        )

    def drop(st: Any) -> Any:
        servers = st.servers
        for i, me in st.servers.items():
            servers = servers.set(i, forget(me))
        return st.set(messages=st.messages.keep(lambda m: not is_stale(st, m)), servers=servers)

    return drop


def numbered(st: Any) -> Any:
    """The state without answers to earlier fetches."""
    return st.set(messages=st.messages.keep(lambda m: not unawaited(st, m)))


class Numbered:
    """The next-state relation of a model that keeps what is stale, except answers to earlier fetches."""

    def __init__(self, model: Model) -> None:
        self.relation = relation_of(model)

    def steps(self, state: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Every step."""
        for action, arguments, t in self.relation.steps(state):
            yield action, arguments, numbered(t)


def steps_differ(model: Model, abstraction: Abstraction, states: Iterable[Any]) -> str | None:
    """Where a state and its abstraction have other steps that change the abstraction; or None."""
    relation = Numbered(model)
    for state in states:
        image = abstraction(state)
        here, there = (Counter(_visible(relation.steps(s), abstraction, image)) for s in (state, image))
        if here != there:
            return f"{', '.join(sorted({label for label, _ in (here - there) + (there - here)}))} differ: {state!r}"
    return None


def _visible(steps: Iterable[Any], abstraction: Abstraction, image: Any) -> Iterator[tuple[str, Any]]:
    """Labels and abstract successors of the steps that change the abstraction."""
    for action, arguments, t in steps:
        if abstraction(t) != image:
            yield action.label(arguments), abstraction(t)


@cache
def states_of(name: str) -> tuple[Any, ...]:
    """The states of random walks."""
    model = kept(name)
    return tuple(dict.fromkeys(numbered(state) for seed in range(8) for state in walk(model, seed, 50, RARE)))


@cache
def kept(name: str) -> Model:
    """A model that keeps what is stale."""
    base, *settings = MODELS[name]
    return shipped_model("kip_642", base, *settings, "DropsStale=FALSE")


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_what_is_stale_changes_no_step(name: str) -> None:
    assert steps_differ(kept(name), without(stale), states_of(name)) is None


@pytest.mark.parametrize("name", MODELS)
def test_a_step_leaves_nothing_stale(name: str) -> None:
    base, *settings = MODELS[name]
    model = shipped_model("kip_642", base, *settings)
    states = {state for seed in range(8) for state in walk(model, seed, 40, set())}
    drop = without(stale)
    assert [state for state in states if drop(state) != state] == []


def reached(steps: Callable[[Any], Iterable[Any]], first: Any) -> set[Any]:
    """All states of a graph."""
    found, todo = {first}, [first]
    while todo:
        new = {t for _, _, t in steps(todo.pop())} - found
        found |= new
        todo += new
    return found


TWO = ("Server={n1, n2}", "LastTarget=2", "MaxElections=1", "ClientsWrite=FALSE")
"""(1) to (1, 2)."""


@pytest.mark.slow
def test_the_states_without_what_is_stale_are_those_of_the_model_that_drops_it() -> None:
    whole, dropping = (shipped_model("kip_642", "grow", *TWO, f"DropsStale={drops}") for drops in ("FALSE", "TRUE"))
    relation, drop = Numbered(whole), without(stale)
    images = {sort_key(drop(st)) for st in reached(relation.steps, next(iter(initial_states(whole))))}
    ours = reached(relation_of(dropping).steps, next(iter(initial_states(dropping))))
    assert images == {sort_key(st) for st in ours}


@pytest.mark.parametrize("drops", ["FALSE", "TRUE"])
def test_a_violation_is_found_with_and_without_what_is_stale(drops: str) -> None:
    root = find_spec_root("kip_642")
    file = find_model(root, "adds_two_at_once")
    assert file is not None
    violation = Search(bind(root, file.with_overrides([parse_set(f"DropsStale={drops}")]))).run().violation
    assert violation is not None
    assert file.expect is not None
    expected = file.expect["invariant"], file.expect["trace_length"]
    assert (violation.name, len(violation.trace)) == expected


def old_vote_requests_too(st: Any, m: Any) -> bool:
    """A fault: the answer to a vote request of an older epoch tells its sender of the newer one."""
    is_old = type(m).__name__ == "RequestVoteRequest" and m.mepoch < st.servers[m.mdest].current_epoch
    return is_old or stale(st, m)


def all_votes(st: Any, m: Any) -> bool:
    """A fault: an answer of a candidate's own epoch is a vote."""
    return type(m).__name__ == "RequestVoteResponse" or stale(st, m)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [old_vote_requests_too, all_votes])
def test_a_message_that_matters_is_noticed(fault: Stale) -> None:
    assert any(steps_differ(kept(name), without(fault), states_of(name)) for name in ("elections", "a resignation"))
