"""Promises of KIP-996, KIP-595 and KIP-853 about every step that the TLA+ text does not state.

They are about servers that live before and after the step: one that starts or loses its disk has no quorum state to
keep. One promise is about states: weaker than Durability, it tells a lost value from one that no voter has.
"""

from kmc.lang import count
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
from .network import connected
from .types import ServerState

MAY_HEAR_OF_A_NEWER_LEADER = {
    ServerState.RESIGNED,
    ServerState.UNATTACHED,
    ServerState.PROSPECTIVE,
    ServerState.CANDIDATE,
    ServerState.FOLLOWER,
}
MAY_HEAR_OF_ITS_LEADER = {ServerState.UNATTACHED, ServerState.PROSPECTIVE, ServerState.CANDIDATE}
MAY_TIME_OUT = {ServerState.UNATTACHED, ServerState.CANDIDATE, ServerState.FOLLOWER}
RELEASED_FROM_VOTE = {ServerState.LEADER, ServerState.RESIGNED}


def lives_on(nxt, s):
    """Server s is alive after the step; it was alive before the step too, since death is for good."""
    return nxt.servers[s].state != ServerState.DEAD_NO_STATE


def stays(old, new):
    """The server is in the same state of the same epoch; a vote granted there is no transition here."""
    return old.state == new.state and old.current_epoch == new.current_epoch


def follows_table(old, new):
    """One server's step is in KIP-996's table of quorum states.

    Where the table says that a prospective follows a leader of a larger epoch, or the one it knew, the text lets it
    also follow one that it hears of in its own epoch.
    """
    if stays(old, new):
        return True
    if new.current_epoch < old.current_epoch:
        return False
    higher = new.current_epoch > old.current_epoch
    if new.state == ServerState.UNATTACHED:
        return higher or (old.state == ServerState.PROSPECTIVE and old.leader is None)
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


@spec.action_property
def QuorumStateTransitions(st, nxt):
    """Every server moves within KIP-996's table of quorum states; restarts are not in the table and not checked."""
    return nxt.aux_ctrs.restart_ctr != st.aux_ctrs.restart_ctr or all(
        follows_table(st.servers[s], nxt.servers[s]) for s in st.servers if lives_on(nxt, s)
    )


def leader_follows_at_once(old, new):
    """The step of the finding leader_to_follower: a leader follows its successor without being unattached first."""
    return follows_newer_leader(old, new, ServerState.LEADER, ServerState.FOLLOWER)


@spec.action_property
def OtherQuorumStateTransitions(st, nxt):
    """The same, except for the step of one finding: no other step is outside of the table."""
    return nxt.aux_ctrs.restart_ctr != st.aux_ctrs.restart_ctr or all(
        follows_table(st.servers[s], nxt.servers[s]) or leader_follows_at_once(st.servers[s], nxt.servers[s])
        for s in st.servers
        if lives_on(nxt, s)
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
    return commits_are_covered(st, nxt, ServerState.LEADER, ServerState.RESIGNED, ServerState.DEAD_NO_STATE)


@spec.invariant
def AcknowledgedIsOnDisk(st):
    """A value that was acknowledged is in the log of a live server, voter or not (KIP-595, High watermark).

    Weaker than Durability, which does not count a leader that removes itself.
    """
    return is_on_some_disk(st, st.inv_pos_acked)


def follows_and_fetches(st, k, s):
    """Server k follows the leader s, reaches it, and has fetched from it."""
    me = st.servers[k]
    return (
        me.state == ServerState.FOLLOWER and me.leader == s and me.fetch_state.has_fetch_success and connected(st, k, s)
    )


def is_healthy_leader(st, s):
    """Server s leads, and a majority of its voters, itself included, follow it and fetch from it."""
    me = st.servers[s]
    followers = count(k == s or follows_and_fetches(st, k, s) for k in me.config.members)
    return me.state == ServerState.LEADER and 2 * followers > len(me.config.members)


@spec.action_property
def HealthyLeaderKeepsOffice(st, nxt):
    """KIP-996, Motivation: a leader that a majority follows and fetches from does not lose its office."""
    return all(
        not is_healthy_leader(st, s) or nxt.servers[s].state == ServerState.LEADER
        for s in st.servers
        if lives_on(nxt, s)
    )


def is_followed(st, s):
    """Server s leads, and a majority of its voters, itself included, follow it, whether or not they have fetched."""
    me = st.servers[s]
    followers = count(
        k == s or (st.servers[k].state == ServerState.FOLLOWER and st.servers[k].leader == s) for k in me.config.members
    )
    return me.state == ServerState.LEADER and 2 * followers > len(me.config.members)


@spec.action_property
def HealthyLeaderKeepsMajority(st, nxt):
    """KIP-996, Scenarios A and B: while connections stay, a majority goes on following a healthy leader.

    Stronger than HealthyLeaderKeepsOffice: a leader whose followers vote for another one in a later epoch is deposed
    as well, though it learns it later.
    """
    return st.net_connectivity != nxt.net_connectivity or all(
        not is_healthy_leader(st, s) or is_followed(nxt, s) for s in st.servers if lives_on(nxt, s)
    )


def has_all_it_needs(me):
    """A prospective that counted a majority of granted pre-votes, and has not stood yet."""
    return me.state == ServerState.PROSPECTIVE and 2 * len(me.votes_recv) > len(me.config.members)


@spec.action_constraint
def StandsWhenCounted(st, nxt):
    """KIP-996, Vote Response Handling: who counts a majority stands at once; the TLA+ text has two steps for it."""
    return all(not has_all_it_needs(me) or nxt.servers[s].state != me.state for s, me in st.servers.items())
