"""AlterPartitionReassignments, and the leader's way to the target voters (KIP-642, Reassignment Algorithm)."""

from kmc.lang import require
from kmc.spec import spec

from ...consensus.pull_raft.types import Server, ServerState
from ..assignments import (
    acked_by,
    appended,
    has_committed_in_own_epoch,
    is_tracked,
    last_assignment_is_committed,
    newest_assignment,
)
from ..clusters import known_cluster
from ..mutants import (
    AddsTwoAtOnce,
    FollowersTakeRequests,
    LeaderNeverResigns,
    LeaderRemovesItselfFirst,
    NewVotersAreNotTold,
    RemovesFirst,
    RequestsRepeat,
)
from ..network import is_alive, send_all
from ..readings import (
    AssignmentTakesEffect,
    ClearsTargetAtOnce,
    LeaderCommitsFirst,
    LeaderMayRemoveItself,
    LeaderResignsEarly,
    LeaderWaitsForCommit,
    Reassignment,
    RequestsWaitForCommit,
    TakesEffect,
    WaitsForCatchUp,
)
from ..types import (
    BeginQuorumRequest,
    EndQuorumRequest,
    FirstTarget,
    MaxRequests,
    MaxResignations,
    MayCancelByNull,
    MayCancelByOldVoters,
)


def leads(st, i):
    """Only a leader handles reassignments; others answer NOT_LEADER, which changes nothing."""
    return Reassignment and st.servers[i].state == ServerState.LEADER and is_alive(st, i)


def newest(st, me):
    """The newest assignment of a leader's log, on which the next one builds, whether it has taken effect or not."""
    if AssignmentTakesEffect == TakesEffect.WHEN_COMMITTED:
        return newest_assignment(st.plan, me.log, len(me.log))
    return me.assignment


def with_assignment(st, i, assignment):
    """The state after leader i appends an assignment; it acts on it at once, and so counts by its voters."""
    me = st.servers[i]
    tracked = {j: me.end_offset[j] if is_tracked(assignment, j) else 0 for j in Server}
    leader = appended(st.plan, i, me.set(end_offset=tracked), assignment)
    return st.set(servers=st.servers.set(i, leader), acked=acked_by(st, me, leader))


def asked(st, i, wanted):
    """Request handling 2 and 3: the leader appends the desired TargetVoters, unless they stand there already."""
    me = st.servers[i]
    require(RequestsRepeat or wanted != newest(st, me).target)
    longer = with_assignment(st, i, newest(st, me).set(target=wanted))
    yield longer.set(counters=st.counters.set(requests=st.counters.requests + 1))


@spec.action
def alter_partition_reassignments(st, i: Server):
    """AlterPartitionReassignments: the planned target, null, or the first voters again (Cancellation).

    A request that is sent again while the reassignment goes on finds its TargetVoters in the newest assignment, and
    changes nothing. After the end TargetVoters is null, so it is appended again, with nothing to do. The answer (4)
    comes when the record is committed: what was answered is what is committed, so properties speak of that.
    """
    if not (leads(st, i) or FollowersTakeRequests) or st.counters.requests >= MaxRequests:
        return
    if RequestsWaitForCommit and not last_assignment_is_committed(st.servers[i]):
        return
    if FirstTarget > 0:
        yield from asked(st, i, st.plan.target)
    if MayCancelByNull:
        yield from asked(st, i, set())
    if MayCancelByOldVoters:
        yield from asked(st, i, st.plan.quorum_voters)


def new_voters(assignment):
    """NewVoters: target voters that are not voters yet."""
    return assignment.target - assignment.current


def removing_voters(assignment):
    """RemovingVoters: voters that are not target voters."""
    return assignment.current - assignment.target


def reassigns(st, i):
    """Server i leads, and there are target voters."""
    return leads(st, i) and newest(st, st.servers[i]).target != set()


