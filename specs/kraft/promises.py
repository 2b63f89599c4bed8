"""What KIP-595 promises to the users of a log, in terms of the servers alone; KRaft.tla has neither property.

A mutant of a rule breaks one of these, so that the manifest shows what each rule protects.
"""

from kmc.spec import spec

from ..consensus.logs import compare_entries, has_value, last_epoch
from ..consensus.pull_raft.rules import elects
from ..consensus.pull_raft.types import Server, ServerState, Value
from .observers import is_voter, voters


@spec.invariant
def ElectionSafety(st):
    """No two servers lead in one epoch (KIP-595, Key Safety Properties)."""
    return not any(
        st.servers[i].state == ServerState.LEADER
        and st.servers[j].state == ServerState.LEADER
        and st.servers[i].current_epoch == st.servers[j].current_epoch
        for i in Server
        for j in Server
        if i != j
    )


def is_not_ahead(log, other):
    """A voter with this log grants its vote to a candidate with the other one."""
    return compare_entries(len(other), last_epoch(other), len(log), last_epoch(log)) >= 0


@spec.invariant
def Durability(st):
    """No server that lacks an acknowledged value can be elected: a majority of logs is ahead of its own.

    LeaderHasAllAckedValues says this of a server only once it leads, which takes another election.
    """
    return not any(
        st.acked[v] is not None
        and st.acked[v]
        and not has_value(me.log, v)
        and is_voter(st, i)
        and elects({k for k in Server if is_not_ahead(st.servers[k].log, me.log)}, voters(st))
        for i, me in st.servers.items()
        for v in Value
    )
