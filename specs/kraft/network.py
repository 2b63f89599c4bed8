"""The network of kraft: what is sent once, and which messages can change nothing any more (KRaft.tla, Helpers).

The bag of KRaft.tla and the set of messages in flight, which the model chooses by KeepsDelivered, stand in
`../consensus/pull_raft/network.py`. In flight, what can change nothing is dropped at the end of each step (`settled`).
"""

from ..consensus.pull_raft.network import (
    KeepsDelivered,
    discard,
    fetch_answer_is_stale,
    fetch_is_stale,
    is_of_older_epoch,
    send_all_once,
    send_answer,
    send_once,
    vote_answer_is_stale,
    without_unread,
)
from .mutants import OldLeadersPass
from .types import (
    BeginQuorumRequest,
    EndQuorumRequest,
    FetchRequest,
    FetchResponse,
    OldFetchesPass,
    RequestVoteRequest,
    RequestVoteResponse,
)


def send(messages, m):
    """Send(m): vote and begin-quorum requests at most once, others without restriction."""
    if not KeepsDelivered:
        return messages.send(m)
    if isinstance(m, RequestVoteRequest) or isinstance(m, BeginQuorumRequest):
        return send_once(messages, m)
    return messages.add(m)


def send_multiple_once(messages, msgs):
    """SendMultipleOnce(msgs): disables the action if any of them was ever sent."""
    return send_all_once(messages, msgs) if KeepsDelivered else messages.send_all(msgs)


def reply(messages, response, request):
    """Reply(response, request): discard the request and send the response."""
    return send_answer(discard(messages, request), response, isinstance(response, FetchResponse))


def changes_nothing(to, sender, m):
    """The message can change nothing, now or later, where these are its receiver and its sender.

    Epochs never fall (but for the mutant). A request of an older epoch only makes an answer, which tells of a newer
    epoch: to a vote request it may matter. README.md of kip_642 has the argument in full.
    """
    if OldLeadersPass:
        return False
    if isinstance(m, RequestVoteResponse):
        return vote_answer_is_stale(to, m)
    if isinstance(m, FetchResponse):
        return fetch_answer_is_stale(to, m)
    if isinstance(m, FetchRequest):
        return fetch_is_stale(to, sender, m) and not OldFetchesPass
    if isinstance(m, EndQuorumRequest):
        return m.mrank > 0 and (m.mhandled or is_of_older_epoch(to, m))
    return isinstance(m, BeginQuorumRequest) and is_of_older_epoch(to, m)


def settled(st):
    """The state without what can change nothing any more, unless the model keeps what was delivered."""
    if KeepsDelivered:
        return st
    return st.set(
        messages=st.messages.keep(lambda m: not changes_nothing(st.servers[m.mdest], st.servers[m.msource], m)),
        servers={i: without_unread(i, me) for i, me in st.servers.items()},
    )
