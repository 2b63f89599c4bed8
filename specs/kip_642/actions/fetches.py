"""Fetching: followers and observers ask for the next entry, and the leader answers (KIP-595, Fetch; KIP-642)."""

from kmc.lang import ways
from kmc.spec import spec

from ...consensus.logs import end_offset_for_epoch, epoch_at, last_epoch
from ...consensus.pull_raft.network import KeepsDelivered
from ...consensus.pull_raft.rules import (
    fetches_from_start,
    fetches_known_position,
    maybe_handle_common_response,
    truncate_log,
    valid_fetch_position,
)
from ...consensus.pull_raft.types import FetchResult, Server, ServerState
from ..assignments import (
    acked_by,
    committed,
    demoted,
    extended,
    is_observer,
    is_tracked,
    is_voter,
    newest_assignment,
    truncated,
)
from ..clusters import known_cluster, wrong_cluster
from ..network import discard, is_alive, reply, send_fetch
from ..readings import Reassignment, RemovedVoterIsTold
from ..types import (
    Error,
    FetchRequest,
    FetchResponse,
    FetchResponseDiverging,
    FetchResponseNotOk,
    FetchResponseOk,
    MaxCrashes,
    MaxDisconnects,
    MaxDiskLosses,
)
from .elections import named_leader


def asks_its_leader(me, j):
    """A follower fetches from the leader that it knows."""
    return me.state == ServerState.FOLLOWER and me.leader == j


def looks_for_leader(st, i, j):
    """Quorum Bootstrapping: an observer without a leader fetches from any server, which tells it of the leader.

    A server that knows of no leader but itself, resigned, tells nothing, so it is not asked.
    """
    me, peer = st.servers[i], st.servers[j]
    if not Reassignment or i == j or me.leader is not None or is_voter(me, i):
        return False
    if peer.leader is None or peer.state == ServerState.RESIGNED:
        return False
    return me.state != ServerState.LEADER and me.state != ServerState.CANDIDATE


@spec.action
def send_fetch_request(st, i: Server, j: Server):
    """A server without a pending fetch asks its leader, or looks for one. KRaft.tla: SendFetchRequest."""
    me = st.servers[i]
    if i == j or me.pending_fetch is not None or not is_alive(st, i):
        return
    if not asks_its_leader(me, j) and not looks_for_leader(st, i, j):
        return
    fetch = FetchRequest(
        mepoch=me.current_epoch,
        mfetch_offset=len(me.log),
        mlast_fetched_epoch=last_epoch(me.log),
        mvoter=is_voter(me, i) or not RemovedVoterIsTold,
        mcluster=known_cluster(me),
        msource=i,
        mdest=j,
    )
    yield st.set(servers=st.servers.set(i, me.set(pending_fetch=fetch)), messages=send_fetch(st, fetch))


def is_removed(plan, me, j):
    """Reassignment Algorithm 5: server j is not a voter in the leader's newest assignment, which is committed."""
    return j not in me.assignment.current and j not in newest_assignment(plan, me.log, me.high_watermark).current


def fetch_error(plan, me, m):
    """Why a fetch is refused, or None (KIP-595, Fetch; KIP-642, NOT_FOLLOWER and ClusterId)."""
    if wrong_cluster(me, m):
        return Error.INCONSISTENT_CLUSTER_ID
    if me.state != ServerState.LEADER:
        return Error.NOT_LEADER
    if m.mepoch < me.current_epoch:
        return Error.FENCED_LEADER_EPOCH
    if m.mepoch > me.current_epoch:
        return Error.UNKNOWN_LEADER
    if Reassignment and RemovedVoterIsTold and m.mvoter and is_removed(plan, me, m.msource):
        return Error.NOT_FOLLOWER
    return None


@spec.receive(FetchRequest)
def reject_fetch_request(st, m):
    """The server does not lead, its epoch differs, or the voter was removed. KRaft.tla: RejectFetchRequest."""
    i, j = m.mdest, m.msource
    me = st.servers[i]
    error = fetch_error(st.plan, me, m)
    if error is None:
        return
    response = FetchResponseNotOk(
        mresult=FetchResult.NOT_OK,
        merror=error,
        mleader=me.leader,
        mepoch=me.current_epoch,
        mhwm=me.high_watermark,
        msource=i,
        mdest=j,
        correlation=m,
    )
    yield st.set(messages=reply(st, response, m))


@spec.receive(FetchRequest)
def diverging_fetch_request(st, m):
    """The position is not in the leader's log: say where to truncate to. KRaft.tla: DivergingFetchRequest."""
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if fetch_error(st.plan, me, m) is not None or valid_fetch_position(me.log, m):
        return
    end = end_offset_for_epoch(me.log, m.mlast_fetched_epoch)
    response = FetchResponseDiverging(
        mepoch=me.current_epoch,
        mresult=FetchResult.DIVERGING,
        merror=None,
        mdiverging_epoch=epoch_at(me.log, end),
        mdiverging_end_offset=end,
        mleader=me.leader,
        mhwm=me.high_watermark,
        msource=i,
        mdest=j,
        correlation=m,
    )
    yield st.set(messages=reply(st, response, m))


