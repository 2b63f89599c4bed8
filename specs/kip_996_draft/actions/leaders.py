"""What a leader does, and how others learn of it: BeginQuorumEpoch (KIP-595), and client requests."""

from kmc.lang import require
from kmc.spec import WEAK, spec

from ...consensus.kip_996.cluster import Value
from ...consensus.kip_996.codes import Command, EpochMatch
from ...consensus.kip_996.configurations import ServerId
from ...consensus.kip_996.network import discard
from ...consensus.kip_996.rules import apply_state, elects, with_value_pending, within_values_per_epoch_limit
from ..functions import (
    blank_fetch_state,
    fail_pending_writes,
    maybe_transition,
    receivable_message,
    reset_follower_end_offset_map,
    transition_to_leader,
)
from ..network import connected, inflight_or_processed, send, send_all_once
from ..types import BeginQuorumEpochRequest, Entry, ServerState, TestLiveness


@spec.action(fair=WEAK)
def become_leader(st, s: ServerId):
    """BecomeLeader(s): a candidate with a majority appends an entry and tells all peers (KIP-595, BeginQuorumEpoch).

    TLA+ gives hwm' a value when the configuration has one member, and then says that hwm is unchanged: such a candidate
    becomes leader only if both agree.
    """
    if s not in st.servers:
        return
    me = st.servers[s]
    members = me.config.members
    if me.state != ServerState.CANDIDATE or not elects(me.votes_recv, members):
        return
    new_log = me.log.append(Entry(command=Command.LEADER_CHANGE_RECORD, epoch=me.current_epoch, value=None))
    require(len(members) != 1 or me.hwm == len(new_log))
    node = apply_state(me, transition_to_leader(me, s)).set(
        log=new_log, flwr_end_offset=reset_follower_end_offset_map(members), fetch_state=blank_fetch_state()
    )
    requests = {BeginQuorumEpochRequest(epoch=me.current_epoch, source=s, dest=peer) for peer in members if peer != s}
    yield send_all_once(st, requests).set(servers=st.servers.set(s, node))


def needs_resend(st, s, peer):
    """NeedsResend(s, peer): no request to it, of any epoch, is on its way or processed, and it should be told."""
    me, other = st.servers[s], st.servers[peer]
    return (
        not inflight_or_processed(st, s, peer)
        and connected(st, s, peer)
        and (
            me.current_epoch > other.current_epoch
            or (me.current_epoch == other.current_epoch and other.state != ServerState.FOLLOWER)
        )
    )


@spec.action(fair=WEAK)
def resend_begin_quorum_epoch_request(st, s: ServerId, peer: ServerId):
    """ResendBeginQuorumEpochRequest(s, peer): once more to a voter that lost it (KIP-595); only with TestLiveness."""
    if not TestLiveness or s not in st.servers:
        return
    me = st.servers[s]
    if me.state != ServerState.LEADER or s == peer or peer not in me.config.members:
        return
    if needs_resend(st, s, peer):
        yield send(st, BeginQuorumEpochRequest(epoch=me.current_epoch, source=s, dest=peer))


@spec.receive(BeginQuorumEpochRequest, s="dest", peer="source", fair=WEAK)
def accept_begin_quorum_request(st, m, s, peer):
    """AcceptBeginQuorumRequest(s, peer): become a follower (KIP-595, BeginQuorumEpoch). A stale one is not answered."""
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH) or m.epoch < me.current_epoch:
        return
    node = apply_state(me, maybe_transition(me, s, peer, m.epoch)).set(
        fetch_state=blank_fetch_state(), pending_ack=set()
    )
    yield discard(st, m).set(servers=st.servers.set(s, node), inv_neg_acked=fail_pending_writes(st, me))


@spec.action
def client_request(st, s: ServerId, v: Value):
    """ClientRequest(s): a leader, voter or not, appends a value that was never sent before.

    The value, chosen inside the action in TLA+, is a parameter here, so that traces name it.
    """
    if s not in st.servers or v in st.inv_sent:
        return
    me = st.servers[s]
    if me.state != ServerState.LEADER or not within_values_per_epoch_limit(me):
        return
    new_log = me.log.append(Entry(command=Command.APPEND_COMMAND, epoch=me.current_epoch, value=v))
    node = with_value_pending(me, new_log, v)
    yield st.set(servers=st.servers.set(s, node), inv_sent=st.inv_sent | {v})
