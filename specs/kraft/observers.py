"""Observers: servers that fetch as followers do, never vote or stand, and do not count for the high watermark.

KRaft.tla does not have them. Without them (Observers = 0) all servers are voters, and this file leaves nothing in the
compiled spec. The set of voters never changes: kip_642 reassigns it.
"""

from kmc.lang import subsets
from kmc.spec import spec

from ..consensus.pull_raft.rules import new_highwatermark
from ..consensus.pull_raft.types import Server
from .mutants import ObserversCount
from .types import Observers

spec.assume(Observers < len(Server))


def first_observes(i):
    """Return 1 for the last servers, which observe. Only an initial state may name members of Server."""
    first = {Server.at(n) for n in range(1, len(Server) - Observers + 1)}
    return 0 if Observers == 0 or i in first else 1


def is_voter(st, i):
    """Server i is a voter."""
    return Observers == 0 or st.servers[i].observes == 0


def voters(st):
    """The voters."""
    return Server if Observers == 0 else {i for i in Server if st.servers[i].observes == 0}


def is_counted(st, j):
    """The leader remembers the position of server j, to count it for the high watermark."""
    return ObserversCount or is_voter(st, j)


def committed_by(st, i, new_end_offset):
    """The high watermark of leader i, which counts voters alone (KIP-595, Fetch).

    With the mutant any servers may stand in for the voters, if there are as many of them.
    """
    me = st.servers[i]
    if ObserversCount:
        return max(
            (
                new_highwatermark(me, i, new_end_offset, others)
                for others in subsets(Server)
                if i in others and len(others) == len(voters(st))
            ),
            default=0,
        )
    return new_highwatermark(me, i, new_end_offset, voters(st))


def looks_for_leader(st, i, j):
    """Observer i knows of no leader, and asks voter j, which knows one.

    KIP-595, BeginQuorumEpoch: "observers will discover the new leader through either the FindQuorum or
    FetchQuorumRecords APIs. For example, the old leader would return an error code in FetchQuorumRecords response
    indicating that it is no longer the leader and it will also encode the current known leader id / epoch as well, then
    the observers can start fetching from the new leader. In case the old leader does not know who's the new leader,
    observers can still fallback to FindQuorum request". A fetch stands for both. A voter that knows no leader tells
    nothing, so it is not asked.
    """
    if Observers == 0 or is_voter(st, i):
        return False
    return st.servers[i].leader is None and is_voter(st, j) and st.servers[j].leader is not None
