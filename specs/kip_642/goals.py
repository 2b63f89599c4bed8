"""What must be reachable, so that no invariant holds only because nothing happens.

No model reaches all of it; the models of the manifest together do, and each says what it leaves unreached.
"""

from kmc.spec import spec

from ..consensus.pull_raft.types import Server, ServerState
from .assignments import is_observer, newest_offset
from .network import is_alive, is_awaited
from .readings import Reassignment, VoteRequestOfNonVoter, VotesFromNonVoters
from .types import Assignment, Error, FetchResponse, FetchResponseDiverging, FirstTarget, RequestVoteRequest

FIRST_EPOCH = 1


def leads(me):
    """The server is a leader."""
    return me.state == ServerState.LEADER


def has_applied(me):
    """The server knows of a committed assignment, and has not truncated it (which only flaws and mutants do)."""
    return 0 < me.applied and me.applied <= len(me.log)


def committed_voters(st, me):
    """The voters of the newest assignment that the server knows to be committed."""
    return me.log.at(me.applied).value.current if has_applied(me) else st.plan.quorum_voters


def has_completed(st, me):
    """The server leads, and the planned voters are committed, with nothing left to do."""
    return (
        FirstTarget > 0
        and leads(me)
        and has_applied(me)
        and me.log.at(me.applied).value.current == st.plan.target
        and me.log.at(me.applied).value.target == set()
    )


def assignments_below(log, offset):
    """The assignments of a log below an offset."""
    return [log.at(o).value for o in log.offsets() if o < offset and isinstance(log.at(o).value, Assignment)]


@spec.reachable
def a_voter_is_added(st):
    """A leader has committed voters of which one was not a voter at first."""
    return Reassignment and any(
        leads(me) and not committed_voters(st, me) <= st.plan.quorum_voters for me in st.servers.values()
    )


@spec.reachable
def a_voter_is_removed(st):
    """A leader has committed voters without one of the first voters."""
    return Reassignment and any(
        leads(me) and not st.plan.quorum_voters <= committed_voters(st, me) for me in st.servers.values()
    )


@spec.reachable
def a_reassignment_completes(st):
    """The voters are the target voters, and TargetVoters is null again (Reassignment Algorithm 6.1)."""
    return any(has_completed(st, me) for me in st.servers.values())


@spec.reachable
def a_reassignment_is_cancelled(st):
    """TargetVoters is null before the voters are the target voters, and committed (Cancellation)."""
    return any(
        leads(me)
        and has_applied(me)
        and me.log.at(me.applied).value.target == set()
        and me.log.at(me.applied).value.current != st.plan.target
        for me in st.servers.values()
    )


@spec.reachable
def a_reassignment_is_taken_back(st):
    """A voter was added, and the first voters are the voters again (Cancellation by the old voters)."""
    return any(
        leads(me)
        and has_applied(me)
        and me.log.at(me.applied).value.current == st.plan.quorum_voters
        and any(value.current != st.plan.quorum_voters for value in assignments_below(me.log, me.applied))
        for me in st.servers.values()
    )


@spec.reachable
def an_added_voter_leads(st):
    """A server leads that was not among the first voters."""
    return any(leads(me) and i not in st.plan.quorum_voters for i, me in st.servers.items())


@spec.reachable
def a_successor_completes_after_a_resignation(st):
    """The last voter to be removed has resigned, and its successor completes the reassignment (Algorithm 6.2)."""
    return st.counters.resignations > 0 and any(
        has_completed(st, me) and me.current_epoch > FIRST_EPOCH for me in st.servers.values()
    )


@spec.reachable
def a_removed_server_observes(st):
    """A server that was a voter follows the leader that completed the reassignment, and knows that it was removed."""
    return any(
        me.state == ServerState.FOLLOWER
        and i in st.plan.quorum_voters
        and is_observer(me, i)
        and any(me.leader == j and has_completed(st, leader) for j, leader in st.servers.items())
        for i, me in st.servers.items()
    )


@spec.reachable
def a_removed_voter_is_told(st):
    """The answer to a fetch says NOT_FOLLOWER (Reassignment Algorithm 5)."""
    return any(m.merror == Error.NOT_FOLLOWER and is_awaited(st, m) for m in st.messages.of(FetchResponse))


@spec.reachable
def an_assignment_is_truncated(st):
    """A follower is told to truncate the assignment that it acts on, and will act on an older one."""
    return any(
        is_awaited(st, m)
        and st.servers[m.mdest].current_epoch == m.mepoch
        and newest_offset(st.servers[m.mdest].log, len(st.servers[m.mdest].log)) > m.mdiverging_end_offset
        for m in st.messages.of(FetchResponseDiverging)
    )


@spec.reachable
def two_servers_lead(st):
    """A leader has not heard of its successor."""
    return any(
        i != j and leads(one) and leads(other) for i, one in st.servers.items() for j, other in st.servers.items()
    )


@spec.reachable
def a_non_voter_asks_for_votes(st):
    """A vote request reaches a server that does not know its sender as a voter (Quorum Change Protocol)."""
    return (
        Reassignment
        and VoteRequestOfNonVoter == VotesFromNonVoters.REJECT_AND_CAMPAIGN
        and any(
            m.mepoch >= st.servers[m.mdest].current_epoch and is_observer(st.servers[m.mdest], m.msource)
            for m in st.messages.of(RequestVoteRequest)
        )
    )


@spec.reachable
def an_unknown_voter_is_elected(st):
    """A server leads that another voter of its epoch does not know as a voter: a non-voter can win the election."""
    return Reassignment and any(
        leads(me)
        and i != j
        and peer.current_epoch == me.current_epoch
        and j in peer.assignment.current
        and i not in peer.assignment.current
        for i, me in st.servers.items()
        for j, peer in st.servers.items()
    )


@spec.reachable
def voters_disagree(st):
    """Two servers each lead or stand for election among different voters."""
    return Reassignment and any(
        one.assignment.current != other.assignment.current
        for one in st.servers.values()
        for other in st.servers.values()
        if leads(one) and other.state == ServerState.CANDIDATE
    )


@spec.reachable
def a_successor_commits_an_assignment(st):
    """An elected leader has committed an assignment of its own epoch."""
    return any(
        leads(me)
        and me.current_epoch > FIRST_EPOCH
        and has_applied(me)
        and me.log.at(me.applied).epoch == me.current_epoch
        for me in st.servers.values()
    )


@spec.reachable
def a_reassignment_completes_after_a_crash(st):
    """A voter has stopped for ever, and the reassignment completes all the same."""
    return len(st.crashed) > 0 and any(is_alive(st, i) and has_completed(st, st.servers[i]) for i in Server)
