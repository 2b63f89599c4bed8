"""Fetches: sending, the three ways to answer, and what the follower does with the answer (KIP-595, Fetch)."""

from kmc.lang import ways
from kmc.spec import WEAK, spec

from ...consensus.kip_996.codes import EpochMatch, FetchResult
from ...consensus.kip_996.configurations import ServerId, most_recent_config
from ...consensus.kip_996.network import discard
from ...consensus.kip_996.rules import (
    advance_hwm,
    apply_state,
    fetches_from_start,
    fetches_known_position,
    new_highwater_mark,
    removes_server_from_cluster,
    truncate_log,
    update_fetch_state_with_fetch_req,
    valid_fetch_position,
    values_to_ack,
)
from ...consensus.logs import end_offset_for_epoch, epoch_at, last_epoch
from ..functions import (
    maybe_handle_common_response,
    maybe_switch_configurations,
    receivable_message,
    transition_to_unattached,
    update_fetch_state_with_fetch_res,
)
from ..network import connected, reply, send
from ..types import (
    Error,
    FetchRequest,
    FetchResponse,
    FetchResponseDiverging,
    FetchResponseNotOk,
    FetchResponseOk,
    Role,
    ServerState,
)


def should_send_fetch(st, s, peer):
    """The guard of SendFetchRequest: a follower asks its leader, an observer without one a voter that knows one."""
    me, other = st.servers[s], st.servers[peer]
    if me.state == ServerState.FOLLOWER:
        return me.leader == peer
    return (
        me.role == Role.OBSERVER
        and (me.state == ServerState.UNATTACHED or me.state == ServerState.VOTED)
        and connected(st, s, peer)
        and other.role == Role.VOTER
        and other.leader is not None
    )


@spec.action(fair=WEAK)
def send_fetch_request(st, s: ServerId, peer: ServerId):
    """SendFetchRequest(s, peer): ask for the entry after the last (KIP-595, Fetch)."""
    if s == peer or s not in st.servers or peer not in st.servers:
        return
    me = st.servers[s]
    if me.fetch_state.pending_fetch is not None or not should_send_fetch(st, s, peer):
        return
    fetch_msg = FetchRequest(
        epoch=me.current_epoch,
        fetch_offset=len(me.log) + 1,
        last_fetched_epoch=last_epoch(me.log),
        observer=me.role == Role.OBSERVER,
        source=s,
        dest=peer,
    )
    node = me.set(fetch_state=update_fetch_state_with_fetch_req(me, fetch_msg))
    yield send(st, fetch_msg).set(servers=st.servers.set(s, node))


@spec.receive(FetchRequest, s="dest", peer="source", fair=WEAK)
def reject_fetch_request(st, m, s, peer):
    """RejectFetchRequest(s, peer): not the leader, or an epoch that differs (KIP-595, Fetch)."""
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH):
        return
    if me.state != ServerState.LEADER:
        error = Error.NOT_LEADER
    elif m.epoch < me.current_epoch:
        error = Error.FENCED_LEADER_EPOCH
    elif m.epoch > me.current_epoch:
        error = Error.UNKNOWN_LEADER
    else:
        return
    response = FetchResponseNotOk(
        result=FetchResult.NOT_OK,
        error=error,
        leader=me.leader,
        epoch=me.current_epoch,
        hwm=me.hwm,
        source=s,
        dest=peer,
        correlation=m,
    )
    yield reply(st, m, response)


@spec.receive(FetchRequest, s="dest", peer="source", fair=WEAK)
def diverging_fetch_request(st, m, s, peer):
    """DivergingFetchRequest(s, peer): the position is not in the leader's log; say where to truncate to."""
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.EQUAL_EPOCH) or me.state != ServerState.LEADER:
        return
    if valid_fetch_position(me.log, m):
        return
    end_offset = end_offset_for_epoch(me.log, m.last_fetched_epoch)
    response = FetchResponseDiverging(
        epoch=me.current_epoch,
        result=FetchResult.DIVERGING,
        error=None,
        diverging_epoch=epoch_at(me.log, end_offset),
        diverging_end_offset=end_offset + 1,
        leader=me.leader,
        hwm=me.hwm,
        source=s,
        dest=peer,
        correlation=m,
    )
    yield reply(st, m, response)


