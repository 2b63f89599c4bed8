"""The abstractions of kip_996's liveness mode keep all steps, and the spec's are those that are written here again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, reduce
from typing import Any

import pytest
from support.oracles.bisimulation import first_levels, follow, relation_of, steps_differ, walk
from support.specs.shipped import shipped_model

from kmc.actions.abstraction import Abstraction
from kmc.frontend.model import Model
from kmc.lang.order import sort_key
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue

EPOCHS = {"current_epoch", "replica_epoch", "last_log_epoch", "last_fetched_epoch", "diverging_epoch", "epoch"}
"""The fields that hold an epoch."""

MODELS = {
    "a restart": ("live_connections", "MaxRestarts=1", "MaxConnectivityChanges=0"),
    "a crash": ("live_quiet", "MaxPermCrashes=1"),
    "disruptions": ("live_quiet", "MaxDisruptiveElectionTriggers=6"),
    "a change of connections": ("live_quiet", "MaxConnectivityChanges=1", "MaxValuesPerEpoch=0"),
    "a new voter": ("live_add_voter", "MaxRestarts=1"),
    "a removal": ("live_quiet", "MinClusterSize=2", "MaxRemoveReconfigs=1", "MaxRestarts=1"),
}
"""Models of liveness mode whose graphs are infinite, or large."""


def _model(name: str, *more: str) -> Model:
    base, *settings = MODELS[name]
    return shipped_model("kip_996", base, *settings, "LargestEpoch=40", "LargestPrevoteCtr=200", *more)


_concrete = cache(_model)


def _is_read(st: Any, m: Any) -> bool:
    """A processed message that a guard may read: of the leader of its epoch, or a refusal in its receiver's epoch."""
    sender, receiver = st.servers[m.source], st.servers[m.dest]
    if type(m).__name__.startswith("BeginQuorumEpoch"):
        return str(sender.state) == "Leader" and m.replica_epoch == sender.current_epoch
    refused = type(m).__name__ == "RequestVoteResponse" and m.pre_vote and not m.vote_granted and m.leader is not None
    return refused and m.replica_epoch == receiver.current_epoch


def _is_taken(st: Any, m: Any) -> bool:
    """A message in flight that may be received, or that a guard may read."""
    receiver = st.servers[m.dest]
    if type(m).__name__.startswith("BeginQuorumEpoch"):
        return m.replica_epoch >= receiver.current_epoch or _is_read(st, m)
    if type(m).__name__.startswith("FetchResponse"):
        is_awaited = receiver.fetch_state.pending_fetch == m.correlation
        return bool(is_awaited or m.correlation.replica_epoch >= receiver.current_epoch)
    return True


def without_unread(st: Any, is_read: Callable[[Any, Any], bool] = _is_read) -> Any:
    """The state without what is never read again."""
    return st.set(
        net_messages=st.net_messages.keep(lambda m: _is_taken(st, m)),
        net_messages_processed=st.net_messages_processed.keep(lambda m: is_read(st, m)),
        aux_ctrs=st.aux_ctrs.set(prevote_ctr=0),
    )


def _epochs(value: Any) -> set[int]:
    """All epochs in a value."""
    if isinstance(value, Record):
        return {e for name, part in value.items() for e in ({part} if name in EPOCHS else _epochs(part))}
    return {e for part in tuple.__iter__(value) for e in _epochs(part)} if isinstance(value, SeqValue) else set()


def _mapped(value: Any, image: dict[int, int]) -> Any:
    """The value with each epoch replaced by its image."""
    if isinstance(value, Record):
        return value.set(**{n: image[p] if n in EPOCHS else _mapped(p, image) for n, p in value.items()})
    if isinstance(value, SeqValue):
        return reduce(lambda seq, part: seq.append(_mapped(part, image)), tuple.__iter__(value), value.upto(0))
    return value


