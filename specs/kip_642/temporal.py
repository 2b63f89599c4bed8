"""Fairness, and the temporal properties of KIP-642.

Fairness asks for what a running server does: it sends, it handles what arrives, a leader takes the next step of a
reassignment, and a voter that hears of no leader asks for votes. It never asks for failures, clients or requests.

Elections are counted, so no cycle has one: a verdict is about behaviours with fewer elections than MaxElections. Where
all elections are used up and no leader is heard by a majority, nothing is asked any more (`is_spent`).
"""

from kmc.lang import count
from kmc.spec import always, and_, for_all, leads_to, or_, spec, steps, strong_fairness, weak_fairness

from ..consensus.logs import compare_entries, last_epoch
from ..consensus.pull_raft.types import MaxElections, Server, ServerState
from ..consensus.quorums import majority_count
from .actions.bootstrap import discover_brokers, fall_back_to_quorum_voters
from .actions.elections import (
    become_leader,
    handle_request_vote_request,
    handle_request_vote_response,
    request_vote,
)
from .actions.fetches import (
    accept_fetch_request,
    diverging_fetch_request,
    fetch_timeout,
    handle_diverging_fetch_response,
    handle_error_fetch_response,
    handle_success_fetch_response,
    is_removed,
    reject_fetch_request,
    send_fetch_request,
)
from .actions.leaders import (
    ask_for_newer_leader,
    handle_begin_quorum_request,
    handle_end_quorum_request,
    hears_no_majority,
)
from .actions.reassignments import (
    add_voter,
    alter_partition_reassignments,
    complete_reassignment,
    remove_voter,
    resign_to_be_removed,
)
from .assignments import is_observer, is_voter, last_assignment_is_committed, newest_assignment, newest_offset
from .network import is_alive, reaches
from .readings import NonVotersCampaign, ObserversVote, StartsReassigning, VoteRequestOfNonVoter, VotesFromNonVoters
from .types import (
    BeginQuorumRequest,
    EndQuorumRequest,
    FetchRequest,
    FetchResponse,
    RequestVoteRequest,
    RequestVoteResponse,
)


def each_server(fair):
    """Fairness of each server."""
    return for_all(Server, fair)


def each_pair(fair):
    """Fairness of each pair of servers."""
    return for_all(Server, lambda i: for_all(Server, lambda j: fair(i, j)))


def takes(st, new, kind, i, j):
    """A message of this kind from server j to server i is handled by the step."""
    return any(m.msource == j and m.mdest == i and m not in new.messages for m in st.messages.of(kind))


def delivered(kind, handlers):
    """For each pair of servers, a message of this kind from the one to the other is handled in the end."""
    return each_pair(lambda i, j: weak_fairness(and_(handlers, lambda st, new: takes(st, new, kind, i, j))))


def vote_messages():
    """What an election sends is handled."""
    return and_(
        delivered(RequestVoteRequest, handle_request_vote_request),
        delivered(RequestVoteResponse, handle_request_vote_response),
        delivered(BeginQuorumRequest, handle_begin_quorum_request),
        delivered(EndQuorumRequest, handle_end_quorum_request),
    )


def leads_in_its_epoch(st, i, j):
    """Server j leads in the epoch of server i, and i can fetch from it."""
    peer = st.servers[j]
    return (
        peer.state == ServerState.LEADER
        and peer.current_epoch >= st.servers[i].current_epoch
        and is_alive(st, j)
        and reaches(st, i, j)
    )


def hears_no_leader(st, i):
    """The election timeout of server i expires: it knows of no leader, or the one that it knows does not answer."""
    return not any(st.servers[i].leader == j and leads_in_its_epoch(st, i, j) for j in Server)


def elections():
    """A voter that hears of no leader asks for votes, and a candidate with a majority leads."""
    return each_server(
        lambda i: and_(
            weak_fairness(and_(steps(request_vote, i), lambda st: hears_no_leader(st, i))),
            weak_fairness(become_leader, i),
        )
    )


def fetch_messages():
    """Fetches and their answers are handled, and an observer gives up a fetch that was lost."""
    requests = or_(reject_fetch_request, diverging_fetch_request, accept_fetch_request)
    answers = or_(handle_success_fetch_response, handle_diverging_fetch_response, handle_error_fetch_response)
    return and_(
        delivered(FetchRequest, requests),
        delivered(FetchResponse, answers),
        each_server(lambda i: weak_fairness(fetch_timeout, i)),
    )


def fetches():
    """Followers fetch, and a server that knows of no leader asks all others in turn."""
    return and_(fetch_messages(), each_pair(lambda i, j: strong_fairness(send_fetch_request, i, j)))


def reassignments():
    """A leader takes the next step of a reassignment."""
    return each_server(
        lambda i: and_(
            weak_fairness(add_voter, i),
            weak_fairness(remove_voter, i),
            weak_fairness(complete_reassignment, i),
            weak_fairness(resign_to_be_removed, i),
        )
    )