def advance_hwm_and_leave(st, me, s, new_hwm):
    """The leader's own removal is committed: it becomes an unattached observer; pending values stay pending."""
    to_ack = values_to_ack(me, new_hwm)
    node = apply_state(me, transition_to_unattached(me, me.current_epoch, Role.OBSERVER)).set(
        role=Role.OBSERVER,
        config=most_recent_config(me.log, new_hwm),
        flwr_end_offset={},
        pending_ack=me.pending_ack - to_ack,
        hwm=0,
    )
    return st.set(servers=st.servers.set(s, node), inv_pos_acked=st.inv_pos_acked | to_ack)


def ok_response(me, m, leader, hwm):
    """The answer to an accepted fetch: the entry at its offset, if there is one."""
    return FetchResponseOk(
        epoch=me.current_epoch,
        leader=leader,
        result=FetchResult.OK,
        error=None,
        entries=[me.log.at(m.fetch_offset)] if m.fetch_offset <= len(me.log) else [],
        hwm=min(hwm, m.fetch_offset),
        source=m.dest,
        dest=m.source,
        correlation=m,
    )


def accept_from_voter(st, m, s, peer):
    """What AcceptFetchRequestFromVoter does: the high watermark may advance, and the leader may leave."""
    me = st.servers[s]
    new_end_offset = me.flwr_end_offset.set(peer, m.fetch_offset - 1)
    new_hwm = new_highwater_mark(me, s, new_end_offset)
    leaves = removes_server_from_cluster(me, s, new_hwm)
    replied = reply(st, m, ok_response(me, m, None if leaves else me.leader, new_hwm))
    if new_hwm <= me.hwm:
        yield replied.set(servers=st.servers.set(s, me.set(flwr_end_offset=new_end_offset)))
    elif leaves:
        yield advance_hwm_and_leave(replied, me, s, new_hwm)
    else:
        yield advance_hwm(replied, me, s, new_end_offset, new_hwm)


@spec.receive(FetchRequest, s="dest", peer="source", fair=WEAK)
def accept_fetch_request_from_voter(st, m, s, peer):
    """AcceptFetchRequestFromVoter(s, peer): answer with the next entry, advance the high watermark (KIP-595, Fetch).

    From a member that says that it is not an observer; one that has not learned that it is a voter says that it is.
    ValidFetchPosition is a disjunction whose parts can both hold: TLC then generates the successor twice.
    """
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.EQUAL_EPOCH) or me.state != ServerState.LEADER:
        return
    if peer not in me.config.members or m.observer:
        return
    for _ in ways(fetches_from_start(m), fetches_known_position(me.log, m)):
        yield from accept_from_voter(st, m, s, peer)


@spec.receive(FetchRequest, s="dest", peer="source", fair=WEAK)
def accept_fetch_request_from_observer(st, m, s, peer):
    """AcceptFetchRequestFromObserver(s, peer): answer with the next entry; nothing else changes (KIP-595, Fetch)."""
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.EQUAL_EPOCH) or me.state != ServerState.LEADER or not m.observer:
        return
    for _ in ways(fetches_from_start(m), fetches_known_position(me.log, m)):
        yield reply(st, m, ok_response(me, m, me.leader, me.hwm))


def fetched_log(me, m):
    """The log after the response: with one more entry, or truncated."""
    if isinstance(m, FetchResponseOk) and len(m.entries) > 0:
        return me.log.append(m.entries.at(1))
    if isinstance(m, FetchResponseDiverging):
        return truncate_log(me.log, m)
    return me.log


@spec.receive(FetchResponse, s="dest", peer="source", fair=WEAK)
def handle_fetch_response(st, m, s, peer):
    """HandleFetchResponse(s, peer): append or truncate, and take the configuration of the log (KIP-595; KIP-853).

    Only a follower does so; any other server at most changes its state.
    """
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH) or me.fetch_state.pending_fetch != m.correlation:
        return
    response = maybe_handle_common_response(me, s, m.leader, m.epoch, m.error)
    if response.handled or me.state != ServerState.FOLLOWER:
        node = apply_state(me, response.transition)
    else:
        new_log = fetched_log(me, m)
        curr_config = most_recent_config(new_log, m.hwm)
        node = maybe_switch_configurations(me, s, curr_config, response.transition).set(
            log=new_log, hwm=m.hwm if isinstance(m, FetchResponseOk) else me.hwm
        )
    yield discard(st, m).set(servers=st.servers.set(s, node.set(fetch_state=update_fetch_state_with_fetch_res(me, m))))
