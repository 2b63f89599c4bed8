"""Pre-votes and votes, and the election that a majority of pre-votes starts (KIP-996; KIP-595, Vote)."""

from kmc.spec import WEAK, spec

from ...consensus.kip_996.cluster import MaxEpoch
from ...consensus.kip_996.codes import EpochMatch
from ...consensus.kip_996.configurations import ServerId
from ...consensus.kip_996.network import discard
from ...consensus.kip_996.rules import apply_state, elects
from ...consensus.logs import compare_entries, last_epoch
from ..functions import (
    blank_fetch_state,
    fail_pending_writes,
    maybe_handle_common_response,
    no_transition,
    receivable_message,
    transition_to_candidate,
    transition_to_unattached,
    transition_to_voted,
)
from ..mutants import AnyLogIsElected, CandidatesWithoutPreVote, VotersVoteAgain
from ..network import reply
from ..types import Error, RequestVoteRequest, RequestVoteResponse, Role, ServerState, StaleVoteIsNotGiven, TestLiveness
from .timeouts import send_vote_requests


def state_for_request(me, m):
    """state0 of both handlers of requests: a newer epoch makes the server unattached."""
    if m.epoch > me.current_epoch:
        return transition_to_unattached(me, m.epoch, me.role)
    return no_transition(me)


def log_ok(me, m):
    """log_ok of both handlers of requests: the sender's log ends no earlier than that of the server."""
    return AnyLogIsElected or compare_entries(m.last_log_offset, m.last_log_epoch, len(me.log), last_epoch(me.log)) >= 0


def vote_response(me, m, leader, granted):
    """The answer to a request that is not stale, or the refusal of one that is."""
    stale = m.epoch < me.current_epoch
    return RequestVoteResponse(
        epoch=me.current_epoch if stale else m.epoch,
        leader=leader,
        vote_granted=granted and not stale,
        pre_vote=m.pre_vote,
        error=Error.FENCED_LEADER_EPOCH if stale else None,
        source=m.dest,
        dest=m.source,
    )


@spec.receive(RequestVoteRequest, s="dest", peer="source", fair=WEAK)
def handle_pre_vote_request(st, m, s, peer):
    """HandlePreVoteRequest(s, peer): a follower that has fetched from its leader grants none (KIP-996).

    An answer that grants does not name the leader. Observers answer as well. A leader or follower that learns of a
    newer epoch keeps what it has pending and its fetch state.
    """
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH) or not m.pre_vote:
        return
    state0 = state_for_request(me, m)
    may_grant = state0.state != ServerState.FOLLOWER or not me.fetch_state.has_fetch_success
    granted = may_grant and log_ok(me, m)
    stale = m.epoch < me.current_epoch
    leader = None if granted and not stale else state0.leader
    yield reply(st, m, vote_response(me, m, leader, granted)).set(servers=st.servers.set(s, apply_state(me, state0)))


@spec.receive(RequestVoteResponse, s="dest", peer="source", fair=WEAK)
def handle_pre_vote_response(st, m, s, peer):
    """HandlePreVoteResponse(s, peer): count the pre-vote, or follow the leader that the response names (KIP-996)."""
    if m.pre_vote:
        yield from count_vote(st, m, s, peer, ServerState.PROSPECTIVE)


def count_vote(st, m, s, peer, asking):
    """What both handlers of responses do; `asking` is the state in which the server still wants the vote."""
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH) or me.role != Role.VOTER:
        return
    response = maybe_handle_common_response(me, s, m.leader, m.epoch, m.error)
    state0 = response.transition
    counts = not response.handled and me.state == asking and m.vote_granted
    state1 = state0.set(votes_recv=state0.votes_recv | {peer}) if counts else state0
    yield discard(st, m).set(servers=st.servers.set(s, apply_state(me, state1)))


def within_epoch_limit(me):
    """WithinEpochLimit(s)."""
    return TestLiveness or me.current_epoch < MaxEpoch


def has_asked_for_pre_votes(me):
    """Server s is prospective; without pre-votes, a server that could time out counts as one that has asked."""
    return me.state == ServerState.PROSPECTIVE or (
        CandidatesWithoutPreVote and (me.state == ServerState.FOLLOWER or me.state == ServerState.UNATTACHED)
    )


@spec.action(fair=WEAK)
def request_vote(st, s: ServerId):
    """RequestVote(s): a prospective with a majority of pre-votes becomes a candidate in the next epoch (KIP-996)."""
    if s not in st.servers:
        return
    me = st.servers[s]
    if me.role != Role.VOTER or not has_asked_for_pre_votes(me) or not within_epoch_limit(me):
        return
    if s not in me.config.members or not (elects(me.votes_recv, me.config.members) or CandidatesWithoutPreVote):
        return
    candidate = transition_to_candidate(me, s)
    node = apply_state(me, candidate).set(fetch_state=blank_fetch_state())
    yield send_vote_requests(st, s, candidate.epoch, False).set(servers=st.servers.set(s, node))


@spec.receive(RequestVoteRequest, s="dest", peer="source", fair=WEAK)
def handle_standard_vote_request(st, m, s, peer):
    """HandleStandardVoteRequest(s, peer): one vote per epoch (KIP-595, Vote); observers answer as well.

    A stale request is refused, but an unattached server still becomes Voted for its sender, in the older epoch.
    """
    me = st.servers[s]
    if not receivable_message(st, m, EpochMatch.ANY_EPOCH) or m.pre_vote:
        return
    state0 = state_for_request(me, m)
    repeats = state0.state == ServerState.VOTED and me.voted_for == peer
    free = state0.state == ServerState.UNATTACHED or (VotersVoteAgain and state0.state == ServerState.VOTED)
    granted = (free or repeats) and log_ok(me, m)
    stale = m.epoch < me.current_epoch
    votes_now = granted and free and not (stale and StaleVoteIsNotGiven)
    final_state = transition_to_voted(m.epoch, state0, peer) if votes_now else state0
    changed = not stale and me.state != final_state.state
    voter = apply_state(me, final_state).set(
        fetch_state=blank_fetch_state() if changed else me.fetch_state,
        pending_ack=set() if changed else me.pending_ack,
    )
    yield reply(st, m, vote_response(me, m, final_state.leader, granted)).set(
        servers=st.servers.set(s, voter),
        inv_neg_acked=fail_pending_writes(st, me) if changed else st.inv_neg_acked,
    )


@spec.receive(RequestVoteResponse, s="dest", peer="source", fair=WEAK)
def handle_standard_vote_response(st, m, s, peer):
    """HandleStandardVoteResponse(s, peer): count the vote, unless the response tells of a leader or a newer epoch."""
    if not m.pre_vote:
        yield from count_vote(st, m, s, peer, ServerState.CANDIDATE)
