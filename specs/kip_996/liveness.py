"""The conditions of kraft_kip_996_liveness.tla: with TestLiveness they exclude what would stop the cluster for ever.

They are not part of KRaft. Where TLC enumerates the ways in which a condition holds, its mirror returns their number:
0 is false. Without TestLiveness each is 1 or true.
"""

from kmc.lang import count, pair

from .functions import is_voter
from .network import connected, num_connections
from .types import Error, RequestVoteResponse, ServerState, TestLiveness


def has_majority_connection_to_members(st, s, connected_pairs):
    """HasMajorityConnectionToMembers(s, connected): to enough live members that are not ahead of it."""
    me = st.servers[s]
    reached = count(
        s != m
        and me.current_epoch >= st.servers[m].current_epoch
        and st.servers[m].state != ServerState.DEAD_NO_STATE
        and pair(s, m) in connected_pairs
        for m in me.config.members
    )
    return reached >= len(me.config.members) // 2


def liveness_elections_can_progress(st, connected_pairs):
    """LIVENESS_ElectionsCanProgress(connected): one way per voter that can be elected."""
    if not TestLiveness:
        return 1
    return count(
        is_voter(me, s) and has_majority_connection_to_members(st, s, connected_pairs) for s, me in st.servers.items()
    )


def liveness_valid_peer(st, s, peer):
    """LIVENESS_ValidPeer(s, peer): ask a voter that knows a leader."""
    if not TestLiveness:
        return True
    other = st.servers[peer]
    return is_voter(other, peer) and other.leader is not None and connected(st, s, peer)


def leader_lacks_end_offset(me, other, s, fetch_offset):
    """The leader does not know how far server s is, or not yet this far."""
    if other.state != ServerState.LEADER:
        return False
    return s not in other.flwr_end_offset or other.flwr_end_offset[s] < fetch_offset


def liveness_helps_make_progress(st, s, peer, fetch_offset):
    """LIVENESS_HelpsMakeProgress(s, peer, fetch_offset): in how many ways a fetch changes something."""
    if not TestLiveness:
        return 1
    me, other = st.servers[s], st.servers[peer]
    return count(
        [
            me.log != other.log,
            me.hwm != other.hwm,
            leader_lacks_end_offset(me, other, s, fetch_offset),
            me.current_epoch != other.current_epoch,
            other.state != ServerState.LEADER,
        ]
    )


def liveness_in_prevote_cycle(st, s, ldr):
    """LIVENESS_InPrevoteCycle(s, ldr): a voter cut off from the leader has been refused by one that is not."""
    if not TestLiveness:
        return False
    me = st.servers[s]
    return (
        is_voter(me, s)
        and not connected(st, s, ldr)
        and any(
            m.pre_vote
            and not m.vote_granted
            and m.leader == ldr
            and m.replica_epoch == me.current_epoch
            and m.dest == s
            and connected(st, m.source, ldr)
            for m in st.net_messages_processed.of(RequestVoteResponse)
        )
    )


def liveness_maybe_not_same_peer_again(st, s, peer):
    """LIVENESS_MaybeNotSamePeerAgain(s, peer): not the one that has just said that it does not lead."""
    if not TestLiveness:
        return True
    last = st.servers[s].fetch_state.last_fetch_res
    return last is None or last.error != Error.NOT_LEADER or last.peer != peer


def liveness_add_voter_liveness_condition(st, s, add_server):
    """LIVENESS_AddVoterLivenessCondition(s, add_server): the leader keeps a majority that it reaches."""
    if not TestLiveness:
        return True
    members = st.servers[s].config.members
    reached = num_connections(st, s, members) + 1 + (1 if connected(st, s, add_server) else 0)
    return reached > (len(members) + 1) // 2


def liveness_remove_voter_liveness_condition(st, s, remove_server):
    """LIVENESS_RemoveVoterLivenessCondition(s, remove_server): the leader keeps a majority that it reaches."""
    if not TestLiveness:
        return True
    members = st.servers[s].config.members
    reached = count(
        peer != remove_server and is_voter(st.servers[peer], peer) and connected(st, s, peer) for peer in members
    )
    return reached > len(members) // 2
