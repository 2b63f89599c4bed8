"""Connections that change, servers that restart, and servers that lose their disk."""

from kmc.spec import spec

from ...consensus.kip_996.cluster import MaxRestarts
from ...consensus.kip_996.configurations import ServerId
from ...consensus.kip_996.network import can_change_connectivity
from ...consensus.kip_996.rules import apply_state, without_disk
from ...consensus.logs import last_epoch
from ..functions import (
    blank_fetch_state,
    boot_time_unattached,
    fail_any_pending_writes,
    is_voter,
    no_transition,
    reset_follower_fetch_state,
    transition_to_resigned,
)
from ..liveness import liveness_elections_can_progress
from ..mutants import RestartForgetsQuorumState, RestartLosesUncommitted
from ..network import change_connectivity, connected_pairs_without_server, disconnect_server, new_connected_pairs
from ..types import MaxPermCrashes, ServerState


@spec.action
def change_network_connectivity(st):
    """ChangeNetworkConnectivity: any pairs of live servers; with TestLiveness, some server must still be electable.

    No KIP: the network. TLC generates a successor per server that can be elected.
    """
    if not can_change_connectivity(st):
        return
    dead = {s for s, me in st.servers.items() if me.state == ServerState.DEAD_NO_STATE}
    for connected_pairs in new_connected_pairs(st, dead):
        for _ in range(liveness_elections_can_progress(st, connected_pairs)):
            yield change_connectivity(st, connected_pairs)


def restarted(me, s):
    """The new state of RestartWithState: a leader that is a voter resigns, a prospective becomes unattached."""
    if me.state == ServerState.LEADER and is_voter(me, s):
        return transition_to_resigned(me, s)
    if me.state == ServerState.LEADER or me.state == ServerState.PROSPECTIVE:
        return boot_time_unattached(me)
    return no_transition(me)


def restarted_node(me, s):
    """What is on disk after a restart: quorum state and log."""
    node = apply_state(me, restarted(me, s))
    if RestartForgetsQuorumState:
        node = node.set(current_epoch=last_epoch(me.log), voted_for=None)
    if RestartLosesUncommitted:
        node = node.set(log=me.log.upto(me.hwm))
    return node


@spec.action
def restart_with_state(st, s: ServerId):
    """RestartWithState(s): epoch, vote, leader, log and votes received are kept (KIP-595, Quorum State).

    A candidate keeps even the votes that it received, which the quorum-state file does not hold.
    """
    if st.aux_ctrs.restart_ctr >= MaxRestarts or s not in st.servers:
        return
    me = st.servers[s]
    if me.state == ServerState.DEAD_NO_STATE:
        return
    node = restarted_node(me, s).set(
        hwm=0,
        fetch_state=blank_fetch_state(),
        flwr_end_offset=reset_follower_fetch_state(me.flwr_end_offset.keys()),
        pending_ack=set(),
    )
    yield st.set(
        servers=st.servers.set(s, node),
        inv_neg_acked=fail_any_pending_writes(st, me),
        aux_ctrs=st.aux_ctrs.set(restart_ctr=st.aux_ctrs.restart_ctr + 1),
    )


@spec.action
def crash_lose_state(st, s: ServerId):
    """CrashLoseState(s): a voter is gone for ever, with its disk (KIP-853 names the case).

    CrashAllowed requires a majority of live voters only with TestLiveness. TLC generates a successor per server that
    can still be elected.
    """
    if st.aux_ctrs.crash_ctr >= MaxPermCrashes or s not in st.servers:
        return
    me = st.servers[s]
    if not is_voter(me, s):
        return
    dead = without_disk(me).set(state=ServerState.DEAD_NO_STATE, fetch_state=blank_fetch_state())
    for _ in range(liveness_elections_can_progress(st, connected_pairs_without_server(st, s))):
        yield disconnect_server(st, s).set(
            servers=st.servers.set(s, dead),
            inv_neg_acked=fail_any_pending_writes(st, me),
            aux_ctrs=st.aux_ctrs.set(crash_ctr=st.aux_ctrs.crash_ctr + 1),
        )
