"""Elections: vote requests, votes, and the new leader (KIP-595, Vote and BeginQuorumEpoch; KIP-642, non-voters)."""

from kmc.spec import spec

from ...consensus.logs import compare_entries, last_epoch
from ...consensus.pull_raft.mutants import AnyLogIsElected, VotersVoteAgain
from ...consensus.pull_raft.network import KeepsDelivered
from ...consensus.pull_raft.rules import (
    elects,
    maybe_handle_common_response,
    no_transition,
    transition_to_unattached,
    transition_to_voted,
)
from ...consensus.pull_raft.types import MaxElections, Server, ServerState
from ..assignments import acked_by, appended, is_observer, is_voter, newest_assignment
from ..clusters import known_cluster, wrong_cluster
from ..network import discard, is_alive, reaches, reply, send_all
from ..readings import (
    Bootstrapping,
    ClusterIdIsGiven,
    LeaderChangeRecords,
    LeaderRewritesAssignment,
    NonVotersCampaign,
    ObserversVote,
    Reassignment,
    VotedTimesOut,
    VoteRequestOfNonVoter,
    VotesFromNonVoters,
)
from ..types import (
    Assignment,
    BeginQuorumRequest,
    Error,
    MaxClusters,
    RequestVoteRequest,
    RequestVoteResponse,
)

ELECTION_TIMEOUT_STATES = {
    ServerState.FOLLOWER,
    ServerState.CANDIDATE,
    ServerState.UNATTACHED,
    ServerState.RESIGNED,
}


def may_time_out(me):
    """States with an election timeout. KRaft.tla leaves out VOTED: a voter whose candidate stops waits for ever."""
    return me.state in ELECTION_TIMEOUT_STATES or (VotedTimesOut and me.state == ServerState.VOTED)


def knows_majority(st, i, me):
    """Bootstrapping Procedure 6: a majority of the expected voters show themselves in DiscoverBrokers responses.

    A server shows itself when it has promoted itself to voter (5.1). One whose log has the voters campaigns as ever.
    """
    if not Bootstrapping or len(me.log) > 0:
        return True
    shown = {k for k in Server if is_voter(st.servers[k], k) and is_alive(st, k) and reaches(st, k, i)}
    return elects(shown, me.assignment.current)


def candidate(i, me):
    """Server i after it votes for itself in the next epoch."""
    return me.set(
        state=ServerState.CANDIDATE,
        current_epoch=me.current_epoch + 1,
        leader=None,
        voted_for=i,
        votes_granted={i},
        pending_fetch=None,
    )


def asking(st, i, me):
    """The state after server i, which is `me`, becomes a candidate and asks the other voters (KIP-595, Vote)."""
    requests = {
        RequestVoteRequest(
            mepoch=me.current_epoch + 1,
            mlast_log_epoch=last_epoch(me.log),
            mlast_log_offset=len(me.log),
            mcluster=known_cluster(me),
            msource=i,
            mdest=j,
        )
        for j in me.assignment.current
        if j != i
    }
    return st.set(
        servers=st.servers.set(i, candidate(i, me)),
        election_ctr=st.election_ctr + 1,
        messages=send_all(st, requests),
    )


@spec.action
def request_vote(st, i: Server):
    """The election timeout of a voter, and its vote requests (KIP-595, Vote). KRaft.tla: RequestVote."""
    me = st.servers[i]
    if st.election_ctr >= MaxElections or not is_alive(st, i):
        return
    if not may_time_out(me) or not (is_voter(me, i) or NonVotersCampaign):
        return
    if not knows_majority(st, i, me):
        return
    yield asking(st, i, me)


def refusal(m, epoch, leader, error):
    """The answer that a vote is not granted."""
    return RequestVoteResponse(
        mepoch=epoch, mleader=leader, mvote_granted=False, merror=error, msource=m.mdest, mdest=m.msource
    )


def refused(st, m, epoch, leader, error):
    """The state after a vote request is refused, and nothing else changes."""
    return st.set(messages=reply(st, refusal(m, epoch, leader, error), m))


def stands_against(st, m):
    """KIP-642, Quorum Change Protocol: a voter rejects a non-voter's request, and becomes a candidate itself.

    It takes over the epoch first, as for any request (KIP-595), so its own candidacy is in a later one.
    """
    i = m.mdest
    me = st.servers[i]
    newer = m.mepoch > me.current_epoch
    unattached = me.set(state=ServerState.UNATTACHED, current_epoch=m.mepoch, leader=None, pending_fetch=None)
    now = unattached if newer else me
    rejection = refusal(m, m.mepoch, now.leader, None)
    if not is_observer(now, i) and now.state != ServerState.LEADER and st.election_ctr < MaxElections:
        yield asking(st.set(messages=reply(st, rejection, m)), i, now)
    else:
        yield st.set(servers=st.servers.set(i, now), messages=reply(st, rejection, m))


