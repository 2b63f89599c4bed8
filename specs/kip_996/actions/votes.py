"""Votes and pre-votes, up to the majority that starts an election (KIP-996; KIP-595, Vote)."""

from kmc.lang import ways
from kmc.spec import WEAK, spec

from ...consensus.kip_996.codes import EpochMatch
from ...consensus.kip_996.configurations import ServerId
from ...consensus.kip_996.network import discard
from ...consensus.kip_996.rules import apply_state, elects
from ...consensus.logs import compare_entries, last_epoch
from ..functions import (
    blank_fetch_state,
    fail_any_pending_writes,
    is_voter,
    maybe_handle_common_response,
    no_transition,
    receivable_message,
    reset_follower_fetch_state,
    transition_to_follower,
    transition_to_prospective_add_vote,
    transition_to_unattached,
    transition_to_unattached_add_vote,
    within_epoch_limit,
)
from ..mutants import (
    AnyLogIsElected,
    CandidatesWithoutPreVote,
    FollowersAlwaysGrant,
    FollowersRefusePreVotes,
    ProspectiveStays,
    SkipsPreVote,
    VotersVoteAgain,
)
from ..network import has_inflight_vote_req, has_inflight_vote_res, reply
from ..types import Error, OldServers, RequestVoteRequest, RequestVoteResponse, ServerState
from ..versions import knows_pre_vote
from .campaigns import send_vote_requests, stand, stand_as_told

PRE_VOTE_GRANTING_STATES = {
    ServerState.UNATTACHED,
    ServerState.PROSPECTIVE,
    ServerState.CANDIDATE,
    ServerState.RESIGNED,
}


def grant_pre_vote(me, state0, log_ok):
    """GrantPreVote(s, state0, log_ok): a follower that has fetched from its leader grants none (KIP-996)."""
    can_grant = state0.state in PRE_VOTE_GRANTING_STATES or (
        state0.state == ServerState.FOLLOWER
        and not FollowersRefusePreVotes
        and (not me.fetch_state.has_fetch_success or FollowersAlwaysGrant)
    )
    return can_grant and log_ok


def grant_vote(peer, state0, log_ok):
    """GrantVote(s, peer, state0, log_ok): one vote per epoch, and none against a known leader (KIP-595, Vote)."""
    if state0.state != ServerState.UNATTACHED and state0.state != ServerState.PROSPECTIVE:
        return False
    if state0.voted_for is not None and not VotersVoteAgain:
        return state0.voted_for == peer
    return state0.leader is None and log_ok


def final_state(m, state0, granted):
    """FinalState(s, peer, m, state0, grant_vote, pre_vote). A voter that repeats its vote goes to the illegal state."""
    if m.pre_vote or not granted:
        return state0
    if state0.state == ServerState.UNATTACHED:
        return transition_to_unattached_add_vote(m.replica_epoch, state0, m.source)
    if state0.state == ServerState.PROSPECTIVE:
        return transition_to_prospective_add_vote(m.replica_epoch, state0, m.source)
    return state0


def refuse_vote_request(st, m, error):
    """The error branch of HandleVoteRequest: nothing changes at the server."""
    me = st.servers[m.dest]
    refusal = RequestVoteResponse(
        replica_epoch=me.current_epoch,
        leader=me.leader,
        vote_granted=False,
        pre_vote=m.pre_vote,
        error=error,
        source=m.dest,
        dest=m.source,
    )
    return reply(st, m, refusal)


@spec.receive(RequestVoteRequest, s="dest", peer="source", fair=WEAK)
def handle_vote_request(st, m, s, peer):
    """HandleVoteRequest(s, peer): a vote or a pre-vote (KIP-996; KIP-595, Vote); observers answer as well."""
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH):
        return
    me = st.servers[s]
    if m.last_log_epoch > m.replica_epoch:
        yield refuse_vote_request(st, m, Error.INVALID_REQUEST)
        return
    if m.replica_epoch < me.current_epoch:
        yield refuse_vote_request(st, m, Error.FENCED_LEADER_EPOCH)
        return
    newer = m.replica_epoch > me.current_epoch
    state0 = transition_to_unattached(me, m.replica_epoch, None) if newer else no_transition(me)
    order = compare_entries(m.last_log_offset, m.last_log_epoch, len(me.log), last_epoch(me.log))
    log_ok = order >= 0 or AnyLogIsElected
    granted = grant_pre_vote(me, state0, log_ok) if m.pre_vote else grant_vote(peer, state0, log_ok)
    final = final_state(m, state0, granted)
    changed = me.state != final.state
    voter = apply_state(me, final).set(
        fetch_state=blank_fetch_state() if changed else me.fetch_state,
        pending_ack=set() if changed else me.pending_ack,
    )
    response = RequestVoteResponse(
        replica_epoch=m.replica_epoch,
        leader=final.leader,
        vote_granted=granted,
        pre_vote=m.pre_vote,
        error=None,
        source=s,
        dest=peer,
    )
    yield reply(st, m, response).set(
        servers=st.servers.set(s, voter),
        inv_neg_acked=fail_any_pending_writes(st, me) if changed else st.inv_neg_acked,
    )