def may_change(me):
    """The leader may append the next assignment of a reassignment."""
    if LeaderWaitsForCommit and not last_assignment_is_committed(me):
        return False
    return not LeaderCommitsFirst or has_committed_in_own_epoch(me)


def adds_next(assignment):
    """Reassignment Algorithm 3: add while there are at least as many new voters as removing ones."""
    added, removed = new_voters(assignment), removing_voters(assignment)
    return len(added) > 0 and len(removed) <= (0 if RemovesFirst else len(added))


def changed_to(assignment, voters):
    """The assignment with other voters; where the example is followed, the last change clears the target."""
    done = ClearsTargetAtOnce and voters == assignment.target
    return assignment.set(current=voters, target=set() if done else assignment.target)


def has_caught_up(i, me, s):
    """Observer Promotion: the server has fetched all that leader i has; an elected non-voter has it itself."""
    return not WaitsForCatchUp or s == i or me.end_offset[s] == len(me.log)


@spec.action
def add_voter(st, i: Server, s: Server):
    """Reassignment Algorithm 3.1: the leader adds one of NewVoters, and tells it by BeginQuorumEpoch."""
    me = st.servers[i]
    added = new_voters(newest(st, me))
    if not reassigns(st, i) or not adds_next(newest(st, me)) or s not in added:
        return
    if not has_caught_up(i, me, s) or not may_change(me):
        return
    joining = added if AddsTwoAtOnce else {s}
    longer = with_assignment(st, i, changed_to(newest(st, me), newest(st, me).current | joining))
    begin = {
        BeginQuorumRequest(mepoch=me.current_epoch, mcluster=known_cluster(me), msource=i, mdest=k)
        for k in joining
        if k != i and not NewVotersAreNotTold
    }
    yield longer.set(messages=send_all(st, begin))


def leaves_next(i, assignment, s):
    """Reassignment Algorithm 3.2: the leader removes other voters, preferably (LeaderMayRemoveItself)."""
    if LeaderRemovesItselfFirst and i in removing_voters(assignment):
        return s == i
    return s != i or (LeaderMayRemoveItself and len(removing_voters(assignment)) > 1)


@spec.action
def remove_voter(st, i: Server, s: Server):
    """Reassignment Algorithm 3.2: the leader removes one of RemovingVoters, and not itself, as the text prefers."""
    me = st.servers[i]
    if not reassigns(st, i) or adds_next(newest(st, me)) or s not in removing_voters(newest(st, me)):
        return
    if not leaves_next(i, newest(st, me), s) or not may_change(me):
        return
    yield with_assignment(st, i, changed_to(newest(st, me), newest(st, me).current - {s}))


@spec.action
def complete_reassignment(st, i: Server):
    """Reassignment Algorithm 6.1: the voters are the target voters, so the leader clears the target."""
    me = st.servers[i]
    if not reassigns(st, i) or newest(st, me).current != newest(st, me).target or not may_change(me):
        return
    yield with_assignment(st, i, newest(st, me).set(target=set()))


@spec.action
def resign_to_be_removed(st, i: Server):
    """Reassignment Algorithm 6.2: the last voter to be removed leads, so it steps down by EndQuorumEpoch.

    It stays a voter, and can be elected again, until the next leader removes it.
    """
    me = st.servers[i]
    if LeaderNeverResigns or st.counters.resignations >= MaxResignations or not reassigns(st, i):
        return
    if removing_voters(newest(st, me)) != {i} or not may_change(me):
        return
    if adds_next(newest(st, me)) and not LeaderResignsEarly:
        return
    requests = {
        EndQuorumRequest(mepoch=me.current_epoch, mcluster=known_cluster(me), msource=i, mdest=j)
        for j in newest(st, me).current
        if j != i
    }
    # `leader` still names it: an answer that does so too does not make it lead again (RestartedLeaderResigns).
    yield st.set(
        servers=st.servers.set(i, me.set(state=ServerState.RESIGNED)),
        messages=send_all(st, requests),
        counters=st.counters.set(resignations=st.counters.resignations + 1),
    )
