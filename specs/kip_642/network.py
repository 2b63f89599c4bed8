"""The network: messages in flight, lost connections, and messages that can change nothing any more.

With KeepsDelivered it is KRaft.tla's bag, which remembers what was delivered and sends some messages only once.
Without, it is a set of messages in flight: a delivered message is gone, and one that is sent to a server that
stopped, or over a lost connection, never arrives. A message may always stay in flight, so any message may be lost.
"""

from kmc.lang import pair, require

from ..consensus.pull_raft.types import Server, ServerState
from .readings import KeepsDelivered
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
    return MaxCrashes == 0 or i not in st.crashed


def reaches(st, i, j):
    """What server i sends arrives at server j."""
    return is_alive(st, j) and (MaxDisconnects == 0 or i == j or st.connected[pair(i, j)])


def send_once(messages, m):
    """_SendOnce(m): disables the action if the message was ever sent."""
    require(m not in messages)
    return messages.add(m)


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
        return st.messages.send_all({m for m in msgs if reaches(st, m.msource, m.mdest)})
    require(all(m not in st.messages for m in msgs))
    return st.messages.add_all(msgs)


def discard(st, m):
    """Discard(m): the message is delivered."""
    if not KeepsDelivered:
        return st.messages.discard(m)
    require(st.messages.count(m) > 0)
    return st.messages.take(m)


def reply(st, response, request):
    """Reply(response, request): discard the request and send the response.

    In KRaft.tla a fetch response is never sent twice, so that empty fetches do not repeat for ever.
    """
    if not KeepsDelivered:
        left = st.messages.discard(request)
        return left.send_all({response} if reaches(st, response.msource, response.mdest) else set())
    require(st.messages.count(request) > 0)
    require(response not in st.messages or not isinstance(response, FetchResponse))
    return st.messages.take(request).add(response)


def changes_nothing(st, m):
    """The message can change nothing, now or later.

    Epochs never fall, except where a disk is lost; so nothing is dropped while another disk may be. A request of an
    older epoch only makes an answer, which tells of a newer epoch: to a vote request it may matter, and to a fetch that
    its sender does not wait for it is not read. Vote answers are read by candidates, and no server becomes one of an
    epoch that it is in. A server may send the same fetch again, but real fetches are numbered: the answer to the first
    is not one to the second.
    """
    to = st.servers[m.mdest]
    if isinstance(m, RequestVoteResponse):
        useless = m.mleader is None and m.merror is None and to.state != ServerState.CANDIDATE
        return m.mepoch < to.current_epoch or (m.mepoch == to.current_epoch and useless)
    if isinstance(m, FetchResponse):
        return m.correlation != to.pending_fetch
    if isinstance(m, FetchRequest):
        return m.mepoch < to.current_epoch and st.servers[m.msource].pending_fetch != m
    if isinstance(m, BeginQuorumRequest) or isinstance(m, EndQuorumRequest):
        return m.mepoch < to.current_epoch
    return False


def without_unread(me):
    """The server without what is written before it is read again: votes, and what a leader or a candidate counts."""
    return me.set(
        voted_for=me.voted_for if me.state == ServerState.VOTED else None,
        votes_granted=me.votes_granted if me.state == ServerState.CANDIDATE else set(),
        end_offset=me.end_offset if me.state == ServerState.LEADER else {j: 0 for j in Server},
    )


def settled(st):
    """The state without what can change nothing any more; every action ends with this."""
    if not DropsStale or st.counters.disk_losses < MaxDiskLosses:
        return st
    return st.set(
        messages=st.messages.keep(lambda m: not changes_nothing(st, m)),
        servers={i: without_unread(me) for i, me in st.servers.items()},
    )
