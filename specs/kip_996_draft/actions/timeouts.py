"""Timeouts: leaders resign, voters become prospective, and observers lose their leader (KIP-996; KIP-595)."""

from kmc.lang import count
from kmc.spec import WEAK, spec

from ...consensus.kip_996.configurations import ServerId
from ...consensus.kip_996.rules import apply_state, last_fetch_failed
from ...consensus.logs import last_epoch
from ...consensus.quorums import majority_count
from ..functions import (
    blank_fetch_state,
    fail_pending_writes,
    pending_fetch_lost,
    transition_to_prospective,
    transition_to_resigned,
    transition_to_unattached,
)
from ..mutants import ObserversCampaign
from ..network import connected, has_inflight_vote_req, has_inflight_vote_res, send_all
from ..types import RequestVoteRequest, Role, ServerState, TestLiveness


def lacks_connected_majority(st, s):
    """connected_peers < min_connected: the members that the leader reaches, with itself, are not a majority.

    It counts itself even if it is an observer.
    """
    me = st.servers[s]
    connected_peers = count(
        s != peer
        and connected(st, s, peer)
        and (
            (st.servers[peer].role == Role.VOTER and me.current_epoch >= st.servers[peer].current_epoch)
            or st.servers[peer].role == Role.OBSERVER
        )
        for peer in me.config.members
    )
    return connected_peers < len(me.config.members) // 2


@spec.action(fair=WEAK)
def check_quorum_resign(st, s: ServerId):
    """CheckQuorumResign(s): a leader resigns; with TestLiveness only if it does not reach a majority of voters.

    KIP-595 (leader progress timeout). An observer becomes unattached. Values stay pending until the next timeout.
    """
    if s not in st.servers or st.servers[s].state != ServerState.LEADER:
        return
    me = st.servers[s]
    if TestLiveness and not lacks_connected_majority(st, s):
        return
    if me.role == Role.VOTER:
        new_state = transition_to_resigned(me, s)
    else:
        new_state = transition_to_unattached(me, me.current_epoch, Role.OBSERVER)
    yield st.set(servers=st.servers.set(s, apply_state(me, new_state)))


def send_vote_requests(st, s, epoch, pre_vote):
    """The requests of VoterElectionTimeout and RequestVote, to all other voters of its configuration."""
    me = st.servers[s]
    return send_all(
        st,
        {
            RequestVoteRequest(
                epoch=epoch,
                last_log_epoch=last_epoch(me.log),
                last_log_offset=len(me.log),
                pre_vote=pre_vote,
                source=s,
                dest=s1,
            )
            for s1 in me.config.members
            if s1 != s
        },
    )


def not_enough_votes(st, s, pre_vote):
    """NotEnoughVotes(s, pre_vote): all answers are in or lost, and they make no majority."""
    me = st.servers[s]
    return (
        not has_inflight_vote_req(st, s, pre_vote)
        and not has_inflight_vote_res(st, s, pre_vote)
        and len(me.votes_recv) < majority_count(me.config.members)
        and me.state != ServerState.LEADER
    )


def can_fetch_timeout(st, me):
    """CanFetchTimeout(s): in how many ways it holds, since TLC counts both."""
    return count([last_fetch_failed(me), pending_fetch_lost(st, me)])


def eventual_timeout(st, s):
    """EventualTimeout(s): in how many ways it holds. Any server but a leader; with TestLiveness only with a reason."""
    me = st.servers[s]
    if me.state == ServerState.UNATTACHED or me.state == ServerState.RESIGNED:
        return 1
    if me.state == ServerState.FOLLOWER:
        return can_fetch_timeout(st, me) if TestLiveness else 1
    if me.state == ServerState.CANDIDATE:
        return count([not TestLiveness or not_enough_votes(st, s, False)])
    if me.state == ServerState.VOTED:
        return count([not TestLiveness or (me.voted_for is not None and not_enough_votes(st, me.voted_for, False))])
    if me.state == ServerState.PROSPECTIVE:
        return count([not TestLiveness or not_enough_votes(st, s, True)])
    return 0


def may_campaign(me, s):
    """The server is a voter, by its role and in its configuration."""
    return (me.role == Role.VOTER and s in me.config.members) or (ObserversCampaign and me.role == Role.OBSERVER)


@spec.action(fair=WEAK)
def voter_election_timeout(st, s: ServerId):
    """VoterElectionTimeout(s): a voter becomes prospective in its epoch, and asks for pre-votes (KIP-996)."""
    if s not in st.servers or not may_campaign(st.servers[s], s):
        return
    me = st.servers[s]
    for _ in range(eventual_timeout(st, s)):
        node = apply_state(me, transition_to_prospective(me, s)).set(fetch_state=blank_fetch_state(), pending_ack=set())
        yield send_vote_requests(st, s, me.current_epoch, True).set(
            servers=st.servers.set(s, node), inv_neg_acked=fail_pending_writes(st, me)
        )


@spec.action(fair=WEAK)
def observer_fetch_timeout(st, s: ServerId):
    """ObserverFetchTimeout(s): an observer becomes unattached, even one that leads; pending values stay pending.

    KIP-595 (fetch timeout); with TestLiveness only with a reason, and once per reason.
    """
    if s not in st.servers or st.servers[s].role != Role.OBSERVER:
        return
    me = st.servers[s]
    node = apply_state(me, transition_to_unattached(me, me.current_epoch, me.role)).set(fetch_state=blank_fetch_state())
    for _ in range(can_fetch_timeout(st, me) if TestLiveness else 1):
        yield st.set(servers=st.servers.set(s, node))
