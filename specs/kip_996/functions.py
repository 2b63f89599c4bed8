"""Helpers of kraft_kip_996_functions.tla that are not shared: counters, voters, transitions, a change of role.

A helper that reads the variables of server s in TLA+ takes that server's record, `me`, and `s` where it needs the
name; one that assigns them returns the record changed.
"""

from ..consensus.kip_996.cluster import MaxEpoch
from ..consensus.kip_996.codes import EpochMatch
from ..consensus.kip_996.rules import last_fetch_failed, updated_follower_end_offset_map
from .mutants import CandidatesWithoutPreVote, ResignedKeepsEpoch
from .network import fetch_request_or_res_lost
from .types import (
    CommonResponse,
    Error,
    FetchState,
    LastFetchRes,
    MaxDisruptiveElectionTriggers,
    ServerState,
    TestLiveness,
    Transition,
)
from .versions import knows_pre_vote

OBSERVER_STATES = {ServerState.LEADER, ServerState.FOLLOWER, ServerState.UNATTACHED, ServerState.RESIGNED}
STATES_OF_A_FORMER_LEADER = {ServerState.RESIGNED, ServerState.PROSPECTIVE, ServerState.UNATTACHED}


def aux_under_disruption_limit(st):
    """AUX_UnderDisruptionLimit."""
    return st.aux_ctrs.disruptive_ctr < MaxDisruptiveElectionTriggers


def aux_increment_disruptions(st):
    """AUX_IncrementDisruptions."""
    return st.aux_ctrs.set(disruptive_ctr=st.aux_ctrs.disruptive_ctr + 1)


def aux_inc_timeout_ctrs(st, is_disruptive):
    """AUX_IncTimeoutCtrs(is_disruptive)."""
    ctrs = st.aux_ctrs
    return ctrs.set(
        prevote_ctr=ctrs.prevote_ctr + 1 if TestLiveness else ctrs.prevote_ctr,
        disruptive_ctr=ctrs.disruptive_ctr + 1 if is_disruptive else ctrs.disruptive_ctr,
    )


def receivable_message(st, m, epoch_match):
    """ReceivableMessage(m, type, epoch_match), for a message of the type: its receiver lives and takes the epoch."""
    to = st.servers[m.dest]
    return to.state != ServerState.DEAD_NO_STATE and (
        epoch_match == EpochMatch.ANY_EPOCH or m.replica_epoch == to.current_epoch
    )


def is_voter(me, s):
    """IsVoter(s)."""
    return me.state != ServerState.DEAD_NO_STATE and s in me.config.members


def is_observer(me, s):
    """IsObserver(s)."""
    return me.state != ServerState.DEAD_NO_STATE and s not in me.config.members


def is_peer_voter(me, peer):
    """IsPeerVoter(s, peer): server s sees the peer as a voter."""
    return me.state != ServerState.DEAD_NO_STATE and peer in me.config.members


def pending_fetch_lost(st, me):
    """The second disjunct of FetchCanTimeout(s): no answer will come."""
    pending = me.fetch_state.pending_fetch
    return pending is not None and fetch_request_or_res_lost(st, pending)


def fetch_can_timeout(st, me):
    """FetchCanTimeout(s). Both disjuncts can hold, and TLC counts both where it is a guard."""
    return last_fetch_failed(me) or pending_fetch_lost(st, me)


def blank_fetch_state():
    """BlankFetchState, to which ResetFetchStateIfFollower(s) returns."""
    return FetchState(pending_fetch=None, last_fetch_res=None, has_fetch_success=False)


def update_fetch_state_with_fetch_res(me, fetch_res):
    """UpdateFetchStateWithFetchRes(s, fetch_res)."""
    return FetchState(
        pending_fetch=None,
        last_fetch_res=LastFetchRes(peer=fetch_res.source, error=fetch_res.error),
        has_fetch_success=me.fetch_state.has_fetch_success or fetch_res.error is None,
    )


def has_consistent_leader(me, s, leader_id, epoch):
    """HasConsistentLeader(s, leader_id, epoch): server s and the sender can both be right about the leader.

    A server that led this epoch and no longer leads may still be told that it leads.
    """
    if leader_id == s:
        if me.current_epoch == epoch and (not is_voter(me, s) or me.state in STATES_OF_A_FORMER_LEADER):
            return True
        return me.state == ServerState.LEADER
    return epoch != me.current_epoch or leader_id is None or me.leader is None or me.leader == leader_id


def set_illegal_state():
    """SetIllegalState."""
    return Transition(state=ServerState.ILLEGAL_STATE, epoch=0, leader=None, votes_recv=set(), voted_for=None)


def no_transition(me):
    """NoTransition(s)."""
    return Transition(
        state=me.state,
        epoch=me.current_epoch,
        leader=me.leader,
        votes_recv=me.votes_recv,
        voted_for=me.voted_for,
    )


def vote_kept_unless_newer(me, epoch):
    """A server forgets its vote when it goes to a newer epoch."""
    return None if epoch > me.current_epoch else me.voted_for


def transition_to_unattached_add_vote(epoch, state0, vote_recipient):
    """TransitionToUnattachedAddVote(s, epoch, state0, vote_recipient): Unattached, and voted."""
    if state0.epoch != epoch or state0.state != ServerState.UNATTACHED or state0.voted_for is not None:
        return set_illegal_state()
    return state0.set(votes_recv=set(), voted_for=vote_recipient)


