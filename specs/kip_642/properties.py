"""Invariants and action properties of KIP-642, symmetry, and the variables that traces show.

The promises of KIP-595 are those of KRaft.tla, for voters that change; the others are what the draft says or needs.
"""

from kmc.spec import spec

from ..consensus.logs import has_entry, logs_agree
from ..consensus.pull_raft.types import Server, ServerState, Value
from ..consensus.quorums import majority_count
from .assignments import newest_assignment, newest_offset
from .types import Assignment, RequestVoteRequest

spec.symmetry("symmServers", Server)
spec.symmetry("symmValues", Value)
spec.view("view", drop=["election_ctr", "restart_ctr"])

spec.variables(
    {
        "messages": "messages",
        "acked": "acked",
        "electionCtr": "election_ctr",
        "restartCtr": "restart_ctr",
        "plan": "plan",
        "connected": "connected",
        "crashed": "crashed",
        "counters": "counters",
        "currentEpoch": "servers[].current_epoch",
        "state": "servers[].state",
        "votedFor": "servers[].voted_for",
        "leader": "servers[].leader",
        "pendingFetch": "servers[].pending_fetch",
        "votesGranted": "servers[].votes_granted",
        "endOffset": "servers[].end_offset",
        "log": "servers[].log",
        "highWatermark": "servers[].high_watermark",
        "assignment": "servers[].assignment",
        "applied": "servers[].applied",
    },
    fields="camelCase",
    message_tag="mtype",
)
spec.columns(
    {
        "state": "state",
        "epoch": "currentEpoch",
        "leader": "leader",
        "log end": "log",
        "high watermark": "highWatermark",
        "voters": "assignment",
    }
)


@spec.invariant
def NoIllegalState(st):
    """No server is in the state that stands for a transition that must not happen."""
    return all(me.state != ServerState.ILLEGAL_STATE for me in st.servers.values())


@spec.invariant
def ElectionSafety(st):
    """No two servers lead in one epoch."""
    return not any(
        i != j
        and st.servers[i].state == ServerState.LEADER
        and st.servers[j].state == ServerState.LEADER
        and st.servers[i].current_epoch == st.servers[j].current_epoch
        for i in Server
        for j in Server
    )


@spec.invariant
def NeverTwoLeadersInSameEpoch(st):
    """Two servers of one epoch do not believe in different leaders."""
    return not any(
        one.leader is not None
        and other.leader is not None
        and one.leader != other.leader
        and one.current_epoch == other.current_epoch
        for one in st.servers.values()
        for other in st.servers.values()
    )


def agree_up_to(log, other, offset):
    """Both logs reach to the offset, and are equal up to there."""
    return min(len(log), len(other)) >= offset and logs_agree(log, other, offset)


@spec.invariant
def NoLogDivergence(st):
    """Up to the lower of their high watermarks, two logs are equal."""
    return all(
        i == j
        or agree_up_to(
            st.servers[i].log,
            st.servers[j].log,
            min(st.servers[i].high_watermark, st.servers[j].high_watermark),
        )
        for i in Server
        for j in Server
    )


@spec.invariant
def LogMatching(st):
    """Two logs that have an entry of one epoch at one offset are equal up to there."""
    return all(
        i == j or one.log.at(o).epoch != other.log.at(o).epoch or logs_agree(one.log, other.log, o)
        for i, one in st.servers.items()
        for j, other in st.servers.items()
        for o in range(1, min(len(one.log), len(other.log)) + 1)
    )


def leads_newest_epoch(st, i):
    """The server leads, and none has heard of a later epoch: an older leader may be behind."""
    me = st.servers[i]
    return me.state == ServerState.LEADER and all(
        other.current_epoch <= me.current_epoch for other in st.servers.values()
    )


@spec.invariant
def LeaderHasAllAckedValues(st):
    """LeaderCompleteness and Durability: the leader of the newest epoch has every acknowledged value."""
    return all(
        not leads_newest_epoch(st, i) or any(entry.value == v for entry in st.servers[i].log)
        for i in Server
        for v in Value
        if st.acked[v] is not None and st.acked[v]
    )


@spec.invariant
def LeaderHasCommittedAssignments(st):
    """LeaderCompleteness for assignments: the leader of the newest epoch has those that any quorum-state file holds."""
    return all(
        not leads_newest_epoch(st, i) or k.applied == 0 or has_entry(st.servers[i].log, k.log, k.applied)
        for i in Server
        for k in st.servers.values()
    )


@spec.invariant
def CommittedAssignmentsAgree(st):
    """What two quorum-state files hold is in one history: up to the older of the two, the logs are equal."""
    return all(
        agree_up_to(one.log, other.log, min(one.applied, other.applied))
        for one in st.servers.values()
        for other in st.servers.values()
    )


