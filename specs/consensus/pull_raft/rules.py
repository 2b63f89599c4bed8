"""Rules of KRaft.tla on one server: its log, the position of a fetch, and the transitions of its state.

Shared by the specs that build on KRaft.tla. A rule that reads the variables of server i in TLA+ takes that server's
record, `me`, and `i` where it needs the name.
"""

from kmc.lang import count

from ..logs import highest_common_offset, knows_position
from ..quorums import majority_count
from .mutants import AnyEpochCommits, AnyPositionIsValid, RestartForgetsVote
from .types import (
    CommonResponse,
    EpochMatch,
    RestartedLeaderResigns,
    RestartFromQuorumState,
    ServerState,
    Transition,
)


def elects(votes, voters):
    """votes in Quorum: a majority of the voters."""
    return count(k in votes for k in voters) >= majority_count(voters)


def receivable_message(st, m, epoch_match):
    """ReceivableMessage(m, mtype, epoch_match), for a message that is deliverable and of the type."""
    return epoch_match == EpochMatch.ANY_EPOCH or m.mepoch == st.servers[m.mdest].current_epoch


def truncate_log(log, m):
    """TruncateLog(i, m): the log up to the highest common entry (KIP-595, Fetch, divergence)."""
    return log.upto(highest_common_offset(log, m.mdiverging_end_offset, m.mdiverging_epoch))


def fetches_from_start(m):
    """The first disjunct of ValidFetchPosition(i, m)."""
    return m.mfetch_offset == 0 and m.mlast_fetched_epoch == 0


def fetches_known_position(log, m):
    """The second disjunct of ValidFetchPosition(i, m). Both can hold, and TLC counts both."""
    return knows_position(log, m.mfetch_offset, m.mlast_fetched_epoch) or AnyPositionIsValid


def valid_fetch_position(log, m):
    """ValidFetchPosition(i, m): the follower's position is consistent with the leader's log."""
    return fetches_from_start(m) or fetches_known_position(log, m)


def has_consistent_leader(me, i, leader_id, epoch):
    """HasConsistentLeader(i, leaderId, epoch): server i and the sender can both be right about the leader.

    A leader that resigned may still be told that it leads (RestartedLeaderResigns; never so in KRaft.tla).
    """
    if leader_id == i:
        return me.state == ServerState.LEADER or me.state == ServerState.RESIGNED
    return epoch != me.current_epoch or leader_id is None or me.leader is None or me.leader == leader_id


def set_illegal_state():
    """SetIllegalState."""
    return Transition(state=ServerState.ILLEGAL_STATE, epoch=0, leader=None)


def no_transition(me):
    """NoTransition(i)."""
    return Transition(state=me.state, epoch=me.current_epoch, leader=me.leader)


def transition_to_voted(epoch, state0):
    """TransitionToVoted(i, epoch, state0)."""
    if state0.epoch == epoch and state0.state != ServerState.UNATTACHED:
        return set_illegal_state()
    return Transition(state=ServerState.VOTED, epoch=epoch, leader=None)


def transition_to_unattached(epoch):
    """TransitionToUnattached(epoch)."""
    return Transition(state=ServerState.UNATTACHED, epoch=epoch, leader=None)


def transition_to_follower(me, leader_id, epoch):
    """TransitionToFollower(i, leaderId, epoch)."""
    if me.current_epoch == epoch and (me.state == ServerState.FOLLOWER or me.state == ServerState.LEADER):
        return set_illegal_state()
    return Transition(state=ServerState.FOLLOWER, epoch=epoch, leader=leader_id)


def maybe_transition(me, i, leader_id, epoch):
    """MaybeTransition(i, leaderId, epoch): what a server does about an epoch and leader that it hears of."""
    if not has_consistent_leader(me, i, leader_id, epoch):
        return set_illegal_state()
    if epoch > me.current_epoch:
        if leader_id is None:
            return transition_to_unattached(epoch)
        return transition_to_follower(me, leader_id, epoch)
    if leader_id is not None and me.leader is None:
        return transition_to_follower(me, leader_id, epoch)
    return no_transition(me)


def restarted_state(me):
    """The state of a server after a restart, by its quorum-state file (KIP-595, Quorum State: leader, epoch, vote)."""
    if me.state == ServerState.LEADER and RestartedLeaderResigns:
        return ServerState.RESIGNED
    if not RestartFromQuorumState:
        return ServerState.FOLLOWER
    if RestartForgetsVote and (me.state == ServerState.VOTED or me.state == ServerState.CANDIDATE):
        return ServerState.UNATTACHED
    if me.state == ServerState.LEADER:
        return ServerState.VOTED
    return me.state


def restarted_vote(me):
    """The vote that a restarted server remembers, which its quorum-state file holds (KIP-595, Quorum State)."""
    return None if RestartForgetsVote else me.voted_for


def restarted_leader(me):
    """The leader that a restarted server knows: kept by its quorum-state file, forgotten in KRaft.tla."""
    if me.state == ServerState.LEADER:
        return me.leader if RestartedLeaderResigns else None
    return me.leader if RestartFromQuorumState else None


def restarted_votes(me, i):
    """A restarted candidate has its own vote; the others were not persisted (KIP-595, Vote response)."""
    return {i} if restarted_state(me) == ServerState.CANDIDATE else set()


def handled(transition):
    """transition @@ [handled |-> TRUE]."""
    return CommonResponse(state=transition.state, epoch=transition.epoch, leader=transition.leader, handled=True)


def maybe_handle_common_response(me, i, leader_id, epoch, error):
    """MaybeHandleCommonResponse(i, leaderId, epoch, errors): the common part of the response handlers."""
    if epoch < me.current_epoch:
        return handled(no_transition(me))
    if epoch > me.current_epoch or error is not None:
        return handled(maybe_transition(me, i, leader_id, epoch))
    if epoch == me.current_epoch and leader_id is not None and me.leader is None:
        return CommonResponse(state=ServerState.FOLLOWER, epoch=me.current_epoch, leader=leader_id, handled=True)
    return CommonResponse(state=me.state, epoch=me.current_epoch, leader=me.leader, handled=False)


def new_highwatermark(me, i, new_end_offset, voters, above=0):
    """NewHighwaterMark(i, newEndOffset): the highest offset that a majority has, if it is of the current epoch.

    KIP-595, Fetch: the high watermark passes older entries only together with an entry of the leader's own epoch.
    Offsets up to `above` are not looked at.
    """
    agreed = max(
        (
            offset
            for offset in range(above + 1, len(me.log) + 1)
            if count(k == i or new_end_offset[k] >= offset for k in voters) >= majority_count(voters)
        ),
        default=0,
    )
    if agreed > 0 and (me.log.at(agreed).epoch == me.current_epoch or AnyEpochCommits):
        return agreed
    return me.high_watermark
