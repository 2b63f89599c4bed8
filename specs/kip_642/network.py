"""The network: messages in flight, lost connections, and messages that can change nothing any more.

The bag of KRaft.tla and the set of messages in flight stand in `../consensus/pull_raft/network.py`. A message in flight
that is sent to a server that stopped, or over a lost connection, never arrives. It may always stay in flight, so any
message may be lost.
"""

from kmc.lang import pair

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
from .readings import BlankDiskIsAnother
from .types import (
    BeginQuorumRequest,
    DropsStale,
    EndQuorumRequest,
    FetchRequest,
    FetchResponse,
    MaxCrashes,
    MaxDisconnects,
    MaxDiskLosses,
    RequestVoteRequest,
    RequestVoteResponse,
)


def is_alive(st, i):
    """The server has not stopped for ever."""
    return (MaxCrashes == 0 and not BlankDiskIsAnother) or i not in st.crashed


def reaches(st, i, j):
    """What server i sends arrives at server j."""
    return is_alive(st, j) and (MaxDisconnects == 0 or i == j or st.connected[pair(i, j)])


def drops(st):
    """What can change nothing any more is dropped; not while another disk may be lost, since epochs may fall then."""
    return DropsStale and (BlankDiskIsAnother or st.counters.disk_losses >= MaxDiskLosses)


def changes_nothing(to, sender, m):
    """The message can change nothing, now or later, where these are its receiver and its sender.

    A request of an older epoch only makes an answer, which tells of a newer epoch: to a vote request it may matter.
    README.md has the argument in full.
    """
    if isinstance(m, RequestVoteResponse):
        return vote_answer_is_stale(to, m)
    if isinstance(m, FetchResponse):
        return fetch_answer_is_stale(to, m)
    if isinstance(m, FetchRequest):
        return fetch_is_stale(to, sender, m)
    if isinstance(m, BeginQuorumRequest) or isinstance(m, EndQuorumRequest):
        return is_of_older_epoch(to, m)
    return False


def arrives(st, m):
    """The message is worth sending: it reaches its receiver, and may change something."""
    if not reaches(st, m.msource, m.mdest):
        return False
    return not drops(st) or not changes_nothing(st.servers[m.mdest], st.servers[m.msource], m)


def send(st, m):
    """Send(m): vote and begin-quorum requests at most once in KRaft.tla, others without restriction."""
    if not KeepsDelivered:
        return st.messages.send_all({m} if reaches(st, m.msource, m.mdest) else set())
    if isinstance(m, RequestVoteRequest) or isinstance(m, BeginQuorumRequest):
        return send_once(st.messages, m)
    return st.messages.add(m)


def send_all(st, msgs):
    """SendMultipleOnce(msgs): in KRaft.tla it disables the action if any of them was ever sent."""
    if not KeepsDelivered:
        return st.messages.send_all({m for m in msgs if arrives(st, m)})
    return send_all_once(st.messages, msgs)


def answer(st, response):
    """Send the response to a request that is delivered."""
    if not KeepsDelivered:
        return st.messages.send_all({response} if arrives(st, response) else set())
    return send_answer(st.messages, response, isinstance(response, FetchResponse))


def reply(st, response, request):
    """Reply(response, request): discard the request and send the response."""
    return answer(st.set(messages=discard(st.messages, request)), response)


def cleared(st, me):
    """The server without what is written before it is read again, where that is dropped."""
    return without_unread(me, not drops(st)) if DropsStale else me


def is_overtaken(st, i, me, m):
    """The message in flight can change nothing any more, now that server i is `me`."""
    if m.mdest == i:
        return changes_nothing(me, st.servers[m.msource], m)
    return isinstance(m, FetchRequest) and m.msource == i and changes_nothing(st.servers[m.mdest], me, m)


def changed(st, i, me):
    """The state when server i has become `me`, without what can change nothing any more.

    Each step ends like this in which a server's epoch, state or pending fetch changes: what can change something
    depends on nothing else, so after other steps nothing has to be dropped.
    """
    after = st.set(servers=st.servers.set(i, cleared(st, me)))
    if not DropsStale:
        return after
    return after.set(messages=st.messages.keep(lambda m: not (drops(st) and is_overtaken(st, i, me, m))))


def changed_by(st, m, i, me):
    """The state when message m is delivered and its receiver i has become `me`, as in `changed`."""
    after = st.set(servers=st.servers.set(i, cleared(st, me)))
    if not DropsStale:
        return after.set(messages=discard(st.messages, m))
    return after.set(
        messages=st.messages.keep(lambda other: other != m and not (drops(st) and is_overtaken(st, i, me, other)))
    )


def settled(st):
    """The state without what can change nothing any more, all of it: for the step after which it is dropped."""
    if not drops(st):
        return st
    return st.set(
        messages=st.messages.keep(lambda m: not changes_nothing(st.servers[m.mdest], st.servers[m.msource], m)),
        servers={i: cleared(st, me) for i, me in st.servers.items()},
    )
