"""Specifications with different fairness, and temporal properties that upstream does not state.

The specifications show which fairness a property needs. Upstream's four properties are in `properties`; here they come
again, each for behaviours with finitely many pre-votes. Upstream's specifications, and what the draft has too, are in
`../consensus/kip_996/temporal.py`.
"""

from kmc.spec import always_eventually, and_, for_all, leads_to, not_, or_, spec, weak_fairness

from ..consensus.kip_996.configurations import ServerId
from ..consensus.kip_996.properties import ValuesEventuallyAcked
from ..consensus.kip_996.temporal import (  # noqa: F401  # declared for both specs of KIP-996
    CatchUp,
    FetchAgain,
    FetchEnds,
    LivenessSpec,
    Sent,
    SNext,
    Spec,
)
from ..consensus.progress import none_for_ever, or_for_ever
from .actions.fetches import accept_fetch_request, handle_fetch_response, send_fetch_request
from .actions.leaders import become_leader
from .actions.timeouts import should_resign, voter_election_timeout, voter_fetch_timeout
from .functions import is_observer, is_voter, within_epoch_limit
from .network import connected
from .properties import (
    EventuallyLeaderElected,
    NotStuckInProspective,
    ReconfigurationNotStuck,
    functional_leader_exists,
)
from .types import ServerState


@spec.specification
def SEach():
    """Each pair of servers sends, answers and handles fetches."""
    return and_(
        for_all(ServerId, lambda s: for_all(ServerId, lambda peer: weak_fairness(send_fetch_request, s, peer))),
        SNoSend(),
    )


@spec.specification
def SNoSend():
    """SEach, but no server need send a fetch."""
    return for_all(
        ServerId,
        lambda s: for_all(
            ServerId,
            lambda peer: and_(
                weak_fairness(accept_fetch_request, s, peer), weak_fairness(handle_fetch_response, s, peer)
            ),
        ),
    )


@spec.specification
def SSome():
    """Some pair of servers sends, some pair answers and some pair handles fetches, no matter which."""
    return and_(
        weak_fairness(send_fetch_request), weak_fairness(accept_fetch_request), weak_fairness(handle_fetch_response)
    )


def leads_without_being_a_voter(st, s):
    """Server s leads, and is not a voter of its own configuration."""
    return s in st.servers and st.servers[s].state == ServerState.LEADER and is_observer(st.servers[s], s)


@spec.liveness
def RemovedLeaderResigns():
    """A leader that has stopped being a voter does not lead for ever."""
    return none_for_ever(ServerId, leads_without_being_a_voter)


@spec.liveness
def CandidateEnds():
    """No server is a candidate for ever."""
    return none_for_ever(ServerId, is_candidate)


def is_candidate(st, s):
    """Server s is a candidate."""
    return s in st.servers and st.servers[s].state == ServerState.CANDIDATE


def leads_without_a_majority(st, s):
    """Server s leads, and does not reach a majority of its voters."""
    return s in st.servers and st.servers[s].state == ServerState.LEADER and should_resign(st, s)


@spec.liveness
def CutOffLeaderResigns():
    """Check Quorum: a leader that is cut off from a majority does not lead for ever."""
    return none_for_ever(ServerId, leads_without_a_majority)


def does_not_know_its_removal(st, s):
    """Server s counts itself as a voter, and the leader of its epoch, which it reaches, has removed it."""
    return (
        s in st.servers
        and is_voter(st.servers[s], s)
        and any(
            connected(st, s, ldr)
            and leader.state == ServerState.LEADER
            and leader.current_epoch == st.servers[s].current_epoch
            and s not in leader.config.members
            for ldr, leader in st.servers.items()
        )
    )


@spec.liveness
def RemovedVoterLearnsIt():
    """A removed voter that reaches the leader of its epoch does not take itself for a voter for ever (KIP-996)."""
    return none_for_ever(ServerId, does_not_know_its_removal)


def stands_or_may_not(st):
    """Some server is a candidate, or is in the last epoch of the model."""
    return any(is_candidate(st, s) or not within_epoch_limit(me) for s, me in st.servers.items())


@spec.liveness
def LeaderlessClusterElects():
    """Without a functional leader some server stands for election in the end, unless the epochs are used up."""
    return leads_to(
        lambda st: not functional_leader_exists(st),
        lambda st: functional_leader_exists(st) or stands_or_may_not(st),
    )


def some_leader_reaches_a_majority(st):
    """Some server leads and reaches a majority of its voters, so that it can commit."""
    return any(me.state == ServerState.LEADER and not should_resign(st, s) for s, me in st.servers.items())


@spec.liveness
def WorkingLeaderIsSought():
    """Without a leader that can commit, some server stands for election in the end, unless the epochs are used up.

    Check Quorum (KIP-996; KIP-595, leader progress timeout). Stronger than LeaderlessClusterElects, which takes a
    leader that others still believe in for one that works.
    """
    return leads_to(
        lambda st: not some_leader_reaches_a_majority(st),
        lambda st: some_leader_reaches_a_majority(st) or stands_or_may_not(st),
    )


def or_pre_votes_for_ever(formula):
    """The formula holds, or voters begin pre-votes infinitely often.

    Fairness does not forbid that every election is a draw. In liveness mode a counter counts pre-votes, so a finite
    graph has no behaviour with infinitely many, and no lasso tells this formula from the one inside it.
    With DropUnread it does not count.
    """
    return or_for_ever(formula, or_(voter_fetch_timeout, voter_election_timeout))


@spec.liveness
def ValuesEventuallyAckedOrPreVotes():
    """ValuesEventuallyAcked, or pre-votes for ever."""
    return or_pre_votes_for_ever(ValuesEventuallyAcked())


@spec.liveness
def ReconfigurationNotStuckOrPreVotes():
    """ReconfigurationNotStuck, or pre-votes for ever."""
    return or_pre_votes_for_ever(ReconfigurationNotStuck())


@spec.liveness
def EventuallyLeaderElectedOrPreVotes():
    """EventuallyLeaderElected, or pre-votes for ever."""
    return or_pre_votes_for_ever(EventuallyLeaderElected())


@spec.liveness
def NotStuckInProspectiveOrPreVotes():
    """NotStuckInProspective, or pre-votes for ever."""
    return or_pre_votes_for_ever(NotStuckInProspective())


@spec.liveness
def LeadersStopChanging():
    """From some time on no server becomes the leader (KIP-996, Motivation, the leaders that flip-flop)."""
    return not_(always_eventually(become_leader))


@spec.liveness
def PreVotesEnd():
    """Voters begin pre-votes only finitely often."""
    return not_(always_eventually(or_(voter_fetch_timeout, voter_election_timeout)))
