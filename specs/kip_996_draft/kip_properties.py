"""Promises of KIP-996, KIP-595 and KIP-853 about every step that the TLA+ text does not state.

They are about servers that live before and after the step: one that starts or loses its disk has no quorum state to
keep. The draft breaks some of these promises; the manifest holds the shortest traces.
"""

from kmc.spec import spec

from ..consensus.kip_996.properties import commits_are_covered
from ..consensus.promises import (
    epochs_never_fall,
    follows_newer_leader,
    is_entered_only_from,
    is_on_some_disk,
    logs_only_grow,
    votes_are_kept,
)
from .types import Role, ServerState

UNATTACHED_STATES = {ServerState.UNATTACHED, ServerState.VOTED}
MAY_HEAR_OF_A_NEWER_LEADER = {
    ServerState.RESIGNED,
    ServerState.UNATTACHED,
    ServerState.VOTED,
    ServerState.PROSPECTIVE,
    ServerState.CANDIDATE,
    ServerState.FOLLOWER,
}
MAY_HEAR_OF_ITS_LEADER = {
    ServerState.UNATTACHED,
    ServerState.VOTED,
    ServerState.PROSPECTIVE,
    ServerState.CANDIDATE,
}
MAY_TIME_OUT = {ServerState.UNATTACHED, ServerState.VOTED, ServerState.CANDIDATE, ServerState.FOLLOWER}
RELEASED_FROM_VOTE = {ServerState.LEADER, ServerState.RESIGNED}


def stays(old, new):
    """The server is in the same state of the same epoch; a vote given there is no transition of KIP-996's table."""
    votes = old.state == ServerState.UNATTACHED and new.state == ServerState.VOTED
    return (old.state == new.state or votes) and old.current_epoch == new.current_epoch


def follows_table(old, new):
    """One voter's step is in KIP-996's table of quorum states, in which Voted is Unattached with a vote.

    Where the table says that a prospective follows a leader of a larger epoch, or the one it knew, the text lets it
    also follow one that it hears of in its own epoch.
    """
    if stays(old, new):
        return True
    if new.current_epoch < old.current_epoch:
        return False
    higher = new.current_epoch > old.current_epoch
    if new.state in UNATTACHED_STATES:
        return higher
    if new.state == ServerState.FOLLOWER:
        return old.state in (MAY_HEAR_OF_A_NEWER_LEADER if higher else MAY_HEAR_OF_ITS_LEADER)
    if new.state == ServerState.CANDIDATE:
        return old.state == ServerState.PROSPECTIVE and new.current_epoch == old.current_epoch + 1
    if higher:
        return False
    if new.state == ServerState.PROSPECTIVE:
        return old.state in MAY_TIME_OUT
    if new.state == ServerState.LEADER:
        return old.state == ServerState.CANDIDATE
    return new.state == ServerState.RESIGNED and old.state == ServerState.LEADER


def is_voter_throughout(st, nxt, s):
    """The table is one of voters."""
    return st.servers[s].role == Role.VOTER and nxt.servers[s].role == Role.VOTER


@spec.action_property
def QuorumStateTransitions(st, nxt):
    """Every voter moves within KIP-996's table of quorum states; restarts are not in the table and not checked."""
    return nxt.aux_ctrs.restart_ctr != st.aux_ctrs.restart_ctr or all(
        follows_table(st.servers[s], nxt.servers[s]) for s in st.servers if is_voter_throughout(st, nxt, s)
    )


def leader_follows_at_once(old, new):
    """The step of the finding leader_to_follower: a leader follows its successor without being unattached first."""
    return follows_newer_leader(old, new, ServerState.LEADER, ServerState.FOLLOWER)


def resigned_times_out(old, new):
    """The step of the finding resigned_to_prospective: a resigned leader asks for pre-votes in the epoch it led."""
    return (
        old.state == ServerState.RESIGNED
        and new.state == ServerState.PROSPECTIVE
        and new.current_epoch == old.current_epoch
    )


@spec.action_property
def LeaderTransitions(st, nxt):
    """Every leader that is a voter moves within the table: it resigns, or is unattached in a later epoch."""
    return nxt.aux_ctrs.restart_ctr != st.aux_ctrs.restart_ctr or all(
        follows_table(st.servers[s], nxt.servers[s])
        for s in st.servers
        if is_voter_throughout(st, nxt, s) and st.servers[s].state == ServerState.LEADER
    )


@spec.action_property
def OtherQuorumStateTransitions(st, nxt):
    """Every voter moves within the table, except for the steps of two findings: no other step is outside of it."""
    return nxt.aux_ctrs.restart_ctr != st.aux_ctrs.restart_ctr or all(
        follows_table(st.servers[s], nxt.servers[s])
        or leader_follows_at_once(st.servers[s], nxt.servers[s])
        or resigned_times_out(st.servers[s], nxt.servers[s])
        for s in st.servers
        if is_voter_throughout(st, nxt, s)
    )


@spec.action_property
def OnlyProspectiveBecomesCandidate(st, nxt):
    """Only a prospective server becomes a candidate (KIP-996, the invariant it adds)."""
    return is_entered_only_from(st, nxt, ServerState.CANDIDATE, ServerState.PROSPECTIVE, stays)


@spec.action_property
def VoteIsKeptInItsEpoch(st, nxt):
    """A vote is kept within its epoch until its holder becomes leader or resigns (KIP-996; KIP-595, Quorum State)."""
    return votes_are_kept(st, nxt, ServerState.DEAD_NO_STATE, RELEASED_FROM_VOTE)


@spec.action_property
def LeaderNeverTruncates(st, nxt):
    """A leader only appends to its log (KIP-595, Log reconciliation is the followers')."""
    return logs_only_grow(st, nxt, ServerState.LEADER, ServerState.DEAD_NO_STATE)


@spec.action_property
def EpochNeverFalls(st, nxt):
    """The epoch of a live server never falls (KIP-595, Quorum State)."""
    return epochs_never_fall(st, nxt, ServerState.DEAD_NO_STATE)


@spec.action_property
def HighWatermarkIsCovered(st, nxt):
    """What a leader commits is on a majority of the configuration under which it commits (KIP-595; KIP-853)."""
    return commits_are_covered(st, nxt, ServerState.LEADER, ServerState.UNATTACHED, ServerState.DEAD_NO_STATE)


@spec.invariant
def AcknowledgedIsOnDisk(st):
    """A value that was acknowledged is in the log of a live server, voter or not (KIP-595, High watermark).

    Weaker than AckedValueNotLost, which does not count a leader that removes itself.
    """
    return is_on_some_disk(st, st.inv_pos_acked)
