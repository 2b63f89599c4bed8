"""Helpers of kraft_kip_996_functions.tla that are not shared: fetch states, transitions, a change of role.

A helper that reads the variables of server s in TLA+ takes that server's record, `me`, and `s` where it needs the
name; one that assigns them returns the record changed.
"""

from ..consensus.kip_996.codes import EpochMatch
from ..consensus.kip_996.rules import updated_follower_end_offset_map
from .mutants import LeaderKeepsVotes, VotersVoteAgain
from .network import request_or_res_lost
from .types import CommonResponse, Error, FetchState, LastFetchRes, Role, ServerState, Transition

OBSERVER_STATES = {ServerState.LEADER, ServerState.FOLLOWER, ServerState.UNATTACHED, ServerState.VOTED}


def receivable_message(st, m, epoch_match):
    """ReceivableMessage(m, type, epoch_match), for a message of the type: its receiver lives and takes the epoch."""
    to = st.servers[m.dest]
    return to.state != ServerState.DEAD_NO_STATE and (
        epoch_match == EpochMatch.ANY_EPOCH or m.epoch == to.current_epoch
    )


def pending_fetch_lost(st, me):
    """The second disjunct of CanFetchTimeout(s): no answer will come."""
    pending = me.fetch_state.pending_fetch
    return pending is not None and request_or_res_lost(st, pending)


def blank_fetch_state():
    """BlankFetchState, to which ResetFetchState(s) returns."""
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

    A server that led this epoch and no longer leads may still be told that it leads; not so if it is Unattached or
    Voted in it.
    """
    if leader_id == s:
        former = me.state == ServerState.RESIGNED or me.state == ServerState.PROSPECTIVE
        if me.current_epoch == epoch and (me.role == Role.OBSERVER or former):
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


def transition_to_voted(epoch, state0, vote_recipient):
    """TransitionToVoted(epoch, state0, vote_recipient): in the epoch of the request, even if that is a lower one."""
    if state0.epoch == epoch and state0.state != ServerState.UNATTACHED and not VotersVoteAgain:
        return set_illegal_state()
    return Transition(state=ServerState.VOTED, epoch=epoch, leader=None, votes_recv=set(), voted_for=vote_recipient)


def transition_to_unattached(me, epoch, curr_role):
    """TransitionToUnattached(s, epoch, curr_role): a voter only in a newer epoch; the vote is forgotten."""
    if curr_role == Role.VOTER and epoch <= me.current_epoch:
        return set_illegal_state()
    return Transition(state=ServerState.UNATTACHED, epoch=epoch, leader=None, votes_recv=set(), voted_for=None)


def transition_to_follower(me, s, leader_id, epoch):
    """TransitionToFollower(s, leader_id, epoch): the vote is forgotten in a newer epoch only."""
    follows_or_leads = me.state == ServerState.LEADER or me.state == ServerState.FOLLOWER
    if leader_id == s or epoch < me.current_epoch or (epoch == me.current_epoch and follows_or_leads):
        return set_illegal_state()
    return Transition(
        state=ServerState.FOLLOWER,
        epoch=epoch,
        leader=leader_id,
        votes_recv=set(),
        voted_for=None if epoch > me.current_epoch else me.voted_for,
    )


def transition_to_leader(me, s):
    """TransitionToLeader(s): it keeps its vote."""
    if me.state != ServerState.CANDIDATE:
        return set_illegal_state()
    votes_recv = me.votes_recv if LeaderKeepsVotes else set()
    return Transition(
        state=ServerState.LEADER, epoch=me.current_epoch, leader=s, votes_recv=votes_recv, voted_for=me.voted_for
    )


def transition_to_resigned(me, s):
    """TransitionToResigned(s): it keeps its vote, and itself as the leader it knows."""
    if me.state != ServerState.LEADER:
        return set_illegal_state()
    return Transition(
        state=ServerState.RESIGNED, epoch=me.current_epoch, leader=s, votes_recv=set(), voted_for=me.voted_for
    )


def transition_to_prospective(me, s):
    """TransitionToProspective(s), from any state: it keeps its vote, and grants itself its pre-vote (KIP-996)."""
    return Transition(
        state=ServerState.PROSPECTIVE, epoch=me.current_epoch, leader=None, votes_recv={s}, voted_for=me.voted_for
    )


def transition_to_candidate(me, s):
    """TransitionToCandidate(s): a vote for itself in the next epoch."""
    return Transition(state=ServerState.CANDIDATE, epoch=me.current_epoch + 1, leader=None, votes_recv={s}, voted_for=s)


def maybe_transition(me, s, leader_id, epoch):
    """MaybeTransition(s, leader_id, epoch): what a server does about an epoch and leader that it hears of."""
    if not has_consistent_leader(me, s, leader_id, epoch):
        return set_illegal_state()
    if epoch > me.current_epoch:
        if leader_id is None:
            return transition_to_unattached(me, epoch, me.role)
        return transition_to_follower(me, s, leader_id, epoch)
    if leader_id is not None and me.leader is None and leader_id != s:
        return transition_to_follower(me, s, leader_id, epoch)
    return no_transition(me)


def maybe_handle_common_response(me, s, leader_id, epoch, error):
    """MaybeHandleCommonResponse(s, leader_id, epoch, errors): the common part of the response handlers."""
    if epoch < me.current_epoch:
        return CommonResponse(transition=no_transition(me), handled=True)
    if epoch > me.current_epoch or error == Error.FENCED_LEADER_EPOCH or error == Error.NOT_LEADER:
        return CommonResponse(transition=maybe_transition(me, s, leader_id, epoch), handled=True)
    if leader_id is not None and me.leader is None and leader_id != s:
        return CommonResponse(transition=transition_to_follower(me, s, leader_id, epoch), handled=True)
    return CommonResponse(transition=no_transition(me), handled=False)


def reset_follower_end_offset_map(members):
    """ResetFollowerEndOffsetMap(s, members)."""
    return {s1: 0 for s1 in members}


def fail_pending_writes(st, me):
    """FailPendingWrites(s): inv_neg_acked with what the server has pending; its pending_ack becomes {}."""
    return st.inv_neg_acked | me.pending_ack


def maybe_switch_configurations(me, s, curr_config, new_state):
    """MaybeSwitchConfigurations(s, curr_config, new_state): a voter that becomes an observer, or the reverse, follows.

    The configuration may be the one before, when an entry was truncated. The vote is left as it is.
    """
    new_role = Role.VOTER if s in curr_config.members else Role.OBSERVER
    role_changes = me.role != new_role
    return me.set(
        config=curr_config,
        role=new_role,
        leader=new_state.leader,
        current_epoch=new_state.epoch,
        state=ServerState.FOLLOWER if role_changes else new_state.state,
        votes_recv=set() if role_changes else new_state.votes_recv,
        flwr_end_offset=updated_follower_end_offset_map(me, curr_config.members),
    )
