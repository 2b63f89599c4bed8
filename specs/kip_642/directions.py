"""Action constraints that lead a search into an example of the draft which is too large to search whole.

They leave steps out, so they may hide a violation and never make one: a trace that is found is one of the spec.
"""

from kmc.spec import spec

from ..consensus.pull_raft.types import Server


@spec.action_constraint
def NewServersWait(st, nxt):
    """Servers that are not among the first voters do not fetch, so they learn nothing yet and are not added."""
    return all(nxt.servers[i].pending_fetch is None or i in st.plan.quorum_voters for i in Server)
