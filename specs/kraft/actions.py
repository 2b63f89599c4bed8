"""The actions of KRaft.tla, in the order of its Next. Parameters are those of TLA+; i is the acting server."""

from kmc.lang import ways
from kmc.spec import spec

from ..consensus.logs import compare_entries, end_offset_for_epoch, epoch_at, last_epoch
from ..consensus.pull_raft.mutants import AnyLogIsElected, VotersVoteAgain
from ..consensus.pull_raft.network import KeepsDelivered
from ..consensus.pull_raft.rules import (
    elects,
    fetches_from_start,
    fetches_known_position,
    maybe_handle_common_response,
    maybe_transition,
    no_transition,
    receivable_message,
    restarted_leader,
    restarted_state,
    restarted_vote,
    restarted_votes,
    transition_to_unattached,
    transition_to_voted,
    truncate_log,
    valid_fetch_position,
)
from ..consensus.pull_raft.types import EpochMatch, FetchResult, MaxRestarts, Server, ServerState, Value
from .mutants import DivergingEntriesStay, LeaderCommitsAlone, OldLeadersPass, OwnVoteElects
from .network import discard, reply, send, send_multiple_once, settled
from .observers import committed_by, first_observes, is_counted, is_voter, looks_for_leader, voters
from .types import (
    BeginQuorumRequest,
    BeginQuorumResponse,
    Entry,
    Error,
    FetchRequest,
    FetchResponse,
    FetchResponseDiverging,
    FetchResponseNotOk,
    FetchResponseOk,
    FirstByTimeout,
    LeaderChangeRecords,
    Node,
    OldFetchesPass,
    RequestVoteRequest,
    RequestVoteResponse,
    StartsElected,
    State,
)

spec.names(init="Init", next="Next", specifications=["Spec", "LivenessSpec"])


ELECTION_TIMEOUT_STATES = {
    ServerState.FOLLOWER,
    ServerState.CANDIDATE,
    ServerState.UNATTACHED,
    ServerState.RESIGNED,
}


def first_state(i):
    """The state of server i in epoch 1: unattached, or with StartsElected, a voter leads or follows."""
    if not StartsElected or first_observes(i) == 1:
        return ServerState.UNATTACHED
    return ServerState.LEADER if i == Server.at(1) else ServerState.FOLLOWER


def first_log(epoch):
    """The log of a leader that begins with nothing."""
    return [Entry(epoch=epoch, value=None)] if LeaderChangeRecords else []


@spec.init
def init():
    """Init: all servers unattached in epoch 1, with empty logs (StartsElected: the voters have a leader)."""
    yield State(
        messages={} if KeepsDelivered else set(),
        servers={
            i: Node(
                current_epoch=1,
                state=first_state(i),
                voted_for=None,
                leader=Server.at(1) if StartsElected and first_observes(i) == 0 else None,
                pending_fetch=None,
                votes_granted=set(),
                end_offset={j: 0 for j in Server},
                log=first_log(1) if StartsElected and i == Server.at(1) else [],
                high_watermark=0,
                observes=first_observes(i),
            )
            for i in Server
        },
        acked={v: None for v in Value},
        election_ctr=0,
        restart_ctr=0,
    )


@spec.action
def restart(st, i: Server):
    """Restart(i): keeps epoch, vote and log; a follower without a leader, unless the corrections are on (see types)."""
    if st.restart_ctr >= MaxRestarts:
        return
    me = st.servers[i]
    restarted = me.set(
        state=restarted_state(me),
        voted_for=restarted_vote(me),
        leader=restarted_leader(me),
        votes_granted=restarted_votes(me, i),
        end_offset={j: 0 for j in Server},
        high_watermark=0,
        pending_fetch=None,
    )
    yield settled(st.set(servers=st.servers.set(i, restarted), restart_ctr=st.restart_ctr + 1))


