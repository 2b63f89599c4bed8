"""Servers that restart, servers that lose their disk, and connections that change."""

from kmc.lang import subsets
from kmc.spec import spec

from ...consensus.kip_996.cluster import MaxRestarts
from ...consensus.kip_996.configurations import ServerId
from ...consensus.kip_996.network import can_change_connectivity
from ...consensus.kip_996.rules import apply_state, without_disk
from ..functions import (
    blank_fetch_state,
    fail_pending_writes,
    no_transition,
    reset_follower_end_offset_map,
    transition_to_resigned,
    transition_to_unattached,
)
from ..mutants import RestartLosesUncommitted
from ..network import (
    change_connectivity,
    disconnect_dead_server,
    pairs_of_dead,
    ways_to_differ,
    ways_to_include_dead,
    within_disconnected_limit,
)
from ..types import MaxCrashes, Role, ServerState


def restarted(me, s):
    """The new state of RestartWithState: a leader resigns if it is a voter, else it becomes unattached."""
    if me.state != ServerState.LEADER:
        return no_transition(me)
    if me.role == Role.VOTER:
        return transition_to_resigned(me, s)
    return transition_to_unattached(me, me.current_epoch, me.role)


@spec.action
def restart_with_state(st, s: ServerId):
    """RestartWithState(s): role, epoch, state, vote, leader, log and votes received are kept (KIP-595, Quorum State).

    A prospective or a candidate keeps even the votes that it received, which the quorum-state file does not hold.
    """
    if st.aux_ctrs.restart_ctr >= MaxRestarts or s not in st.servers:
        return
    me = st.servers[s]
    if me.state == ServerState.DEAD_NO_STATE:
        return
    node = apply_state(me, restarted(me, s)).set(
        log=me.log.upto(me.hwm) if RestartLosesUncommitted else me.log,
        hwm=0,
        fetch_state=blank_fetch_state(),
        flwr_end_offset=reset_follower_end_offset_map(me.flwr_end_offset.keys()),
        pending_ack=set(),
    )
    yield st.set(
        servers=st.servers.set(s, node),
        inv_neg_acked=fail_pending_writes(st, me),
        aux_ctrs=st.aux_ctrs.set(restart_ctr=st.aux_ctrs.restart_ctr + 1),
    )


@spec.action
def crash_lose_state(st, s: ServerId):
    """CrashLoseState(s): a voter is gone for ever, with its disk (KIP-853 names the case).

    Only while its pairs fit into MaxDisconnectedPairs; whether a majority is left is not checked.
    """
    if st.aux_ctrs.crash_ctr >= MaxCrashes or s not in st.servers:
        return
    me = st.servers[s]
    if me.role != Role.VOTER:
        return
    dead = without_disk(me).set(state=ServerState.DEAD_NO_STATE, role=None, fetch_state=blank_fetch_state())
    yield disconnect_dead_server(st, s).set(
        servers=st.servers.set(s, dead),
        inv_neg_acked=fail_pending_writes(st, me),
        aux_ctrs=st.aux_ctrs.set(crash_ctr=st.aux_ctrs.crash_ctr + 1),
    )


@spec.action
def change_network_connectivity(st):
    """ChangeNetworkConnectivity: other pairs, those of dead servers included, within MaxDisconnectedPairs.

    No KIP: the network. TLC counts a successor once per newly disconnected pair if the number of pairs stays the same,
    and for each dead server once per pair of it.
    """
    if not can_change_connectivity(st):
        return
    dead_servers = {s for s, me in st.servers.items() if me.state == ServerState.DEAD_NO_STATE}
    of_dead = pairs_of_dead(st, dead_servers)
    for others in subsets({p for p in st.net_connectivity if len(p & dead_servers) == 0}):
        disconnected_pairs = others | of_dead
        if not within_disconnected_limit(st, disconnected_pairs):
            continue
        times = ways_to_include_dead(dead_servers, disconnected_pairs) * ways_to_differ(st, disconnected_pairs)
        for _ in range(times):
            yield change_connectivity(st, disconnected_pairs)