def counts_as_vote(m, response):
    """The response grants what the server is still asking for."""
    asked = ServerState.PROSPECTIVE if m.pre_vote else ServerState.CANDIDATE
    return not response.handled and response.transition.state == asked and m.vote_granted


def tells_of_an_old_version(st, me, m):
    """A prospective learns from its network client that the peer knows no pre-vote (KIP-996, Compatibility)."""
    return (
        OldServers > 0
        and me.state == ServerState.PROSPECTIVE
        and me.current_epoch == m.replica_epoch
        and not m.pre_vote
        and not knows_pre_vote(st.servers[m.source])
    )


@spec.receive(RequestVoteResponse, s="dest", peer="source", fair=WEAK)
def handle_vote_response(st, m, s, peer):
    """HandleVoteResponse(s, peer): count the vote, unless the response tells of a leader or a newer epoch.

    MaybeLoseLeadership: a leader that leaves its state here fails its pending writes.
    """
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH) or not is_voter(me, s):
        return
    if tells_of_an_old_version(st, me, m):
        yield stand_as_told(discard(st, m), s)
        return
    response = maybe_handle_common_response(me, s, m.leader, m.replica_epoch, m.error)
    state0 = response.transition
    state1 = state0.set(votes_recv=state0.votes_recv | {peer}) if counts_as_vote(m, response) else state0
    loses_leadership = me.state == ServerState.LEADER and state1.state != ServerState.LEADER
    node = apply_state(me, state1)
    if loses_leadership:
        node = node.set(pending_ack=set(), flwr_end_offset=reset_follower_fetch_state(me.config.members))
    yield discard(st, m).set(
        servers=st.servers.set(s, node),
        inv_neg_acked=fail_any_pending_writes(st, me) if loses_leadership else st.inv_neg_acked,
    )


def no_more_pre_votes_to_count(st, s):
    """NoMorePreVotesToCount(s): all answers are in or lost."""
    return not has_inflight_vote_req(st, s, True) and not has_inflight_vote_res(st, s, True)


def is_asking_for_pre_votes(me):
    """Server s is prospective; without pre-votes, a server that could time out counts as one that has asked."""
    return me.state == ServerState.PROSPECTIVE or (
        CandidatesWithoutPreVote and (me.state == ServerState.FOLLOWER or me.state == ServerState.UNATTACHED)
    )


@spec.action(fair=WEAK)
def conclude_pre_vote(st, s: ServerId):
    """ConcludePreVote(s): with a majority an election begins, else it returns to the leader it knows, or to Unattached.

    KIP-996. Counts twice when there is a majority and no answer is missing.
    """
    if s not in st.servers:
        return
    me = st.servers[s]
    if not is_voter(me, s) or not is_asking_for_pre_votes(me) or not within_epoch_limit(me):
        return
    has_majority = elects(me.votes_recv, me.config.members) or CandidatesWithoutPreVote or SkipsPreVote
    for _ in ways(no_more_pre_votes_to_count(st, s), has_majority):
        if has_majority:
            yield stand(st, s)
        elif ProspectiveStays:
            yield send_vote_requests(st, s, me.current_epoch, True)
        elif me.leader is not None:
            follower = transition_to_follower(me, s, me.leader, me.current_epoch)
            yield st.set(servers=st.servers.set(s, apply_state(me, follower)))
        else:
            unattached = transition_to_unattached(me, me.current_epoch, me.leader)
            yield st.set(servers=st.servers.set(s, apply_state(me, unattached)))
