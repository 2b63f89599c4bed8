"""The network: KRaft.tla's bag of messages, which keeps every message with a count of deliveries (KRaft.tla, Helpers).

Without KeepsDelivered it is the set of messages in flight, as in kip_642. A delivered message is gone, two equal
messages in flight are one, and what can change nothing any more is dropped at the end of each step (`settled`).
"""

from kmc.lang import require

from ..consensus.pull_raft.types import Server, ServerState
from .mutants import OldLeadersPass
from .types import (
    BeginQuorumRequest,
    EndQuorumRequest,
    FetchRequest,
    FetchResponse,
    KeepsDelivered,
    OldFetchesPass,
    RequestVoteRequest,
    RequestVoteResponse,
)


def send_no_restriction(messages, m):
    """_SendNoRestriction(m): send even if an identical message was sent before."""
    return messages.add(m) if KeepsDelivered else messages.send(m)


def send_once(messages, m):
    """_SendOnce(m): disables the action if the message was ever sent."""
    require(m not in messages)
    return messages.add(m)


def send(messages, m):
    """Send(m): vote and begin-quorum requests at most once, others without restriction."""
    if KeepsDelivered and (isinstance(m, RequestVoteRequest) or isinstance(m, BeginQuorumRequest)):
        return send_once(messages, m)
    return send_no_restriction(messages, m)


def send_multiple_once(messages, msgs):
    """SendMultipleOnce(msgs): disables the action if any of them was ever sent."""
    if not KeepsDelivered:
        return messages.send_all(msgs)
    require(all(m not in messages for m in msgs))
    return messages.add_all(msgs)


def discard(messages, m):
    """Discard(m): one delivery less; the message stays with count 0."""
    if not KeepsDelivered:
        return messages.discard(m)
    require(messages.count(m) > 0)
    return messages.take(m)


def reply(messages, response, request):
    """Reply(response, request): discard the request and send the response.

    A fetch response is never sent twice, so that empty fetches do not repeat for ever.
    """
    if not KeepsDelivered:
        return messages.discard(request).send(response)
    require(messages.count(request) > 0)
    require(response not in messages or not isinstance(response, FetchResponse))
    return messages.take(request).add(response)


def changes_nothing(to, sender, m):
    """The message can change nothing, now or later, where these are its receiver and its sender.

    Epochs never fall (but for the mutant). A request of an older epoch only makes an answer, which tells of a newer
    epoch: to a vote request it may matter, and to a fetch that its sender does not wait for it is not read. Vote
    answers are read by candidates, and no server becomes one of an epoch that it is in. A server may send the same
    fetch again, but real fetches are numbered: the answer to the first is not one to the second. README.md of kip_642
    has the argument in full.
    """
    if OldLeadersPass:
        return False
    if isinstance(m, RequestVoteResponse):
        useless = m.mleader is None and m.merror is None and to.state != ServerState.CANDIDATE
        return m.mepoch < to.current_epoch or (m.mepoch == to.current_epoch and useless)
    if isinstance(m, FetchResponse):
        return m.correlation != to.pending_fetch
    if isinstance(m, FetchRequest):
        return m.mepoch < to.current_epoch and sender.pending_fetch != m and not OldFetchesPass
    if isinstance(m, EndQuorumRequest):
        return m.mrank > 0 and (m.mhandled or m.mepoch < to.current_epoch)
    return isinstance(m, BeginQuorumRequest) and m.mepoch < to.current_epoch


def without_unread(me):
    """The server without what is written before it is read again: votes, and what a leader or a candidate counts."""
    return me.set(
        voted_for=me.voted_for if me.state == ServerState.VOTED else None,
        votes_granted=me.votes_granted if me.state == ServerState.CANDIDATE else set(),
        end_offset=me.end_offset if me.state == ServerState.LEADER else {j: 0 for j in Server},
    )


def settled(st):
    """The state without what can change nothing any more, unless the model keeps what was delivered."""
    if KeepsDelivered:
        return st
    return st.set(
        messages=st.messages.keep(lambda m: not changes_nothing(st.servers[m.mdest], st.servers[m.msource], m)),
        servers={i: without_unread(me) for i, me in st.servers.items()},
    )
