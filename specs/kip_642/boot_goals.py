"""What bootstrapping must be able to reach, so that no property of it holds only because nothing happens."""

from kmc.spec import spec

from ..consensus.pull_raft.types import Server, ServerState
from .cluster_properties import has_joined, shares_cluster
from .network import is_awaited
from .readings import Bootstrapping
from .types import Error, FetchResponse


@spec.reachable
def a_cluster_is_founded(st):
    """A first leader has committed the first assignment, with a ClusterId (Quorum Bootstrapping)."""
    return any(has_joined(me) and me.state == ServerState.LEADER for me in st.servers.values())


@spec.reachable
def all_first_voters_join(st):
    """All servers of quorum.voters know that the first assignment is committed, in one cluster."""
    return all(
        has_joined(st.servers[i]) and shares_cluster(st.servers[i], st.servers[j])
        for i in st.plan.quorum_voters
        for j in st.plan.quorum_voters
    )


@spec.reachable
def a_server_is_told_of_the_quorum(st):
    """A server with an empty log knows voters, and an epoch after the first, from another (DiscoverBrokers)."""
    return any(
        Bootstrapping and len(me.log) == 0 and me.assignment.current != set() and i not in me.assignment.current
        for i, me in st.servers.items()
    )


@spec.reachable
def a_new_server_observes(st):
    """A server that is not in quorum.voters has joined the cluster, and is not a voter."""
    return any(
        has_joined(me) and i not in st.plan.quorum_voters and i not in me.assignment.current
        for i, me in st.servers.items()
    )


@spec.reachable
def a_new_server_votes(st):
    """A server that is not in quorum.voters has joined the cluster, and a committed assignment has it as a voter."""
    return any(
        has_joined(me) and i not in st.plan.quorum_voters and i in me.log.at(me.applied).value.current
        for i, me in st.servers.items()
    )


@spec.reachable
def the_quorum_outgrows_its_configuration(st):
    """quorum.voters is stale: a committed assignment without a target has other voters."""
    return any(
        has_joined(me)
        and me.assignment == me.log.at(me.applied).value
        and me.assignment.target == set()
        and me.assignment.current != st.plan.quorum_voters
        for me in st.servers.values()
    )


@spec.reachable
def a_second_first_record_is_written(st):
    """Two logs begin with different records: one leader founded a cluster, and so did another."""
    return Bootstrapping and any(
        len(one.log) > 0 and len(other.log) > 0 and not shares_cluster(one, other)
        for one in st.servers.values()
        for other in st.servers.values()
    )


@spec.reachable
def another_cluster_is_refused(st):
    """A leader has refused a fetch that names another cluster, or none (ClusterId generation)."""
    return any(m.merror == Error.INCONSISTENT_CLUSTER_ID and is_awaited(st, m) for m in st.messages.of(FetchResponse))


@spec.reachable
def a_blank_server_joins_again(st):
    """After a disk was lost, all servers of quorum.voters have joined a cluster."""
    return (
        Bootstrapping
        and st.counters.disk_losses > 0
        and all(has_joined(st.servers[i]) for i in Server if i in st.plan.quorum_voters)
    )
