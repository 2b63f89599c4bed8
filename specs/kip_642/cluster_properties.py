"""Invariants and action properties of bootstrapping: one cluster, one ClusterId, and servers that stay in theirs.

A cluster is known by its first record: the first VoterAssignment, its epoch and its ClusterId. Two clusters that share
all of these (ClusterIdIsGiven) are one to these properties; ElectionSafety and LogMatching tell them apart.
"""

from kmc.lang import count
from kmc.spec import spec

from ..consensus.logs import has_entry
from ..consensus.pull_raft.types import Server, ServerState
from ..consensus.quorums import majority_count
from .network import is_alive
from .readings import Bootstrapping
from .types import Assignment


def has_joined(me):
    """The server knows that the first record of its log is committed: it belongs to that cluster.

    A log that another cluster's leader has truncated may be shorter than the quorum-state file says.
    """
    return Bootstrapping and 0 < me.applied <= len(me.log)


def shares_cluster(me, other):
    """The two logs begin with the same record."""
    return len(me.log) > 0 and len(other.log) > 0 and me.log.at(1) == other.log.at(1)


@spec.invariant
def OneClusterPerId(st):
    """No two clusters have one ClusterId (ClusterId generation)."""
    return all(
        not has_joined(one)
        or not has_joined(other)
        or shares_cluster(one, other)
        or one.log.at(1).value.cluster != other.log.at(1).value.cluster
        for one in st.servers.values()
        for other in st.servers.values()
    )


@spec.invariant
def OneCluster(st):
    """All servers that have joined a cluster have joined the same one."""
    return all(
        not has_joined(one) or not has_joined(other) or shares_cluster(one, other)
        for one in st.servers.values()
        for other in st.servers.values()
    )


@spec.invariant
def OneClusterPerLog(st):
    """All assignments in a log have the ClusterId of the first: no log continues with entries of another cluster."""
    return all(
        not Bootstrapping
        or not isinstance(me.log.at(o).value, Assignment)
        or me.log.at(o).value.cluster == me.log.at(1).value.cluster
        for me in st.servers.values()
        for o in me.log.offsets()
    )


@spec.invariant
def LeadersAreOfTheirCluster(st):
    """No server that has joined a cluster follows a leader that has joined another, in the leader's epoch."""
    return all(
        not has_joined(me)
        or me.leader != k
        or me.current_epoch != leader.current_epoch
        or leader.state != ServerState.LEADER
        or not has_joined(leader)
        or shares_cluster(me, leader)
        for me in st.servers.values()
        for k, leader in st.servers.items()
    )


def lives(st, k):
    """Server k belongs to a cluster, and a majority of the voters that it knows run and belong to it too."""
    me = st.servers[k]
    voters = me.assignment.current
    return has_joined(me) and count(
        is_alive(st, v) and shares_cluster(me, st.servers[v]) for v in voters
    ) >= majority_count(voters)


def founds(me, after):
    """A leader learns in this step that its first record is committed: its own, or that of the founder before it."""
    return Bootstrapping and after.state == ServerState.LEADER and me.applied == 0 and has_joined(after)


@spec.action_property
def NoQuorumBesideALivingOne(st, nxt):
    """No quorum is founded while another cluster has a majority of its voters."""
    return all(
        not founds(me, nxt.servers[i])
        or all(k == i or shares_cluster(nxt.servers[i], st.servers[k]) or not lives(st, k) for k in Server)
        for i, me in st.servers.items()
    )


@spec.action_property
def ServersStayInTheirCluster(st, nxt):
    """A server that has joined a cluster keeps its first record; one that loses its disk has forgotten it."""
    return all(
        not has_joined(me) or shares_cluster(me, nxt.servers[i]) or nxt.counters.disk_losses > st.counters.disk_losses
        for i, me in st.servers.items()
    )


@spec.action_property
def NoTakeover(st, nxt):
    """No server truncates an entry that it knows to be committed, whichever leader tells it to."""
    return all(
        not Bootstrapping
        or me.high_watermark == 0
        or nxt.counters.disk_losses > st.counters.disk_losses
        or has_entry(nxt.servers[i].log, me.log, me.high_watermark)
        for i, me in st.servers.items()
    )