@spec.receive(FetchRequest)
def accept_fetch_request(st, m):
    """Answer with the next entry, and advance the high watermark. KRaft.tla: AcceptFetchRequest.

    ValidFetchPosition is a disjunction whose parts can both hold: TLC then generates the successor twice.
    """
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if fetch_error(st.plan, me, m) is not None:
        return
    offset = m.mfetch_offset + 1
    for _ in ways(fetches_from_start(m), fetches_known_position(me.log, m)):
        tracked = me.end_offset.set(j, m.mfetch_offset) if is_tracked(me.assignment, j) else me.end_offset
        leader = committed(st.plan, i, me.set(end_offset=tracked))
        response = FetchResponseOk(
            mepoch=me.current_epoch,
            mleader=me.leader,
            mresult=FetchResult.OK,
            merror=None,
            mentries=[me.log.at(offset)] if offset <= len(me.log) else [],
            mhwm=min(leader.high_watermark, offset),
            msource=i,
            mdest=j,
            correlation=m,
        )
        yield st.set(servers=st.servers.set(i, leader), acked=acked_by(st, me, leader), messages=reply(st, response, m))


def handled(me, i, m):
    """MaybeHandleCommonResponse: the response is an error, or tells of a newer epoch or a leader."""
    return maybe_handle_common_response(me, i, named_leader(me, i, m), m.mepoch, m.merror)


@spec.receive(FetchResponse)
def handle_success_fetch_response(st, m):
    """Append the entry, take the high watermark, and act on a new assignment. KRaft.tla: HandleSuccessFetchResponse."""
    i = m.mdest
    me = st.servers[i]
    if handled(me, i, m).handled or me.pending_fetch != m.correlation or not isinstance(m, FetchResponseOk):
        return
    log = me.log.append(m.mentries.at(1)) if len(m.mentries) > 0 else me.log
    follower = extended(me, log, m.mhwm).set(pending_fetch=None)
    yield st.set(servers=st.servers.set(i, follower), messages=discard(st.messages, m))


@spec.receive(FetchResponse)
def handle_diverging_fetch_response(st, m):
    """Truncate the log, and revert to the assignment before. KRaft.tla: HandleDivergingFetchResponse."""
    i = m.mdest
    me = st.servers[i]
    if handled(me, i, m).handled or me.pending_fetch != m.correlation or not isinstance(m, FetchResponseDiverging):
        return
    follower = truncated(st.plan, me, truncate_log(me.log, m)).set(pending_fetch=None)
    yield st.set(servers=st.servers.set(i, follower), messages=discard(st.messages, m))


def without_leader(me):
    """An observer that forgets its leader. A follower may have voted in its epoch, so it votes no more in it."""
    if me.state == ServerState.FOLLOWER:
        return me.set(state=ServerState.VOTED, voted_for=None, leader=None)
    return me.set(leader=None)


@spec.receive(FetchResponse)
def handle_error_fetch_response(st, m):
    """An error, or a newer epoch or leader, changes state instead of the log. KRaft.tla: HandleErrorFetchResponse.

    Another cluster's leader is not believed: its error only ends the fetch.
    """
    i = m.mdest
    me = st.servers[i]
    new = handled(me, i, m)
    if not new.handled or me.pending_fetch != m.correlation:
        return
    if m.merror == Error.INCONSISTENT_CLUSTER_ID:
        told = me.set(pending_fetch=None)
    else:
        told = me.set(state=new.state, leader=new.leader, current_epoch=new.epoch, pending_fetch=None)
    if is_observer(me, i) and m.merror == Error.NOT_LEADER and told.leader == m.msource:
        # KIP-595, BeginQuorumEpoch: where the old leader knows no new one, an observer asks others.
        told = without_leader(told)
    if Reassignment and m.merror == Error.NOT_FOLLOWER and not is_observer(me, i):
        told = demoted(told, i)
    yield st.set(servers=st.servers.set(i, told), messages=discard(st.messages, m))


LOSES_FETCHES = MaxCrashes + MaxDisconnects + MaxDiskLosses > 0
"""Else each fetch that is waited for, or the answer to it, is in flight."""


def is_lost(st, m):
    """Neither the fetch nor an answer to it is in flight."""
    return m not in st.messages and all(r.correlation != m for r in st.messages.of(FetchResponse))


@spec.action
def fetch_timeout(st, i: Server):
    """An observer whose fetch was lost looks for a leader again; a voter campaigns instead (RequestVote)."""
    me = st.servers[i]
    if not Reassignment or KeepsDelivered or not LOSES_FETCHES:
        return
    if is_voter(me, i) or me.pending_fetch is None or not is_alive(st, i):
        return
    if not is_lost(st, me.pending_fetch):
        return
    yield st.set(servers=st.servers.set(i, without_leader(me).set(pending_fetch=None)))