def standing(st, i):
    """Server i becomes a candidate of the next epoch and asks all other voters for their votes (KIP-595, Vote)."""
    me = st.servers[i]
    candidate = me.set(
        state=ServerState.CANDIDATE,
        current_epoch=me.current_epoch + 1,
        leader=None,
        voted_for=i,
        votes_granted={i},
        pending_fetch=None,
    )
    requests = {
        RequestVoteRequest(
            mepoch=me.current_epoch + 1,
            mlast_log_epoch=last_epoch(me.log),
            mlast_log_offset=len(me.log),
            msource=i,
            mdest=j,
        )
        for j in Server
        if j != i and is_voter(st, j)
    }
    return st.set(
        servers=st.servers.set(i, candidate),
        election_ctr=st.election_ctr + 1,
        messages=send_multiple_once(st.messages, requests),
    )


@spec.action
def request_vote(st, i: Server):
    """RequestVote(i): the election timeout, and the vote requests to all peers (KIP-595, Vote)."""
    me = st.servers[i]
    if st.election_ctr >= FirstByTimeout:
        return
    if me.state not in ELECTION_TIMEOUT_STATES or not is_voter(st, i):
        return
    yield settled(standing(st, i))


@spec.receive(RequestVoteRequest)
def handle_request_vote_request(st, m):
    """HandleRequestVoteRequest (KIP-595, Vote handling): grant to a candidate of this epoch whose log is not behind."""
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if m.mepoch < me.current_epoch:
        refusal = RequestVoteResponse(
            mepoch=me.current_epoch,
            mleader=me.leader,
            mvote_granted=False,
            merror=Error.FENCED_LEADER_EPOCH,
            msource=i,
            mdest=j,
        )
        yield settled(st.set(messages=reply(st.messages, refusal, m)))
        return
    state0 = transition_to_unattached(m.mepoch) if m.mepoch > me.current_epoch else no_transition(me)
    log_ok = compare_entries(m.mlast_log_offset, m.mlast_log_epoch, len(me.log), last_epoch(me.log)) >= 0
    grant = (log_ok or AnyLogIsElected) and (
        state0.state == ServerState.UNATTACHED
        or (state0.state == ServerState.VOTED and (me.voted_for == j or VotersVoteAgain))
    )
    final = transition_to_voted(m.mepoch, state0) if grant and state0.state == ServerState.UNATTACHED else state0
    voter = me.set(
        state=final.state,
        current_epoch=final.epoch,
        leader=final.leader,
        voted_for=j if grant else me.voted_for,
        pending_fetch=me.pending_fetch if final.state == me.state else None,
    )
    response = RequestVoteResponse(
        mepoch=m.mepoch, mleader=final.leader, mvote_granted=grant, merror=None, msource=i, mdest=j
    )
    yield settled(st.set(servers=st.servers.set(i, voter), messages=reply(st.messages, response, m)))


@spec.receive(RequestVoteResponse)
def handle_request_vote_response(st, m):
    """HandleRequestVoteResponse: count the vote, unless the response is stale or tells of a newer epoch."""
    i, j = m.mdest, m.msource
    me = st.servers[i]
    new = maybe_handle_common_response(me, i, m.mleader, m.mepoch, m.merror)
    if new.handled:
        changed = me.set(state=new.state, leader=new.leader, current_epoch=new.epoch)
    else:
        if me.state != ServerState.CANDIDATE:
            return
        changed = me.set(votes_granted=me.votes_granted | {j}) if m.mvote_granted else me
    yield settled(st.set(servers=st.servers.set(i, changed), messages=discard(st.messages, m)))


