"""Rules on one server that both texts of KIP-996 have: its log, its disk, a fetch's position, what a leader commits.

A rule that reads the variables of server s in TLA+ takes that server's record, `me`, and `s` where it needs the name;
one that assigns them returns the record changed. Rules that name a server state or make a record stand in the specs,
since the states and records of the two texts differ.
"""

from kmc.lang import count

from ..logs import highest_common_offset, knows_position
from ..quorums import is_quorum
from .cluster import MaxValuesPerEpoch
from .codes import Command
from .configurations import config_for, most_recent_config, no_config
from .mutants import AnyPositionIsValid, LeaderCommitsAlone, OwnVoteElects


def elects(votes, ensemble):
    """votes in Quorum(ensemble), where they are votes or pre-votes."""
    return is_quorum(votes, ensemble) or OwnVoteElects


def truncate_log(log, m):
    """TruncateLog(s, m): the log up to the highest common entry (KIP-595, Fetch, divergence)."""
    return log.upto(highest_common_offset(log, m.diverging_end_offset - 1, m.diverging_epoch))


def fetches_from_start(m):
    """The first disjunct of ValidFetchPosition(s, m)."""
    return m.fetch_offset == 1


def fetches_known_position(log, m):
    """The second disjunct of ValidFetchPosition(s, m). Both can hold, and TLC counts both."""
    return knows_position(log, m.fetch_offset - 1, m.last_fetched_epoch) or AnyPositionIsValid


def valid_fetch_position(log, m):
    """ValidFetchPosition(s, m): the follower's position is consistent with the leader's log."""
    return fetches_from_start(m) or fetches_known_position(log, m)


def last_fetch_failed(me):
    """The leader answered the last fetch with an error.

    The first disjunct of FetchCanTimeout(s), in the draft of CanFetchTimeout(s).
    """
    last = me.fetch_state.last_fetch_res
    return last is not None and last.error is not None and last.peer == me.leader


def update_fetch_state_with_fetch_req(me, fetch_req):
    """UpdateFetchStateWithFetchReq(s, fetch_req)."""
    return me.fetch_state.set(pending_fetch=fetch_req)


def apply_state(me, new_state):
    """ApplyState(s, new_state)."""
    return me.set(
        state=new_state.state,
        leader=new_state.leader,
        current_epoch=new_state.epoch,
        votes_recv=new_state.votes_recv,
        voted_for=new_state.voted_for,
    )


def updated_follower_end_offset_map(me, new_members):
    """UpdateFollowerEndOffsetMap(s, new_members): members keep their end offset, new ones have 0."""
    known = me.flwr_end_offset
    return {s1: known[s1] if s1 in known else 0 for s1 in new_members}


def without_disk(me):
    """What CrashLoseState(s) leaves of the variables that both texts have, but for state and fetch state."""
    return me.set(
        config=no_config(),
        current_epoch=0,
        leader=None,
        voted_for=None,
        votes_recv=set(),
        flwr_end_offset={},
        pending_ack=set(),
        log=[],
        hwm=0,
    )


def has_pending_config_command(me):
    """HasPendingConfigCommand(i): one uncommitted reconfiguration at a time (KIP-853)."""
    return not me.config.committed


def leader_has_committed_offsets_in_current_epoch(me):
    """LeaderHasCommittedOffsetsInCurrentEpoch(s): else it takes no reconfiguration (KIP-853)."""
    return any(me.log.at(offset).epoch == me.current_epoch and me.hwm >= offset for offset in me.log.offsets())


def reconfigured(me, entry):
    """The leader with the command in its log, and its configuration in force at once."""
    new_log = me.log.append(entry)
    new_config = config_for(len(new_log), entry, me.hwm)
    return me.set(
        log=new_log,
        config=new_config,
        flwr_end_offset=updated_follower_end_offset_map(me, new_config.members),
    )


def removes_server_from_cluster(me, s, new_hwm):
    """The leader's own removal becomes committed (KIP-853).

    EntryRemovesServerFromCluster(i, new_hwm), in the draft IsRemovedFromCluster(i, new_hwm).
    """
    return any(
        me.log.at(offset).command == Command.REMOVE_VOTER_COMMAND and s not in me.log.at(offset).value.members
        for offset in me.log.offsets()
        if offset > me.hwm and offset <= new_hwm
    )


def agree(s, members, new_end_offset, offset):
    """Agree(offset, members): the members with the entry; a leader that is not a member does not count itself."""
    return {k for k in members if k == s or new_end_offset[k] >= offset}


def new_highwater_mark(me, s, new_end_offset):
    """NewHighwaterMark(s, new_end_offset): the highest offset that a quorum has, if it is of the current epoch."""
    members = me.config.members
    agreed = max(
        (
            offset
            for offset in me.log.offsets()
            if is_quorum(agree(s, members, new_end_offset, offset), members) or LeaderCommitsAlone
        ),
        default=0,
    )
    if agreed > 0 and me.log.at(agreed).epoch == me.current_epoch:
        return agreed
    return me.hwm


def values_to_ack(me, new_hwm):
    """The pending values that become committed."""
    return {v for v in me.pending_ack if any(me.log.at(offset).value == v for offset in range(me.hwm + 1, new_hwm + 1))}


def advance_hwm(st, me, s, new_end_offset, new_hwm):
    """AdvanceHwm, which the draft has no name for: acknowledge what is committed, and follow the configuration."""
    to_ack = values_to_ack(me, new_hwm)
    new_config = most_recent_config(me.log, new_hwm)
    node = me.set(
        config=new_config,
        pending_ack=me.pending_ack - to_ack,
        hwm=new_hwm,
        flwr_end_offset={s1: new_end_offset[s1] if s1 in new_end_offset else 0 for s1 in new_config.members},
    )
    return st.set(servers=st.servers.set(s, node), inv_pos_acked=st.inv_pos_acked | to_ack)


def within_values_per_epoch_limit(me):
    """WithinValuesPerEpochLimit(s)."""
    values = count(entry.epoch == me.current_epoch and entry.command == Command.APPEND_COMMAND for entry in me.log)
    return values < MaxValuesPerEpoch


def with_value_pending(me, new_log, v):
    """What HandleClientRequest(s), in the draft ClientRequest(s), does to the leader that appended value v to its log.

    The only member of a configuration commits at once, even where that member is another server.
    """
    return me.set(
        log=new_log,
        hwm=len(new_log) if len(me.config.members) == 1 else me.hwm,
        pending_ack=me.pending_ack | {v},
    )
