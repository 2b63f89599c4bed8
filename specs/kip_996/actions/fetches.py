"""Fetches: sending, the three ways to answer, and what the follower does with the answer (KIP-595, Fetch)."""

from kmc.lang import count, ways
from kmc.spec import WEAK, spec

from ...consensus.kip_996.codes import EpochMatch, FetchResult
from ...consensus.kip_996.configurations import ServerId, most_recent_config
from ...consensus.kip_996.network import discard
from ...consensus.kip_996.rules import (
    advance_hwm,
    apply_state,
    fetches_from_start,
    fetches_known_position,
    last_fetch_failed,
    new_highwater_mark,
    removes_server_from_cluster,
    truncate_log,
    update_fetch_state_with_fetch_req,
    valid_fetch_position,
    values_to_ack,
)
from ...consensus.logs import end_offset_for_epoch, epoch_at, last_epoch
from ..functions import (
    is_observer,
    is_peer_voter,
    is_voter,
    maybe_handle_common_response,
    maybe_switch_configurations,
    pending_fetch_lost,
    receivable_message,
    transition_to_resigned,
    update_fetch_state_with_fetch_res,
)
from ..liveness import (
    liveness_helps_make_progress,
    liveness_in_prevote_cycle,
    liveness_maybe_not_same_peer_again,
    liveness_valid_peer,
)
from ..mutants import ObserversAreAnswered
from ..network import reply, send
from ..types import (
    Error,
    FetchRequest,
    FetchRequestFromServer,
    FetchResponse,
    FetchResponseDiverging,
    FetchResponseNotOk,
    FetchResponseOk,
    ServerState,
)


def should_send_fetch(st, s, peer):
    """ShouldSendFetch(s, peer): in how many ways it holds, since TLC counts each.

    A follower of the peer; an unattached voter, which asks any server; an observer whose last fetch failed or was lost.
    """
    me = st.servers[s]
    follows = me.state == ServerState.FOLLOWER
    idle = me.fetch_state.pending_fetch is None
    from_leader = idle and follows and me.leader == peer and not liveness_in_prevote_cycle(st, s, peer)
    from_anybody = idle and me.state == ServerState.UNATTACHED and is_voter(me, s) and liveness_valid_peer(st, s, peer)
    as_observer = is_observer(me, s) and follows and liveness_maybe_not_same_peer_again(st, s, peer)
    return (
        (liveness_helps_make_progress(st, s, peer, len(me.log) + 1) if from_leader else 0)
        + count([from_anybody])
        + (count([last_fetch_failed(me), pending_fetch_lost(st, me)]) if as_observer else 0)
    )