@spec.action
def become_leader(st, i: Server):
    """BecomeLeader(i): a candidate with a majority tells all other voters (KIP-595, BeginQuorumEpoch).

    "Note that only voters receive the BeginQuorumEpoch request".
    """
    me = st.servers[i]
    if me.state != ServerState.CANDIDATE or (not elects(me.votes_granted, voters(st)) and not OwnVoteElects):
        return
    leader = me.set(
        state=ServerState.LEADER,
        leader=i,
        end_offset={j: 0 for j in Server},
        log=me.log.append(Entry(epoch=me.current_epoch, value=None)) if LeaderChangeRecords else me.log,
    )
    requests = {
        BeginQuorumRequest(mepoch=me.current_epoch, msource=i, mdest=j) for j in Server if j != i and is_voter(st, j)
    }
    yield settled(st.set(servers=st.servers.set(i, leader), messages=send_multiple_once(st.messages, requests)))


@spec.action
def client_request(st, i: Server, v: Value):
    """ClientRequest(i, v): a leader appends a value that was never sent before."""
    me = st.servers[i]
    if me.state != ServerState.LEADER or st.acked[v] is not None:
        return
    leader = me.set(log=me.log.append(Entry(epoch=me.current_epoch, value=v)))
    yield settled(st.set(servers=st.servers.set(i, leader), acked=st.acked.set(v, False)))


@spec.receive(FetchRequest)
def reject_fetch_request(st, m):
    """RejectFetchRequest (KIP-595, Fetch): not the leader, or an epoch that differs."""
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if me.state != ServerState.LEADER:
        error = Error.NOT_LEADER
    elif m.mepoch < me.current_epoch and not OldFetchesPass:
        error = Error.FENCED_LEADER_EPOCH
    elif m.mepoch > me.current_epoch:
        error = Error.UNKNOWN_LEADER
    else:
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
    yield settled(st.set(messages=reply(st.messages, response, m)))


def is_receivable_fetch(st, m):
    """ReceivableMessage(m, FetchRequest, EqualEpoch); with OldFetchesPass, of an older epoch too."""
    older = OldFetchesPass and m.mepoch < st.servers[m.mdest].current_epoch
    return older or receivable_message(st, m, EpochMatch.EQUAL_EPOCH)


@spec.receive(FetchRequest)
def diverging_fetch_request(st, m):
    """DivergingFetchRequest (KIP-595, Fetch): the position is not in the leader's log; say where to truncate to."""
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if not is_receivable_fetch(st, m):
        return
    if me.state != ServerState.LEADER or valid_fetch_position(me.log, m):
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
    yield settled(st.set(messages=reply(st.messages, response, m)))


def is_pending(acked):
    """acked[v] = FALSE: sent to a leader, not yet acknowledged."""
    return acked is not None and not acked


@spec.receive(FetchRequest)
def accept_fetch_request(st, m):
    """AcceptFetchRequest (KIP-595, Fetch): answer with the next entry, and advance the high watermark.

    "The fetch request is sent by both voters and observers to the current leader in order to replicate log changes."
    An observer's position is not counted, so the leader forgets it.
    ValidFetchPosition is a disjunction whose parts can both hold: TLC then generates the successor twice.
    """
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if not is_receivable_fetch(st, m) or me.state != ServerState.LEADER:
        return
    offset = m.mfetch_offset + 1
    for _ in ways(fetches_from_start(m), fetches_known_position(me.log, m)):
        new_end_offset = me.end_offset.set(j, m.mfetch_offset) if is_counted(st, j) else me.end_offset
        new_hwm = len(me.log) if LeaderCommitsAlone else committed_by(st, i, new_end_offset)
        newly_acked = {me.log.at(ind).value for ind in range(me.high_watermark + 1, new_hwm + 1)}
        response = FetchResponseOk(
            mepoch=me.current_epoch,
            mleader=me.leader,
            mresult=FetchResult.OK,
            merror=None,
            mentries=[me.log.at(offset)] if offset <= len(me.log) else [],
            mhwm=min(new_hwm, offset),
            msource=i,
            mdest=j,
            correlation=m,
        )
        yield settled(
            st.set(
                servers=st.servers.set(i, me.set(end_offset=new_end_offset, high_watermark=new_hwm)),
                acked={v: v in newly_acked if is_pending(st.acked[v]) else st.acked[v] for v in Value},
                messages=reply(st.messages, response, m),
            )
        )


