"""How a server that knows of no quorum finds one, or founds one (KIP-642, Bootstrapping Procedure).

DiscoverBrokers and Metadata are one step each way: a late answer tells what an earlier question would have been told,
and only newer answers are cached.
"""

from kmc.spec import spec

from ...consensus.pull_raft.types import Server, ServerState
from ..assignments import newest_offset
from ..network import is_alive, reaches
from ..readings import Bootstrapping, ClusterIdIsDiscovered, FallsBackInSilence, FallsBackOnce, OnlyLogsTellVoters
from ..types import Assignment


def knows_quorum(me):
    """The server knows who the voters are, or should be."""
    return me.assignment.current != set()


def answers(st, i, j):
    """Server j runs, server i can ask it, and it knows of a quorum."""
    return i != j and is_alive(st, j) and reaches(st, i, j) and knows_quorum(st.servers[j])


@spec.action
def fall_back_to_quorum_voters(st, i: Server):
    """Bootstrapping Procedure 5: a server of quorum.voters that hears of no quorum becomes a voter.

    By default silence is not a condition: one that is cut off for a while hears nothing (`FallsBackInSilence`).
    """
    me = st.servers[i]
    if not Bootstrapping or knows_quorum(me) or i not in st.plan.quorum_voters or not is_alive(st, i):
        return
    if FallsBackOnce and i in st.counters.blanked:
        return
    if FallsBackInSilence and any(answers(st, i, j) for j in Server):
        return
    assignment = Assignment(current=st.plan.quorum_voters, target=set(), cluster=0)
    yield st.set(servers=st.servers.set(i, me.set(assignment=assignment)))


def learned(me, i, peer):
    """Server i after the answer of a peer: its voters, and its epoch and leader if these are news."""
    newer = peer.current_epoch > me.current_epoch
    leaderless = peer.current_epoch == me.current_epoch and me.leader is None and me.state != ServerState.CANDIDATE
    follows = (newer or leaderless) and peer.leader is not None and peer.leader != i
    told = peer.assignment if ClusterIdIsDiscovered else peer.assignment.set(cluster=0)
    return me.set(
        assignment=me.assignment if OnlyLogsTellVoters else told,
        current_epoch=peer.current_epoch if newer else me.current_epoch,
        leader=peer.leader if follows else None if newer else me.leader,
        state=ServerState.FOLLOWER if follows else ServerState.UNATTACHED if newer else me.state,
        pending_fetch=None if newer else me.pending_fetch,
    )


@spec.action
def discover_brokers(st, i: Server, j: Server):
    """Bootstrapping Procedure 3 to 5: a server learns voters, epoch and leader from another.

    One whose log holds the voters does not ask. One that only expects them, by quorum.voters or by an earlier answer,
    goes on asking (5.2), and takes what is newer by the leader epoch.
    """
    me, peer = st.servers[i], st.servers[j]
    if not Bootstrapping or not is_alive(st, i) or newest_offset(me.log, len(me.log)) > 0:
        return
    if not answers(st, i, j) or (knows_quorum(me) and peer.current_epoch <= me.current_epoch):
        return
    yield st.set(servers=st.servers.set(i, learned(me, i, peer)))