@spec.receive(RequestVoteRequest)
def handle_request_vote_request(st, m):
    """KIP-595, Vote handling: grant to a candidate of this epoch whose log is not behind. KRaft.tla: the same.

    KIP-642 adds what happens to the request of a server that is not a voter as far as the receiver knows.
    """
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if wrong_cluster(me, m):
        yield refused(st, m, 0, None, Error.INCONSISTENT_CLUSTER_ID)
        return
    if m.mepoch < me.current_epoch:
        yield refused(st, m, me.current_epoch, me.leader, Error.FENCED_LEADER_EPOCH)
        return
    if is_observer(me, i) and not ObserversVote:
        yield refused(st, m, me.current_epoch, me.leader, None)
        return
    if is_observer(me, j) and VoteRequestOfNonVoter == VotesFromNonVoters.REJECT:
        yield refused(st, m, me.current_epoch, me.leader, None)
        return
    if is_observer(me, j) and VoteRequestOfNonVoter == VotesFromNonVoters.REJECT_AND_CAMPAIGN:
        yield from stands_against(st, m)
        return
    state0 = transition_to_unattached(m.mepoch) if m.mepoch > me.current_epoch else no_transition(me)
    order = compare_entries(m.mlast_log_offset, m.mlast_log_epoch, len(me.log), last_epoch(me.log))
    grant = (order >= 0 or AnyLogIsElected) and (
        state0.state == ServerState.UNATTACHED
        or (state0.state == ServerState.VOTED and (me.voted_for == j or VotersVoteAgain))
    )
    final = transition_to_voted(m.mepoch, state0) if grant and state0.state == ServerState.UNATTACHED else state0
    response = RequestVoteResponse(
        mepoch=m.mepoch, mleader=final.leader, mvote_granted=grant, merror=None, msource=i, mdest=j
    )
    if m.mepoch == me.current_epoch and not grant:
        yield st.set(messages=reply(st, response, m))
        return
    voter = me.set(
        state=final.state,
        current_epoch=final.epoch,
        leader=final.leader,
        voted_for=j if grant else me.voted_for,
        pending_fetch=me.pending_fetch if final.state == me.state else None,
    )
    yield st.set(servers=st.servers.set(i, voter), messages=reply(st, response, m))


def named_leader(me, i, m):
    """The leader that an answer names; a server that neither leads nor has resigned does not take itself for it."""
    if Reassignment and m.mleader == i and me.state != ServerState.LEADER and me.state != ServerState.RESIGNED:
        return None
    return m.mleader


@spec.receive(RequestVoteResponse)
def handle_request_vote_response(st, m):
    """Count the vote, unless the response is stale or tells of a newer epoch. KRaft.tla: HandleRequestVoteResponse."""
    i, j = m.mdest, m.msource
    me = st.servers[i]
    new = maybe_handle_common_response(me, i, named_leader(me, i, m), m.mepoch, m.merror)
    if new.handled:
        waits = not Reassignment or (new.state == me.state and new.epoch == me.current_epoch)
        told = me.set(
            state=new.state,
            leader=new.leader,
            current_epoch=new.epoch,
            pending_fetch=me.pending_fetch if waits else None,
        )
        yield st.set(servers=st.servers.set(i, told), messages=discard(st.messages, m))
    elif me.state == ServerState.CANDIDATE:
        counted = me.set(votes_granted=me.votes_granted | {j}) if m.mvote_granted else me
        yield st.set(servers=st.servers.set(i, counted), messages=discard(st.messages, m))
    elif not KeepsDelivered:
        yield st.set(messages=discard(st.messages, m))


def with_first_assignment(st, i, leader):
    """Quorum Bootstrapping: the first leader of a cluster writes quorum.voters and the ClusterId to its empty log."""
    cluster = 1 if ClusterIdIsGiven else st.counters.clusters + 1
    return appended(st.plan, i, leader, Assignment(current=st.plan.quorum_voters, target=set(), cluster=cluster))


@spec.action
def become_leader(st, i: Server):
    """A candidate with a majority tells the other voters (KIP-595, BeginQuorumEpoch). KRaft.tla: the same.

    A leader of an empty log writes the first assignment (Quorum Bootstrapping). With LeaderRewritesAssignment every
    leader writes its assignment anew, and with LeaderChangeRecords a record of its epoch.
    """
    me = st.servers[i]
    if me.state != ServerState.CANDIDATE or not is_alive(st, i):
        return
    if not elects(me.votes_granted, me.assignment.current):
        return
    founds = Bootstrapping and len(me.log) == 0
    if founds and st.counters.clusters >= MaxClusters:
        return
    leader = me.set(state=ServerState.LEADER, leader=i, end_offset={j: 0 for j in Server})
    if founds:
        leader = with_first_assignment(st, i, leader)
    if LeaderRewritesAssignment:
        leader = appended(st.plan, i, leader, newest_assignment(st.plan, leader.log, len(leader.log)))
    if LeaderChangeRecords:
        leader = appended(st.plan, i, leader, None)
    requests = {
        BeginQuorumRequest(mepoch=me.current_epoch, mcluster=known_cluster(leader), msource=i, mdest=j)
        for j in me.assignment.current
        if j != i
    }
    counters = st.counters.set(clusters=st.counters.clusters + 1) if founds and not ClusterIdIsGiven else st.counters
    yield st.set(
        servers=st.servers.set(i, leader),
        messages=send_all(st, requests),
        acked=acked_by(st, me, leader) if Reassignment else st.acked,
        counters=counters,
    )