def zombie_rule():
    """A leader that hears no majority asks all others in turn."""
    return each_pair(lambda i, j: weak_fairness(ask_for_newer_leader, i, j))


def discovery():
    """A server that knows of no quorum asks all others in turn, and falls back to quorum.voters."""
    return and_(
        each_pair(lambda i, j: weak_fairness(discover_brokers, i, j)),
        each_server(lambda i: weak_fairness(fall_back_to_quorum_voters, i)),
    )


@spec.specification
def Spec():
    """No fairness: anything may stop for ever."""
    return True


@spec.specification
def SAll():
    """Servers that run do what they have to do."""
    return and_(elections(), vote_messages(), fetches(), reassignments(), zombie_rule(), discovery())


@spec.specification
def SAsked():
    """SAll, and people ask for reassignments as long as they may."""
    return and_(SAll(), weak_fairness(alter_partition_reassignments))


@spec.specification
def SNoElect():
    """SAll, but election timeouts need not expire."""
    return and_(vote_messages(), fetches(), reassignments(), zombie_rule(), discovery())


@spec.specification
def SNoFetch():
    """SAll, but no server need fetch."""
    return and_(elections(), vote_messages(), reassignments(), zombie_rule(), discovery())


@spec.specification
def SNoLooking():
    """SAll, but a server that knows of no leader need not look for one."""
    return and_(
        elections(),
        vote_messages(),
        fetch_messages(),
        each_pair(
            lambda i, j: strong_fairness(and_(steps(send_fetch_request, i, j), lambda st: st.servers[i].leader == j))
        ),
        reassignments(),
        zombie_rule(),
    )


def governs(st, i):
    """Server i leads, a majority of its voters can fetch from it, and no other leader of a later epoch is alive."""
    me = st.servers[i]
    return (
        me.state == ServerState.LEADER
        and is_alive(st, i)
        and not hears_no_majority(st, i)
        and not any(leads_later(st, j, me.current_epoch) for j in Server)
    )


def leads_later(st, j, epoch):
    """Server j is alive and leads in a later epoch."""
    peer = st.servers[j]
    return peer.state == ServerState.LEADER and is_alive(st, j) and peer.current_epoch > epoch


def is_governed(st):
    """Some leader is heard by a majority of its voters."""
    return any(governs(st, i) for i in Server)


def reaches_majority(st, i, voters):
    """A majority of these voters are alive and can be reached from server i."""
    return count(reaches(st, i, k) for k in voters) >= majority_count(voters)


def last_committed(st):
    """The offset of the newest assignment that is committed, or 0: servers that stopped may have known it alone."""
    return max(me.applied for me in st.servers.values())


def committed_voters(st):
    """The voters of the newest assignment that is committed; where a model is faulty, logs may name several."""
    last = last_committed(st)
    newest = {newest_assignment(st.plan, me.log, last).current for me in st.servers.values() if me.applied == last}
    return newest if last > 0 else {st.plan.quorum_voters}


def majorities_live(st):
    """A majority of the committed voters is alive, and of each newer assignment in the log of a server that runs."""
    return all(
        any(i in c and is_alive(st, i) and reaches_majority(st, i, c) for i in Server) for c in committed_voters(st)
    ) and all(
        not is_alive(st, i)
        or newest_offset(me.log, len(me.log)) <= last_committed(st)
        or reaches_majority(st, i, me.assignment.current)
        for i, me in st.servers.items()
    )


def elections_are_spent(st):
    """The model allows no more elections."""
    return st.election_ctr == MaxElections


def is_excused(st):
    """No leader is heard by a majority, and the model allows no more elections or no majority of the voters lives."""
    return not is_governed(st) and (elections_are_spent(st) or not majorities_live(st))


@spec.liveness
def LeaderIsElected():
    """A cluster with a live majority of its voters gets a leader, unless the model allows no more elections.

    So it holds in a cluster that loses all the elections it may hold; SomeServerCanWin has no such excuse.
    """
    return leads_to(lambda st: not is_governed(st), lambda st: is_governed(st) or is_excused(st))


def would_grant(st, k, i):
    """Server k, asked in a new epoch, votes for server i: handle_request_vote_request."""
    me, candidate = st.servers[k], st.servers[i]
    refuses = (is_observer(me, k) and not ObserversVote) or (
        is_observer(me, i) and VoteRequestOfNonVoter != VotesFromNonVoters.GRANT
    )
    order = compare_entries(len(candidate.log), last_epoch(candidate.log), len(me.log), last_epoch(me.log))
    return k == i or (reaches(st, i, k) and not refuses and order >= 0)


def can_win(st, i):
    """Server i would win an election that all others let it have."""
    voters = st.servers[i].assignment.current
    may_stand = i in voters or NonVotersCampaign
    return is_alive(st, i) and may_stand and count(would_grant(st, k, i) for k in voters) >= majority_count(voters)


@spec.liveness
def SomeServerCanWin():
    """With a live majority of its voters, a cluster has a leader or a server that can win an election.

    Lost elections change no log, so where no server can win, no leader is elected ever after.
    """
    return leads_to(
        lambda st: not is_governed(st),
        lambda st: is_governed(st) or not majorities_live(st) or any(can_win(st, i) for i in Server),
    )


