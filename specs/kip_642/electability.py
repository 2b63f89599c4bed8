"""Who could be elected now, by logs and voters alone: durability, and whether a live majority can elect anyone.

These look ahead, whatever epochs and votes are: a server that a majority of its voters would vote for in a later epoch
can win it. So they fail before an election shows the loss, and where bounds on elections hide it.
"""

from kmc.lang import count
from kmc.spec import spec

from ..consensus.logs import compare_entries, has_entry, has_value, last_epoch
from ..consensus.pull_raft.rules import elects
from ..consensus.pull_raft.types import Server, Value
from ..consensus.quorums import majority_count
from .assignments import is_observer, is_voter, newest_assignment
from .network import is_alive, reaches
from .properties import leads_newest_epoch
from .readings import NonVotersCampaign, ObserversVote, VoteRequestOfNonVoter, VotesFromNonVoters


def is_not_ahead(peer, me):
    """A voter with the log of `peer` grants its vote to a candidate with the log of `me` (KIP-595, Vote)."""
    return compare_entries(len(me.log), last_epoch(me.log), len(peer.log), last_epoch(peer.log)) >= 0


def may_stand(me, i):
    """The server may ask for votes."""
    return is_voter(me, i) or NonVotersCampaign


@spec.invariant
def Durability(st):
    """No server without an acknowledged value has a majority, of the voters that it acts on, with logs as short as its.

    So whatever two assignments servers act on, a majority of the one meets the servers that acknowledged for the other.
    """
    return not any(
        st.acked[v] is not None
        and st.acked[v]
        and not has_value(me.log, v)
        and may_stand(me, i)
        and elects({k for k in Server if is_not_ahead(st.servers[k], me)}, me.assignment.current)
        for i, me in st.servers.items()
        for v in Value
    )


def would_vote(st, k, i):
    """Server k lives and would vote for server i in some later epoch."""
    me, peer = st.servers[i], st.servers[k]
    if k == i:
        return True
    if not is_alive(st, k) or not reaches(st, i, k) or not reaches(st, k, i) or not is_not_ahead(peer, me):
        return False
    if VoteRequestOfNonVoter != VotesFromNonVoters.GRANT and is_observer(peer, i):
        return False
    return ObserversVote or is_voter(peer, k)


def is_electable(st, i):
    """Server i lives, may stand for election, and would win one that is not disturbed."""
    me = st.servers[i]
    if not is_alive(st, i) or not may_stand(me, i):
        return False
    return elects({k for k in Server if would_vote(st, k, i)}, me.assignment.current)


def has_live_majority(st, voters):
    """A majority of the voters lives."""
    return count(is_alive(st, k) for k in voters) >= majority_count(voters)


def knows_all_committed(st, me):
    """The server's log has every committed assignment."""
    return all(k.applied == 0 or has_entry(me.log, k.log, k.applied) for k in st.servers.values())


def quorum_lives(st):
    """Of the newest committed assignment a majority lives, and of each later one that a live server acts on."""
    newest = max(me.applied for me in st.servers.values())
    return all(
        me.applied < newest or has_live_majority(st, newest_assignment(st.plan, me.log, newest).current)
        for me in st.servers.values()
    ) and all(
        not is_alive(st, k) or not knows_all_committed(st, me) or has_live_majority(st, me.assignment.current)
        for k, me in st.servers.items()
    )


@spec.invariant
def SomeoneIsElectable(st):
    """A quorum with a live majority has a leader, or a server that can be elected, whatever is lost in flight."""
    return (
        not quorum_lives(st)
        or any(leads_newest_epoch(st, i) and is_alive(st, i) for i in Server)
        or any(is_electable(st, i) for i in Server)
    )
