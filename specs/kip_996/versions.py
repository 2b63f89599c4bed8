"""Clusters of two versions (KIP-996, Compatibility): some servers know no pre-vote. With none of them, nothing is left.

A server of the version before stands for election at once, as in KIP-595. A request with PreVote does not reach it:
the asker's own network client, which knows the version, answers in its place. KIP-996 knows that answer by its
`PreVote = false` (Vote Response Handling), or by the error UnsupportedVersion (Compatibility); here it is the former.
"""

from .types import OldServers


def knows_pre_vote(me):
    """The server has a version with pre-vote."""
    return me.versions_behind == 0


def all_know_pre_vote(st, servers):
    """Each of these servers has a version with pre-vote."""
    return OldServers == 0 or all(knows_pre_vote(st.servers[s]) for s in servers)
