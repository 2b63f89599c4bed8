"""The network: messages in flight, lost connections, and answers to earlier fetches.

The bag of KRaft.tla and the set of messages in flight stand in `../consensus/pull_raft/network.py`. A message in flight
that is sent to a server that stopped, or over a lost connection, never arrives. It may always stay in flight, so any
message may be lost.
"""

from kmc.lang import pair

from ..consensus.pull_raft.network import KeepsDelivered, discard, send_all_once, send_answer
from .readings import BlankDiskIsAnother
from .types import FetchResponse, MaxCrashes, MaxDisconnects, MaxDiskLosses


def is_alive(st, i):
    """The server has not stopped for ever."""
    return (MaxCrashes == 0 and not BlankDiskIsAnother) or i not in st.crashed


def reaches(st, i, j):
    """What server i sends arrives at server j."""
    return is_alive(st, j) and (MaxDisconnects == 0 or i == j or st.connected[pair(i, j)])


def epochs_may_fall(st):
    """Another server may lose its disk, and forget its epoch."""
    return not BlankDiskIsAnother and st.counters.disk_losses < MaxDiskLosses


def send_fetch(st, m):
    """Send(m) for a fetch, without restriction.

    Kafka numbers its requests, so the answer to an earlier fetch is not taken for one to an equal fetch that is sent
    later. Messages have no number here: an earlier answer leaves the network when its fetch is sent again; not while
    another disk may be lost.
    """
    if KeepsDelivered:
        return st.messages.add(m)
    stays = epochs_may_fall(st)
    others = st.messages.keep(lambda r: stays or not (isinstance(r, FetchResponse) and r.correlation == m))
    return others.send_all({m} if reaches(st, m.msource, m.mdest) else set())


def is_awaited(st, response):
    """The receiver waits for this answer to its fetch."""
    return st.servers[response.mdest].pending_fetch == response.correlation


def send_all(st, msgs):
    """SendMultipleOnce(msgs): in KRaft.tla it disables the action if any of them was ever sent."""
    if not KeepsDelivered:
        return st.messages.send_all({m for m in msgs if reaches(st, m.msource, m.mdest)})
    return send_all_once(st.messages, msgs)


def answer(st, response):
    """Send the response to a request that is delivered."""
    if not KeepsDelivered:
        return st.messages.send_all({response} if reaches(st, response.msource, response.mdest) else set())
    return send_answer(st.messages, response, isinstance(response, FetchResponse))


def reply(st, response, request):
    """Reply(response, request): discard the request and send the response."""
    return answer(st.set(messages=discard(st.messages, request)), response)