def renumbered(st: Any, *, above_servers: bool = False) -> Any:
    """The state without the unused epochs below its servers; or, which is wrong, without all unused epochs."""
    st = without_unread(st)
    parts = (*st.servers.values(), *st.net_messages, *st.net_messages_processed)
    used = {0, 1}.union(*(_epochs(part) for part in parts))
    lowest = min(me.current_epoch for me in st.servers.values() if me.current_epoch > 0)
    kept = sorted(used if above_servers else used | set(range(lowest, 41)))
    image = {epoch: number for number, epoch in enumerate(kept)}
    servers = st.servers
    for s, me in st.servers.items():
        servers = servers.set(s, _mapped(me, image))
    return st.set(
        servers=servers,
        net_messages=st.net_messages.with_images([_mapped(m, image) for m in st.net_messages]),
        net_messages_processed=st.net_messages_processed.with_images(
            [_mapped(m, image) for m in st.net_messages_processed]
        ),
    )


RARE = {"BecomeLeader", "ChangeNetworkConnectivity", "CrashLoseState", "HandleClientRequest", "RestartWithState"}
"""What ends elections, or happens once: walks mostly pass it over, so that epochs rise."""


@cache
def _states(name: str) -> tuple[Any, ...]:
    """The first levels of a model, and random walks."""
    model = _concrete(name)
    walked = (state for seed in (1, 2) for state in walk(model, seed, 30, RARE))
    return tuple(dict.fromkeys([*first_levels(model, 3), *walked]))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_abstractions_keep_all_steps(name: str) -> None:
    relation = relation_of(_concrete(name))
    assert steps_differ(relation, without_unread, _states(name)) is None
    assert steps_differ(relation, renumbered, _states(name)) is None


def _keys(steps: Iterable[tuple[Any, Any, Any]], abstraction: Callable[[Any], Any]) -> Counter[Any]:
    """Steps by label and by what does not depend on who loaded the spec."""
    return Counter((a.label(args), sort_key(abstraction(t))) for a, args, t in steps)


@pytest.mark.parametrize(
    ("names", "abstraction"),
    [(("DropUnread",), without_unread), (("DropUnread", "RenumberEpochs"), renumbered)],
)
def test_the_spec_makes_these_abstractions(names: tuple[str, ...], abstraction: Callable[[Any], Any]) -> None:
    concrete, labels = _concrete("a restart"), [*DRAW_STEM, *DRAW, *DRAW]
    chosen = tuple(found for found in map(concrete.spec.properties.get, names) if isinstance(found, Abstraction))
    abstract = replace(concrete, abstractions=chosen).searched
    assert len(abstract.abstractions) == len(names)
    for state, image in zip(follow(concrete, labels), follow(abstract, labels), strict=True):
        assert sort_key(abstraction(state)) == sort_key(image)
        steps = _keys(relation_of(concrete).steps(state), abstraction)
        assert _keys(relation_of(abstract).steps(image), lambda successor: successor) == steps


ELECTION = ("HandleVoteRequest(2, 1)", "HandleVoteResponse(1, 2)")
"""Server 1 asks server 2 for a vote or a pre-vote."""

OTHER_ELECTION = ("HandleVoteRequest(1, 2)", "HandleVoteResponse(2, 1)")

DRAW_STEM = (
    "RestartWithState(1)",
    "ResignedElectionTimeout(1)",
    "VoterElectionTimeout(1)",
    *ELECTION,
    "ConcludePreVote(1)",
    "HandleVoteRequest(2, 1)",
)

DRAW = (
    "HandleVoteResponse(1, 2)",
    "VoterElectionTimeout(2)",
    *OTHER_ELECTION,
    "ConcludePreVote(2)",
    *OTHER_ELECTION,
    "VoterElectionTimeout(1)",
    *ELECTION,
    "ConcludePreVote(1)",
    "HandleVoteRequest(2, 1)",
)
"""Each candidate is elected, and hears of the other's newer epoch before it leads: the cycle of elections_for_ever."""


