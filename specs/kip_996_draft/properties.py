"""Invariants and temporal properties (kraft_kip_996_properties.tla), views, symmetry and the TLA+ variables."""

from kmc.lang import count
from kmc.spec import leads_to, spec

from ..consensus.kip_996.cluster import Hosts, Value
from ..consensus.kip_996.configurations import ServerId
from ..consensus.kip_996.properties import (
    every_config_is_settled,
    leaders_agree,
    logs_match,
    newest_leader_has_acked_values,
    none_is_stuck_in,
    value_in_server_log,
)
from ..consensus.quorums import majority_count
from .functions import OBSERVER_STATES
from .network import connected
from .types import Role, ServerState

spec.symmetry("symmHosts", Hosts)
spec.symmetry("symmServers", ServerId, Hosts)
spec.symmetry("symmServersAndValues", ServerId, Hosts, Value)
spec.symmetry("symmHostsAndValues", Hosts, Value)
spec.view("view", drop=["net_messages_processed", "net_connectivity_ctr", "aux_ctrs", "aux_disk_id_gen"])
spec.view("livenessView", drop=["net_messages_processed", "net_connectivity_ctr"])

spec.variables(
    {
        "server_ids": "servers[].identity",
        "net_messages": "net_messages",
        "net_messages_processed": "net_messages_processed",
        "net_connectivity": "net_connectivity",
        "net_connectivity_ctr": "net_connectivity_ctr",
        "config": "servers[].config",
        "current_epoch": "servers[].current_epoch",
        "role": "servers[].role",
        "state": "servers[].state",
        "voted_for": "servers[].voted_for",
        "leader": "servers[].leader",
        "fetch_state": "servers[].fetch_state",
        "pending_ack": "servers[].pending_ack",
        "votes_recv": "servers[].votes_recv",
        "flwr_end_offset": "servers[].flwr_end_offset",
        "log": "servers[].log",
        "hwm": "servers[].hwm",
        "inv_sent": "inv_sent",
        "inv_pos_acked": "inv_pos_acked",
        "inv_neg_acked": "inv_neg_acked",
        "aux_ctrs": "aux_ctrs",
        "aux_disk_id_gen": "aux_disk_id_gen",
    },
    message_tag="type",
)
spec.columns(
    {"state": "state", "epoch": "current_epoch", "leader": "leader", "log end": "log", "high watermark": "hwm"}
)


@spec.invariant
def NoIllegalState(st):
    """No server is in the state that stands for a transition that must not happen."""
    return all(me.state != ServerState.ILLEGAL_STATE for me in st.servers.values())


@spec.invariant
def NoLogDivergence(st):
    """Up to the lower of their high watermarks, two logs are equal."""
    return logs_match(st)


@spec.invariant
def NeverTwoLeadersInSameEpoch(st):
    """Two servers of one epoch do not believe in different leaders."""
    return leaders_agree(st)


@spec.invariant
def LeaderHasAllAckedValues(st):
    """The newest leader has every value that was acknowledged."""
    return newest_leader_has_acked_values(st, ServerState.LEADER)


@spec.invariant
def AckedValueNotLost(st):
    """A value that was acknowledged is on a live server that sees itself as a voter."""
    return all(
        any(me.role == Role.VOTER and value_in_server_log(me, v) for me in st.servers.values())
        for v in st.inv_pos_acked
    )


@spec.invariant
def StatesMatchRoles(st):
    """An observer is in a state that observers can have, and an unattached server knows no leader."""
    return all(
        (me.role != Role.OBSERVER or me.state in OBSERVER_STATES)
        and (me.state != ServerState.UNATTACHED or me.leader is None)
        for me in st.servers.values()
    )


@spec.invariant
def ValidVotesRecv(st):
    """Only a prospective or a candidate has votes; upstream's models do not check it."""
    return all(
        len(me.votes_recv) == 0 or me.state == ServerState.PROSPECTIVE or me.state == ServerState.CANDIDATE
        for me in st.servers.values()
    )


@spec.invariant
def TestInv(st):
    """TRUE: for debugging, as upstream."""
    return True


def cannot_be_reached(st, s, s1):
    """Server s1 is dead, or not connected to s."""
    return not connected(st, s, s1) or st.servers[s1].state == ServerState.DEAD_NO_STATE


@spec.liveness
def ReconfigurationNotStuck():
    """Infinitely often, each configuration is committed at the newest leader, or not in its log."""
    return every_config_is_settled(ServerState.LEADER, cannot_be_reached)


def functional_leader_exists(st):
    """FunctionalLeaderExists: a leader that a majority of its configuration follows."""
    return any(
        me.state == ServerState.LEADER
        and count(
            other.role == Role.VOTER and other.leader == s and s in other.config.members
            for other in st.servers.values()
        )
        >= majority_count(me.config.members)
        for s, me in st.servers.items()
    )


@spec.liveness
def EventuallyLeaderElected():
    """A cluster without a functional leader elects one."""
    return leads_to(lambda st: not functional_leader_exists(st), functional_leader_exists)


@spec.liveness
def NotStuckInProspective():
    """No server stays prospective for ever, unless it is cut off (KIP-996)."""
    return none_is_stuck_in(ServerState.PROSPECTIVE, connected)
