"""What KIP-595 promises about logs and votes: two logs, one server before and after a step, or all servers.

Shared by the specs of KIP-996. Their server states differ, so a promise takes those that it depends on as arguments,
such as the state of a server that lost its disk.
"""

from .logs import has_entry, has_value, only_grows
from .quorums import is_quorum


def keeps_vote(old, new):
    """A server that has voted still has that vote, or is in a later epoch."""
    return old.voted_for is None or new.voted_for == old.voted_for or new.current_epoch > old.current_epoch


def votes_are_kept(st, nxt, dead_state, releasing_states):
    """Every server keeps its vote within its epoch, unless it dies or enters a state that releases the vote.

    A server that is alive after the step was alive before it too: death is for good.
    """
    return all(
        keeps_vote(st.servers[s], nxt.servers[s]) or nxt.servers[s].state in releasing_states
        for s in st.servers
        if nxt.servers[s].state != dead_state
    )


def logs_only_grow(st, nxt, leader_state, dead_state):
    """The log of a server that leads and stays alive only grows."""
    return all(
        only_grows(st.servers[s].log, nxt.servers[s].log)
        for s in st.servers
        if st.servers[s].state == leader_state and nxt.servers[s].state != dead_state
    )


def epochs_never_fall(st, nxt, dead_state):
    """The epoch of a server that stays alive does not fall."""
    return all(
        nxt.servers[s].current_epoch >= st.servers[s].current_epoch
        for s in st.servers
        if nxt.servers[s].state != dead_state
    )


def is_entered_only_from(st, nxt, state, former_state, stays):
    """A server is in this state after a step only if it was in the former state, or `stays(old, new)`."""
    return all(
        nxt.servers[s].state != state or stays(st.servers[s], nxt.servers[s]) or st.servers[s].state == former_state
        for s in st.servers
    )


def follows_newer_leader(old, new, leader_state, follower_state):
    """A leader follows its successor at once, without being unattached first."""
    return old.state == leader_state and new.state == follower_state and new.current_epoch > old.current_epoch


def has_entry_of(st, leader, k, offset, dead_state):
    """Server k has the leader's entry at `offset`; a server that lost its disk had it if the leader knows that."""
    if st.servers[k].state == dead_state:
        known = st.servers[leader].flwr_end_offset
        return k in known and known[k] >= offset
    # A leader that appends and commits in one step, as a single voter does, has no entry there before it.
    return k == leader or has_entry(st.servers[k].log, st.servers[leader].log, offset)


def is_covered(st, leader, offset, dead_state):
    """A majority of the configuration in force at this leader has its entry at `offset`."""
    members = st.servers[leader].config.members
    return is_quorum({k for k in members if has_entry_of(st, leader, k, offset, dead_state)}, members)


def is_on_some_disk(st, values):
    """Each of these values is in the log of a live server, voter or not."""
    return all(any(has_value(me.log, v) for me in st.servers.values()) for v in values)