def transition_to_prospective_add_vote(epoch, state0, vote_recipient):
    """TransitionToProspectiveAddVote(s, epoch, state0, vote_recipient): Prospective, and voted (KIP-996)."""
    if state0.epoch != epoch or state0.state != ServerState.PROSPECTIVE or state0.voted_for is not None:
        return set_illegal_state()
    return state0.set(voted_for=vote_recipient)


def boot_time_unattached(me):
    """BootTimeUnattached(s): after a restart."""
    return no_transition(me).set(state=ServerState.UNATTACHED, leader=None, votes_recv=set())


def transition_to_unattached(me, epoch, leader_id):
    """TransitionToUnattached(s, epoch, leader_id): within its epoch only a Prospective may (KIP-996)."""
    stays = epoch == me.current_epoch and not (ResignedKeepsEpoch and me.state == ServerState.RESIGNED)
    if epoch < me.current_epoch or (stays and me.state != ServerState.PROSPECTIVE):
        return set_illegal_state()
    return Transition(
        state=ServerState.UNATTACHED,
        epoch=epoch,
        leader=leader_id,
        votes_recv=set(),
        voted_for=vote_kept_unless_newer(me, epoch),
    )


def transition_to_follower(me, s, leader_id, epoch):
    """TransitionToFollower(s, leader_id, epoch)."""
    follows_or_leads = me.state == ServerState.LEADER or me.state == ServerState.FOLLOWER
    if leader_id == s or epoch < me.current_epoch or (epoch == me.current_epoch and follows_or_leads):
        return set_illegal_state()
    return Transition(
        state=ServerState.FOLLOWER,
        epoch=epoch,
        leader=leader_id,
        votes_recv=set(),
        voted_for=vote_kept_unless_newer(me, epoch),
    )


def transition_to_leader(me, s):
    """TransitionToLeader(s)."""
    if me.state != ServerState.CANDIDATE:
        return set_illegal_state()
    return Transition(state=ServerState.LEADER, epoch=me.current_epoch, leader=s, votes_recv=set(), voted_for=None)


def transition_to_resigned(me, s):
    """TransitionToResigned(s): it keeps itself as the leader it knows."""
    if me.state != ServerState.LEADER:
        return set_illegal_state()
    return Transition(state=ServerState.RESIGNED, epoch=me.current_epoch, leader=s, votes_recv=set(), voted_for=None)


def transition_to_prospective(me, s, epoch):
    """TransitionToProspective(s, epoch): it keeps leader and vote, and grants itself its pre-vote (KIP-996)."""
    if me.state == ServerState.LEADER or me.state == ServerState.PROSPECTIVE:
        return set_illegal_state()
    return Transition(
        state=ServerState.PROSPECTIVE, epoch=epoch, leader=me.leader, votes_recv={s}, voted_for=me.voted_for
    )


def within_epoch_limit(me):
    """WithinEpochLimit(s)."""
    return TestLiveness or me.current_epoch < MaxEpoch


def transition_to_candidate(me, s):
    """TransitionToCandidate(s): only from Prospective (KIP-996)."""
    if me.state != ServerState.PROSPECTIVE and not CandidatesWithoutPreVote and knows_pre_vote(me):
        return set_illegal_state()
    return Transition(state=ServerState.CANDIDATE, epoch=me.current_epoch + 1, leader=None, votes_recv={s}, voted_for=s)


def maybe_transition(me, s, leader_id, epoch):
    """MaybeTransition(s, leader_id, epoch): what a server does about an epoch and leader that it hears of."""
    if not has_consistent_leader(me, s, leader_id, epoch):
        return set_illegal_state()
    if epoch > me.current_epoch:
        if leader_id is None:
            return transition_to_unattached(me, epoch, None)
        return transition_to_follower(me, s, leader_id, epoch)
    if leader_id is not None and me.leader is None:
        return transition_to_follower(me, s, leader_id, epoch)
    return no_transition(me)


def maybe_handle_common_response(me, s, leader_id, epoch, error):
    """MaybeHandleCommonResponse(s, leader_id, epoch, error): the common part of the response handlers."""
    if epoch < me.current_epoch:
        return CommonResponse(transition=no_transition(me), handled=True)
    if epoch > me.current_epoch or error == Error.FENCED_LEADER_EPOCH or error == Error.NOT_LEADER:
        return CommonResponse(transition=maybe_transition(me, s, leader_id, epoch), handled=True)
    if leader_id is not None and me.leader is None:
        follower = transition_to_follower(me, s, leader_id, epoch)
        return CommonResponse(transition=follower, handled=error is not None)
    return CommonResponse(transition=no_transition(me), handled=False)


def reset_follower_fetch_state(members):
    """ResetFollowerFetchStateIfLeader(s, members)."""
    return {s1: 0 for s1 in members}


def fail_any_pending_writes(st, me):
    """FailAnyPendingWritesIfLeader(s): inv_neg_acked with what the server has pending; its pending_ack becomes {}."""
    return st.inv_neg_acked | me.pending_ack


def maybe_switch_configurations(me, s, curr_config, new_state):
    """MaybeSwitchConfigurations(s, curr_config, new_state): a voter that becomes an observer, or the reverse, follows.

    The configuration may be the one before, when an entry was truncated. The vote is left as it is.
    """
    role_changes = is_voter(me, s) != (s in curr_config.members)
    return me.set(
        config=curr_config,
        leader=new_state.leader,
        current_epoch=new_state.epoch,
        state=ServerState.FOLLOWER if role_changes else new_state.state,
        votes_recv=set() if role_changes else new_state.votes_recv,
        flwr_end_offset=updated_follower_end_offset_map(me, curr_config.members),
    )
