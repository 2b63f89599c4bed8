"""DropStale keeps all steps of kip_642: what it drops is written here again, and compared state by state.

Fetches are numbered in Kafka, so that an answer to an earlier fetch is not taken for one to the same fetch sent again.
The spec has no numbers: there an earlier answer leaves the network when the fetch is sent again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from support.oracles.bisimulation import Abstraction, follow, relation_of, walk
from support.specs.shipped import shipped_manifest, shipped_model

from kmc.actions.abstraction import image_of
from kmc.checking.check import check
from kmc.checking.model_choice import ChosenModel
from kmc.checking.request import CheckRequest
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.lang.order import sort_key
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.result import Verdict

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

    def forget(i: Any, me: Any) -> Any:
        state = str(me.state)
        return me.set(
            voted_for=me.voted_for if state == "Voted" and me.voted_for != i else None,
            votes_granted=me.votes_granted if state == "Candidate" else frozenset(),
            end_offset=me.end_offset if state == "Leader" else type(me.end_offset)(dict.fromkeys(me.end_offset, 0)),
        )

    def drop(st: Any) -> Any:
        servers = st.servers
        for i, me in st.servers.items():
            servers = servers.set(i, forget(i, me))
        return st.set(messages=st.messages.keep(lambda m: not is_stale(st, m)), servers=servers)

    return drop


def steps_differ(model: Model, abstraction: Abstraction, states: Iterable[Any]) -> str | None:
    """Where a state and its abstraction have other steps that change the abstraction; or None."""
    relation = relation_of(model)
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
    return tuple(dict.fromkeys(state for seed in range(8) for state in walk(model, seed, 50, RARE)))


@cache
def kept(name: str) -> Model:
    """A model that keeps what is stale."""
    base, *settings = MODELS[name]
    return replace(shipped_model("kip_642", base, *settings), abstractions=())


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_what_is_stale_changes_no_step(name: str) -> None:
    assert steps_differ(kept(name), without(stale), states_of(name)) is None


@pytest.mark.parametrize("name", MODELS)
def test_the_spec_drops_what_is_stale(name: str) -> None:
    base, *settings = MODELS[name]
    model, drop = shipped_model("kip_642", base, *settings), without(stale)
    assert len(model.abstractions) == 1
    states = {state for seed in range(8) for state in walk(model, seed, 40, set())}
    images = {state: image_of(model.abstractions, state, model.spec.files) for state in states}
    assert images == {state: drop(state) for state in states}
    assert any(state != image for state, image in images.items())


FETCHED = ("SendFetchRequest(n2, n1)", "AcceptFetchRequest", "HandleSuccessFetchResponse")
SENT_AGAIN = (
    *("AlterPartitionReassignments(n1)", *FETCHED, *FETCHED, "AddVoter(n1, n2)", *FETCHED),
    *("SendFetchRequest(n2, n1)", "AcceptFetchRequest", "HandleBeginQuorumRequest", "SendFetchRequest(n2, n1)"),
)
"""Server 2 hears of its leader, and sends the same fetch again before it has the answer to the first."""


def test_an_answer_to_an_earlier_fetch_is_not_taken_for_one_to_an_equal_later_fetch() -> None:
    model = replace(shipped_model("kip_642", "grow", *TWO), abstractions=())
    *_, before, after = follow(model, SENT_AGAIN)
    (awaited,) = (me.pending_fetch for me in after.servers.values() if me.pending_fetch is not None)
    assert [m.correlation for m in before.messages] == [awaited]
    assert list(after.messages) == [awaited]


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
    model, drop = shipped_model("kip_642", "grow", *TWO), without(stale)
    first = next(iter(initial_states(model)))
    images = {sort_key(drop(st)) for st in reached(relation_of(model).steps, first)}
    ours = reached(relation_of(model.searched).steps, first)
    assert images == {sort_key(st) for st in ours}


@pytest.mark.parametrize("drops", [False, True])
def test_a_violation_is_found_with_and_without_what_is_stale(drops: bool) -> None:
    root = find_spec_root("kip_642")
    file = find_model(root, "adds_two_at_once")
    assert file is not None
    model = bind(root, file)
    assert [found.name for found in model.abstractions] == ["DropStale"]
    violation = Search(model if drops else replace(model, abstractions=())).run().violation
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


TEMPORAL = {
    "live_grow": Verdict.OK,
    "live_new_voter_is_told": Verdict.OK,
    "live_leader_never_resigns": Verdict.LIVENESS,
    "live_new_voter_is_dead": Verdict.LIVENESS,
    "live_zombie_does_not_ask": Verdict.LIVENESS,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEMPORAL)
def test_a_temporal_verdict_is_the_same_with_what_is_stale(name: str) -> None:
    model = replace(bind(find_spec_root("kip_642"), shipped_manifest("kip_642").models[name]), abstractions=())
    assert check(CheckRequest(ChosenModel(model, None))).result.verdict is TEMPORAL[name]
