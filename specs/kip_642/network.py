"""The network: messages in flight, lost connections, and messages that can change nothing any more.

With KeepsDelivered it is KRaft.tla's bag, which remembers what was delivered and sends some messages only once.
Without, it is a set of messages in flight: a delivered message is gone, and one that is sent to a server that
stopped, or over a lost connection, never arrives. A message may always stay in flight, so any message may be lost.
"""

from kmc.lang import pair, require

from ..consensus.pull_raft.types import Server, ServerState
from .readings import BlankDiskIsAnother, KeepsDelivered
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

    A request of an older epoch only makes an answer, which tells of a newer epoch: to a vote request it may matter, and
    to a fetch that its sender does not wait for it is not read. Vote answers are read by candidates, and no server
    becomes one of an epoch that it is in. A server may send the same fetch again, but real fetches are numbered: the
    answer to the first is not one to the second.
    """
    if isinstance(m, RequestVoteResponse):
        useless = m.mleader is None and m.merror is None and to.state != ServerState.CANDIDATE
        return m.mepoch < to.current_epoch or (m.mepoch == to.current_epoch and useless)
    if isinstance(m, FetchResponse):
        return m.correlation != to.pending_fetch
    if isinstance(m, FetchRequest):
        return m.mepoch < to.current_epoch and sender.pending_fetch != m
    if isinstance(m, BeginQuorumRequest) or isinstance(m, EndQuorumRequest):
        return m.mepoch < to.current_epoch
    return False


def arrives(st, m):
    """The message is worth sending: it reaches its receiver, and may change something."""
    if not reaches(st, m.msource, m.mdest):
        return False
    return not drops(st) or not changes_nothing(st.servers[m.mdest], st.servers[m.msource], m)


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
        return st.messages.send_all({m for m in msgs if arrives(st, m)})
    require(all(m not in st.messages for m in msgs))
    return st.messages.add_all(msgs)


def discard(st, m):
    """Discard(m): the message is delivered."""
    if not KeepsDelivered:
        return st.messages.discard(m)
    require(st.messages.count(m) > 0)
    return st.messages.take(m)


def answer(st, response):
    """Send the response to a request that is delivered.

    In KRaft.tla a fetch response is never sent twice, so that empty fetches do not repeat for ever.
    """
    if not KeepsDelivered:
        return st.messages.send_all({response} if arrives(st, response) else set())
    require(response not in st.messages or not isinstance(response, FetchResponse))
    return st.messages.add(response)


def reply(st, response, request):
    """Reply(response, request): discard the request and send the response."""
    return answer(st.set(messages=discard(st, request)), response)


def without_unread(st, me):
    """The server without what is written before it is read again: votes, and what a leader or a candidate counts."""
    if not DropsStale:
        return me
    kept = not drops(st)
    return me.set(
        voted_for=me.voted_for if kept or me.state == ServerState.VOTED else None,
        votes_granted=me.votes_granted if kept or me.state == ServerState.CANDIDATE else set(),
        end_offset=me.end_offset if kept or me.state == ServerState.LEADER else {j: 0 for j in Server},
    )


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
    after = st.set(servers=st.servers.set(i, without_unread(st, me)))
    if not DropsStale:
        return after
    return after.set(messages=st.messages.keep(lambda m: not (drops(st) and is_overtaken(st, i, me, m))))


def changed_by(st, m, i, me):
    """The state when message m is delivered and its receiver i has become `me`, as in `changed`."""
    after = st.set(servers=st.servers.set(i, without_unread(st, me)))
    if not DropsStale:
        return after.set(messages=discard(st, m))
    return after.set(
        messages=st.messages.keep(lambda other: other != m and not (drops(st) and is_overtaken(st, i, me, other)))
    )


def settled(st):
    """The state without what can change nothing any more, all of it: for the step after which it is dropped."""
    if not drops(st):
        return st
    return st.set(
        messages=st.messages.keep(lambda m: not changes_nothing(st.servers[m.mdest], st.servers[m.msource], m)),
        servers={i: without_unread(st, me) for i, me in st.servers.items()},
    )
