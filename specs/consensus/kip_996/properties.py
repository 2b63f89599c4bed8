"""Properties that both specs of KIP-996 have, in part under different names (kraft_kip_996_properties.tla).

The server states of the two texts differ, and so does who is connected; a property takes those that it needs as
arguments.
"""

from kmc.spec import always_eventually, for_all, leads_to, spec

from ..logs import has_value, logs_agree
from ..promises import is_covered
from .cluster import MaxAddReconfigs, MaxRemoveReconfigs, Value
from .configurations import (
    ServerId,
    config_in_server_log_and_committed,
    config_not_in_server_log,
    most_recent_reconfig_offset,
)


def value_in_server_log(me, v):
    """ValueInServerLog(s, v)."""
    return has_value(me.log, v)


def logs_match(st):
    """Up to the lower of their high watermarks, two logs are equal: LogMatching, in the draft NoLogDivergence."""
    return all(
        logs_agree(node1.log, node2.log, min(node1.hwm, node2.hwm))
        for s1, node1 in st.servers.items()
        for s2, node2 in st.servers.items()
        if s1 != s2
    )


def leaders_agree(st):
    """No servers of one epoch believe in different leaders: ElectionSafety, in the draft NeverTwoLeadersInSameEpoch."""
    return not any(
        s1 != s2
        and node1.leader is not None
        and node2.leader is not None
        and node1.leader != node2.leader
        and node1.current_epoch == node2.current_epoch
        for s1, node1 in st.servers.items()
        for s2, node2 in st.servers.items()
    )


def is_current_leader(st, s, leader_state):
    """IsCurrentLeader(s): it leads, and no server is in a later epoch."""
    return st.servers[s].state == leader_state and not any(
        s1 != s and other.current_epoch > st.servers[s].current_epoch for s1, other in st.servers.items()
    )


def newest_leader_has_acked_values(st, leader_state):
    """The newest leader has every acknowledged value: LeaderCompleteness, in the draft LeaderHasAllAckedValues."""
    return all(
        value_in_server_log(st.servers[s], v)
        for v in st.inv_pos_acked
        for s in st.servers
        if is_current_leader(st, s, leader_state)
    )


def config_all_or_nothing(st, config_id, leader_state, cannot_be_reached):
    """ConfigAllOrNothing(config_id): the newest leader has committed it, or does not have it.

    TLA+ quantifies over its members, but looks at the leader's own log for each of them that is not excused by
    `cannot_be_reached(st, s, member)`.
    """
    return any(
        is_current_leader(st, s, leader_state)
        and (
            all(
                config_in_server_log_and_committed(me, config_id) or cannot_be_reached(st, s, s1)
                for s1 in me.config.members
            )
            or all(config_not_in_server_log(me, config_id) or cannot_be_reached(st, s, s1) for s1 in me.config.members)
        )
        for s, me in st.servers.items()
    )


def every_config_is_settled(leader_state, cannot_be_reached):
    """ReconfigurationNotStuck: infinitely often, each configuration is committed at the newest leader, or not there."""
    return for_all(
        range(1, MaxAddReconfigs + MaxRemoveReconfigs + 1),
        lambda config_id: always_eventually(
            lambda st: config_all_or_nothing(st, config_id, leader_state, cannot_be_reached)
        ),
    )


def is_in(st, s, state):
    """Server s has started and is in this state, as in IsProspective(s)."""
    return s in st.servers and st.servers[s].state == state


def leaves_or_is_cut_off(st, s, state, connected):
    """Server s is not in this state, or all members that it reaches are in it too and cannot tell it of a leader."""
    return not is_in(st, s, state) or not any(
        s != s1 and st.servers[s1].state != state and connected(st, s, s1) for s1 in st.servers[s].config.members
    )


def none_is_stuck_in(state, connected):
    """NotStuckInProspective, with that state as an argument: no server stays in it for ever, unless it is cut off."""
    return for_all(
        ServerId,
        lambda s: leads_to(
            lambda st: is_in(st, s, state),
            lambda st: leaves_or_is_cut_off(st, s, state, connected),
        ),
    )


def newly_committed(old, new, leader_state, former_leader_state):
    """The offset up to which a leader commits in this step, or 0.

    A leader that commits its own removal goes to `former_leader_state` and forgets its high watermark; the entry of
    that removal at least is committed.
    """
    if new.state == leader_state and new.hwm > old.hwm:
        return new.hwm
    if new.state == former_leader_state and new.config.committed and not old.config.committed:
        return most_recent_reconfig_offset(old.log)
    return 0


def commits_are_covered(st, nxt, leader_state, former_leader_state, dead_state):
    """What a leader commits in this step is on a majority of the configuration under which it commits."""
    return all(
        newly_committed(st.servers[s], nxt.servers[s], leader_state, former_leader_state) == 0
        or is_covered(
            st, s, newly_committed(st.servers[s], nxt.servers[s], leader_state, former_leader_state), dead_state
        )
        for s in st.servers
        if st.servers[s].state == leader_state
    )


@spec.liveness
def ValuesEventuallyAcked():
    """A value that was sent is eventually acknowledged or refused, and not both."""
    return for_all(
        Value,
        lambda v: leads_to(
            lambda st: v in st.inv_sent,
            lambda st: (v in st.inv_neg_acked) != (v in st.inv_pos_acked),
        ),
    )