@spec.action_property
def CommittedAssignmentsStay(st, nxt):
    """No server truncates an assignment that it knows to be committed; one that loses its disk has forgotten it."""
    return all(
        nxt.servers[i].applied < me.applied or me.applied == 0 or has_entry(nxt.servers[i].log, me.log, me.applied)
        for i, me in st.servers.items()
    )


@spec.invariant
def AtMostOneUncommittedAssignment(st):
    """A leader has at most one assignment beyond its high watermark."""
    return all(
        me.state != ServerState.LEADER
        or newest_offset(me.log, newest_offset(me.log, len(me.log)) - 1) <= me.high_watermark
        for me in st.servers.values()
    )


def majorities_intersect(voters, others):
    """Every majority of the one has a member in every majority of the other."""
    return majority_count(voters) + majority_count(others) > len(voters | others)


def voters_before(st, me, offset):
    """The voters of the assignment before that at an offset."""
    before = newest_offset(me.log, offset - 1)
    return me.log.at(before).value.current if before > 0 else st.plan.quorum_voters


def newest_meets_the_one_before(st, me):
    """The majorities of the newest assignment in a log and of the one before it have a member in common."""
    newest = newest_offset(me.log, len(me.log))
    return newest == 0 or majorities_intersect(me.log.at(newest).value.current, voters_before(st, me, newest))


@spec.invariant
def ConsecutiveMajoritiesIntersect(st):
    """In every log, the majorities of the newest assignment and of the one before it have a member in common.

    Logs grow by one entry a step, so each assignment of a log was the newest in its turn.
    """
    return all(newest_meets_the_one_before(st, me) for me in st.servers.values())


@spec.invariant
def DescribedVotersAreInALog(st):
    """DescribeQuorum: the voters and target that a leader tells stand in its log, or are the first ones."""
    return all(
        me.state != ServerState.LEADER
        or any(entry.value == me.assignment for entry in me.log)
        or (me.assignment.current == st.plan.quorum_voters and me.assignment.target == set())
        for me in st.servers.values()
    )


@spec.invariant
def ServersActOnTheirLog(st):
    """Quorum Change Protocol: each server acts on the newest assignment in its log, committed or not.

    One that was told NOT_FOLLOWER does so too, but as an observer.
    """
    return all(
        newest_offset(me.log, len(me.log)) == 0
        or me.assignment == newest_assignment(st.plan, me.log, len(me.log))
        or me.assignment.current == newest_assignment(st.plan, me.log, len(me.log)).current - {i}
        for i, me in st.servers.items()
    )


@spec.invariant
def LeadersAreVoters(st):
    """The leader removes itself last, by resigning first: who leads is a voter of its own assignment."""
    return all(me.state != ServerState.LEADER or i in me.assignment.current for i, me in st.servers.items())


@spec.invariant
def VotersAreAsManyAsTheTarget(st):
    """Reassignment Algorithm 3: a voter is removed only while there are more voters than target voters."""
    return all(
        not isinstance(me.log.at(o).value, Assignment)
        or len(me.log.at(o).value.current) >= len(voters_before(st, me, o))
        or len(me.log.at(o).value.current) >= len(me.log.at(o).value.target)
        for me in st.servers.values()
        for o in me.log.offsets()
    )


@spec.invariant
def AssignmentsChangeSomething(st):
    """Request Handling 2: no assignment in a log repeats the one before it."""
    return all(
        not isinstance(me.log.at(o).value, Assignment)
        or newest_offset(me.log, o - 1) == 0
        or me.log.at(newest_offset(me.log, o - 1)).value != me.log.at(o).value
        for me in st.servers.values()
        for o in me.log.offsets()
    )


@spec.action_property
def VotersJoinWithTheLog(st, nxt):
    """Observer Promotion: a leader adds a voter that has all records which the leader had."""
    return all(
        me.state != ServerState.LEADER
        or nxt.servers[i].state != ServerState.LEADER
        or all(len(st.servers[k].log) >= len(me.log) for k in nxt.servers[i].assignment.current - me.assignment.current)
        for i, me in st.servers.items()
    )


@spec.action_property
def NonVotersDeposeNoLeader(st, nxt):
    """No leader gives up its leadership because of the vote request of a server that is not among its voters."""
    return not any(
        st.servers[m.mdest].state == ServerState.LEADER
        and nxt.servers[m.mdest].state != ServerState.LEADER
        and m.msource not in st.servers[m.mdest].assignment.current
        and m not in nxt.messages
        for m in st.messages.of(RequestVoteRequest)
    )


@spec.invariant
def DescribedVotersAreCurrent(st):
    """DescribeQuorum, as a reader would have it: no leader tells voters that a committed assignment has replaced."""
    return all(
        me.state != ServerState.LEADER or k.applied == 0 or has_entry(me.log, k.log, k.applied)
        for me in st.servers.values()
        for k in st.servers.values()
    )