def is_settled(st):
    """A leader that a majority hears has no target voters, and has committed that."""
    return any(
        governs(st, i) and st.servers[i].assignment.target == set() and last_assignment_is_committed(st.servers[i])
        for i in Server
    )


@spec.liveness
def ReassignmentEnds():
    """A reassignment that was asked for ends, or is replaced by another that ends."""
    return leads_to(
        lambda st: StartsReassigning or st.counters.requests > 0, lambda st: is_settled(st) or is_excused(st)
    )


def waits_for_commit(st, i):
    """Server i leads, is heard by a majority, and its newest assignment is not committed."""
    return governs(st, i) and not last_assignment_is_committed(st.servers[i])


@spec.liveness
def AssignmentsAreCommitted():
    """AlterPartitionReassignments 4: what a leader appends is committed, unless it stops leading."""
    return for_all(
        Server, lambda i: leads_to(lambda st: waits_for_commit(st, i), lambda st: not waits_for_commit(st, i))
    )


def knows_newer_leader(st, k, i):
    """Server k is alive and follows, or is, a leader of a later epoch than that of server i."""
    peer = st.servers[k]
    return (
        is_alive(st, k)
        and peer.current_epoch > st.servers[i].current_epoch
        and any(peer.leader == j and leads_later(st, j, st.servers[i].current_epoch) for j in Server)
    )


def is_zombie(st, i):
    """Server i leads, and could hear of a leader of a later epoch."""
    return (
        st.servers[i].state == ServerState.LEADER
        and is_alive(st, i)
        and any(k != i and reaches(st, i, k) and knows_newer_leader(st, k, i) for k in Server)
    )


@spec.liveness
def NoZombieForEver():
    """A leader that could hear of a newer one does not lead for ever."""
    return for_all(Server, lambda i: leads_to(lambda st: is_zombie(st, i), lambda st: not is_zombie(st, i)))


def is_removed_zombie(st, i):
    """Server i leads and could hear of a newer leader, and one that a majority hears has removed it."""
    return is_zombie(st, i) and any(governs(st, j) and is_removed(st.plan, st.servers[j], i) for j in Server)


@spec.liveness
def RemovedLeaderStepsDown():
    """Discussion, Zombie Leader: a leader that its successor has removed learns it from others, and leads no more."""
    return for_all(
        Server,
        lambda i: leads_to(lambda st: is_removed_zombie(st, i), lambda st: not is_removed_zombie(st, i)),
    )


def waits_for_election(st, i):
    """Server i is a voter that hears of no leader, and the model allows it no more elections."""
    return elections_are_spent(st) and hears_no_leader(st, i) and is_voter(st.servers[i], i)


def was_removed(st, i):
    """Server i takes itself for a voter, and a leader that it reaches and a majority hears has removed it."""
    return (
        is_voter(st.servers[i], i)
        and is_alive(st, i)
        and any(governs(st, j) and reaches(st, i, j) and is_removed(st.plan, st.servers[j], i) for j in Server)
    )


@spec.liveness
def RemovedServerObserves():
    """A server that was removed learns it, so that it ends as an observer."""
    return for_all(
        Server,
        lambda i: leads_to(
            lambda st: was_removed(st, i), lambda st: not was_removed(st, i) or waits_for_election(st, i)
        ),
    )


def was_not_told(st, i):
    """Server i is a voter of a leader that it reaches and a majority hears, and does not know both."""
    me = st.servers[i]
    return is_alive(st, i) and any(
        i != j
        and governs(st, j)
        and reaches(st, i, j)
        and i in st.servers[j].assignment.current
        and last_assignment_is_committed(st.servers[j])
        and not (me.leader == j and is_voter(me, i))
        for j in Server
    )


@spec.liveness
def VotersFollow():
    """A voter of a committed assignment learns that it is one, and follows the leader."""
    return for_all(
        Server,
        lambda i: leads_to(
            lambda st: was_not_told(st, i), lambda st: not was_not_told(st, i) or waits_for_election(st, i)
        ),
    )


def has_not_joined(st, i):
    """Server i has no assignment in its log, though it reaches a leader with committed voters that a majority hears."""
    return (
        is_alive(st, i)
        and newest_offset(st.servers[i].log, len(st.servers[i].log)) == 0
        and any(governs(st, j) and reaches(st, i, j) and st.servers[j].applied > 0 for j in Server)
    )


@spec.liveness
def ServersJoin():
    """A server that can reach the leader gets the assignment into its log (Bootstrapping Procedure 2 to 4)."""
    return for_all(
        Server,
        lambda i: leads_to(
            lambda st: has_not_joined(st, i), lambda st: not has_not_joined(st, i) or waits_for_election(st, i)
        ),
    )


@spec.liveness
def AtMostTwoResignations():
    """A leader that has resigned twice to be removed is not elected a third time."""
    return always(lambda st: st.counters.resignations <= 2)