def test_a_draw_repeats_but_for_the_numbers_of_epochs() -> None:
    states = follow(_concrete("a restart"), [*DRAW_STEM, *DRAW, *DRAW, *DRAW])
    rounds = [states[len(DRAW_STEM) + k * len(DRAW)] for k in range(4)]
    assert [max(me.current_epoch for me in st.servers.values()) for st in rounds] == [3, 5, 7, 9]
    assert len({renumbered(st) for st in rounds}) == 1
    assert len({without_unread(st) for st in rounds}) == 4


def forgetting(kind: str) -> Callable[[Any], Any]:
    """A fault: processed messages of this kind are dropped though they are read."""
    return lambda st: without_unread(st, lambda now, m: _is_read(now, m) and not type(m).__name__.startswith(kind))


def test_a_forgotten_begin_quorum_epoch_is_noticed() -> None:
    model = shipped_model("kip_996", "live_connections", "MaxDisruptiveElectionTriggers=2", "LargestPrevoteCtr=9")
    begin = ("CheckQuorumResign(1)", "ResignedElectionTimeout(1)", "VoterElectionTimeout(1)", *ELECTION)
    end = ("ConcludePreVote(1)", *ELECTION, "BecomeLeader(1)", "AcceptBeginQuorumRequest(2, 1)", "VoterFetchTimeout(2)")
    states = follow(model, [*begin, *end])
    assert steps_differ(relation_of(model), without_unread, states) is None
    found = steps_differ(relation_of(model), forgetting("BeginQuorumEpoch"), states)
    assert found is not None
    assert found.startswith("ResendBeginQuorumEpochRequest(1, 2) differ")


def test_a_forgotten_refusal_is_noticed() -> None:
    """Server 2 is cut off from the leader, and server 3 has refused it: it does not fetch again."""
    model = shipped_model("kip_996", "live_quiet", "MaxConnectivityChanges=1")
    begin = (
        "HandleClientRequest(1, v1)",
        "ChangeNetworkConnectivity",
        "SendFetchRequest(2, 1)",
        "VoterFetchTimeout(2)",
    )
    labels = [*begin, "HandleVoteRequest(3, 2)", "HandleVoteResponse(2, 3)", "ConcludePreVote(2)"]
    states = follow(model, labels, lambda st: _connected(st) == {frozenset({"1", "3"}), frozenset({"2", "3"})})
    assert steps_differ(relation_of(model), without_unread, states) is None
    found = steps_differ(relation_of(model), forgetting("RequestVoteResponse"), states)
    assert found is not None
    assert found.startswith("SendFetchRequest(2, 1) differ")


@pytest.mark.slow
def test_epochs_above_a_server_are_not_left_out() -> None:
    """Server 1 is cut off, and resigns; the others draw up to epoch 4. It goes from 1 to 2, and not to theirs."""
    model = shipped_model("kip_996", "live_quiet", "MaxDisruptiveElectionTriggers=5", "MaxConnectivityChanges=1")
    vote = ("HandleVoteRequest(3, 2)", "HandleVoteResponse(2, 3)")
    draw = (*vote, "ConcludePreVote(2)", *vote, "VoterElectionTimeout(2)")
    begin = ("ChangeNetworkConnectivity", "CheckQuorumResign(1)", "VoterFetchTimeout(3)", "VoterFetchTimeout(2)")
    # The votes of server 3 are not wanted: what it asks for is in flight, and has an epoch.
    end = ("ConcludePreVote(2)", *vote, "HandleVoteRequest(2, 3)", "HandleVoteResponse(3, 2)")
    labels = [*begin, *draw, *draw, *vote, *end]
    states = follow(model, labels, lambda st: _connected(st) == {frozenset({"2", "3"})})
    assert steps_differ(relation_of(model), renumbered, states) is None
    found = steps_differ(relation_of(model), lambda st: renumbered(st, above_servers=True), states)
    assert found is not None
    assert found.startswith("ResignedElectionTimeout(1) differ")


def _connected(st: Any) -> set[frozenset[str]]:
    """The pairs of servers that are connected."""
    return {frozenset(map(str, p)) for p in st.net_connectivity if st.net_connectivity[p]}