@spec.action(fair=WEAK)
def send_fetch_request(st, s: ServerId, peer: ServerId):
    """SendFetchRequest(s, peer): ask for the entry after the last (KIP-595, Fetch)."""
    if s == peer or s not in st.servers or peer not in st.servers:
        return
    me = st.servers[s]
    for _ in range(should_send_fetch(st, s, peer)):
        fetch_msg = FetchRequestFromServer(
            replica_epoch=me.current_epoch,
            fetch_offset=len(me.log) + 1,
            last_fetched_epoch=last_epoch(me.log),
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
    elif m.replica_epoch < me.current_epoch:
        error = Error.FENCED_LEADER_EPOCH
    elif m.replica_epoch > me.current_epoch:
        error = Error.UNKNOWN_LEADER
    else:
        return
    response = FetchResponseNotOk(
        result=FetchResult.NOT_OK,
        error=error,
        leader=me.leader,
        replica_epoch=me.current_epoch,
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
        replica_epoch=me.current_epoch,
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


def advance_hwm_and_resign(st, me, s, new_hwm):
    """AdvanceHwmAndResign: the leader's own removal is committed, and it resigns; values still pending fail."""
    to_ack = values_to_ack(me, new_hwm)
    node = apply_state(me, transition_to_resigned(me, s)).set(
        config=most_recent_config(me.log, new_hwm), flwr_end_offset={}, pending_ack=set(), hwm=0
    )
    return st.set(
        servers=st.servers.set(s, node),
        inv_pos_acked=st.inv_pos_acked | to_ack,
        inv_neg_acked=st.inv_neg_acked | (me.pending_ack - to_ack),
    )


def ok_response(me, m, leader, hwm):
    """The answer to an accepted fetch: the entry at its offset, if there is one."""
    return FetchResponseOk(
        replica_epoch=me.current_epoch,
        leader=leader,
        result=FetchResult.OK,
        error=None,
        entries=[me.log.at(m.fetch_offset)] if m.fetch_offset <= len(me.log) else [],
        hwm=min(hwm, m.fetch_offset),
        source=m.dest,
        dest=m.source,
        correlation=m,
    )


def handle_voter_fetch(st, m, s, peer):
    """HandleVoterFetch(s, peer, m, entries): the high watermark may advance, and the leader may resign."""
    me = st.servers[s]
    new_end_offset = me.flwr_end_offset.set(peer, m.fetch_offset - 1)
    new_hwm = new_highwater_mark(me, s, new_end_offset)
    leaves = removes_server_from_cluster(me, s, new_hwm)
    replied = reply(st, m, ok_response(me, m, None if leaves else me.leader, new_hwm))
    if new_hwm <= me.hwm:
        yield replied.set(servers=st.servers.set(s, me.set(flwr_end_offset=new_end_offset)))
    elif leaves:
        yield advance_hwm_and_resign(replied, me, s, new_hwm)
    else:
        yield advance_hwm(replied, me, s, new_end_offset, new_hwm)


def handle_observer_fetch(st, m, s):
    """HandleObserverFetch(s, peer, m, entries): reached with ObserversAreAnswered only: the guard requires a voter."""
    me = st.servers[s]
    yield reply(st, m, ok_response(me, m, me.leader, me.hwm))


@spec.receive(FetchRequest, s="dest", peer="source", fair=WEAK)
def accept_fetch_request(st, m, s, peer):
    """AcceptFetchRequest(s, peer): answer with the next entry, and advance the high watermark (KIP-595, Fetch).

    Only for voters, so an observer's valid fetch is neither accepted nor rejected. ValidFetchPosition is a disjunction
    whose parts can both hold: TLC then generates the successor twice.
    """
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.EQUAL_EPOCH) or me.state != ServerState.LEADER:
        return
    if peer not in me.config.members and not ObserversAreAnswered:
        return
    for _ in ways(fetches_from_start(m), fetches_known_position(me.log, m)):
        if is_peer_voter(me, peer):
            yield from handle_voter_fetch(st, m, s, peer)
        else:
            yield from handle_observer_fetch(st, m, s)


def fetched_log(me, m):
    """The log after the response: with one more entry, or truncated."""
    if isinstance(m, FetchResponseOk) and len(m.entries) > 0:
        return me.log.append(m.entries.at(1))
    if isinstance(m, FetchResponseDiverging):
        return truncate_log(me.log, m)
    return me.log


@spec.receive(FetchResponse, s="dest", peer="source", fair=WEAK)
def handle_fetch_response(st, m, s, peer):
    """HandleFetchResponse(s, peer): append or truncate, and take the configuration of the log (KIP-595; KIP-853)."""
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH) or me.fetch_state.pending_fetch != m.correlation:
        return
    response = maybe_handle_common_response(me, s, m.leader, m.replica_epoch, m.error)
    if response.handled:
        node = apply_state(me, response.transition)
    else:
        new_log = fetched_log(me, m)
        curr_config = most_recent_config(new_log, m.hwm)
        node = maybe_switch_configurations(me, s, curr_config, response.transition).set(
            log=new_log, hwm=m.hwm if isinstance(m, FetchResponseOk) else me.hwm
        )
    yield discard(st, m).set(servers=st.servers.set(s, node.set(fetch_state=update_fetch_state_with_fetch_res(me, m))))
