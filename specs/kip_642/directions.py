"""Action constraints that lead a search into an example of the draft which is too large to search whole.

They leave steps out, so they may hide a violation and never make one: a trace that is found is one of the spec.
"""

from kmc.lang import count
from kmc.spec import spec

from ..consensus.pull_raft.types import Server


@spec.action_constraint
def NewServersWait(st, nxt):
    """Servers that are not among the first voters do not fetch, so they learn nothing yet and are not added."""
    return all(nxt.servers[i].pending_fetch is None or i in st.plan.quorum_voters for i in Server)


@spec.action_constraint
def FirstVotersWait(st, nxt):
    """The first voters do not fetch, so only new servers learn what the leader appends."""
    return all(nxt.servers[i].pending_fetch is None or i not in st.plan.quorum_voters for i in Server)


@spec.action_constraint
def ServersFetchInTurn(st, nxt):
    """A server fetches when no other waits for an answer, and when no log is shorter than its own."""
    return count(me.pending_fetch is not None for me in nxt.servers.values()) <= 1 and all(
        me.pending_fetch is None
        or st.servers[i].pending_fetch == me.pending_fetch
        or all(len(other.log) >= len(me.log) for other in nxt.servers.values())
        for i, me in nxt.servers.items()
    )


@spec.action_constraint
def ElectionsAfterResignations(st, nxt):
    """No server stands for election before a leader has resigned to be removed."""
    return nxt.election_ctr == st.election_ctr or st.counters.resignations > 0