@spec.receive(BeginQuorumRequest)
def handle_begin_quorum_request(st, m):
    """HandleBeginQuorumRequest (KIP-595, BeginQuorumEpoch): become a follower unless the message is stale."""
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if m.mepoch < me.current_epoch and not OldLeadersPass:
        refusal = BeginQuorumResponse(mepoch=me.current_epoch, msource=i, mdest=j, merror=Error.FENCED_LEADER_EPOCH)
        yield settled(st.set(messages=reply(st.messages, refusal, m) if KeepsDelivered else discard(st.messages, m)))
        return
    new = maybe_transition(me, i, m.msource, m.mepoch)
    follower = me.set(state=new.state, leader=new.leader, current_epoch=new.epoch, pending_fetch=None)
    response = BeginQuorumResponse(mepoch=m.mepoch, msource=i, mdest=j, merror=None)
    yield settled(
        st.set(
            servers=st.servers.set(i, follower),
            messages=reply(st.messages, response, m) if KeepsDelivered else discard(st.messages, m),
        )
    )


@spec.action
def send_fetch_request(st, i: Server, j: Server):
    """SendFetchRequest(i, j): a follower without a pending fetch asks its leader; an observer may look for one."""
    me = st.servers[i]
    if i == j or me.pending_fetch is not None:
        return
    if (me.state != ServerState.FOLLOWER or me.leader != j) and not looks_for_leader(st, i, j):
        return
    fetch = FetchRequest(
        mepoch=me.current_epoch,
        mfetch_offset=len(me.log),
        mlast_fetched_epoch=last_epoch(me.log),
        msource=i,
        mdest=j,
    )
    yield settled(st.set(servers=st.servers.set(i, me.set(pending_fetch=fetch)), messages=send(st.messages, fetch)))


@spec.receive(FetchResponse)
def handle_success_fetch_response(st, m):
    """HandleSuccessFetchResponse: append the entry and take the high watermark."""
    i = m.mdest
    me = st.servers[i]
    if maybe_handle_common_response(me, i, m.mleader, m.mepoch, m.merror).handled:
        return
    if me.pending_fetch != m.correlation or not isinstance(m, FetchResponseOk):
        return
    follower = me.set(
        high_watermark=m.mhwm,
        log=me.log.append(m.mentries.at(1)) if len(m.mentries) > 0 else me.log,
        pending_fetch=None,
    )
    yield settled(st.set(servers=st.servers.set(i, follower), messages=discard(st.messages, m)))


@spec.receive(FetchResponse)
def handle_diverging_fetch_response(st, m):
    """HandleDivergingFetchResponse: truncate the log to the highest entry in common."""
    i = m.mdest
    me = st.servers[i]
    if maybe_handle_common_response(me, i, m.mleader, m.mepoch, m.merror).handled:
        return
    if me.pending_fetch != m.correlation or not isinstance(m, FetchResponseDiverging):
        return
    follower = me.set(log=me.log if DivergingEntriesStay else truncate_log(me.log, m), pending_fetch=None)
    yield settled(st.set(servers=st.servers.set(i, follower), messages=discard(st.messages, m)))


@spec.receive(FetchResponse)
def handle_error_fetch_response(st, m):
    """HandleErrorFetchResponse: an error, or a newer epoch or leader, changes state instead of the log."""
    i = m.mdest
    me = st.servers[i]
    new = maybe_handle_common_response(me, i, m.mleader, m.mepoch, m.merror)
    if not new.handled or me.pending_fetch != m.correlation:
        return
    changed = me.set(state=new.state, leader=new.leader, current_epoch=new.epoch, pending_fetch=None)
    yield settled(st.set(servers=st.servers.set(i, changed), messages=discard(st.messages, m)))
