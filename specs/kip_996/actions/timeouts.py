"""Timeouts: leaders resign, voters become prospective, resigned servers become unattached (KIP-996; KIP-595)."""

from kmc.lang import count, ways
from kmc.spec import WEAK, spec

from ...consensus.kip_996.configurations import ServerId
from ...consensus.kip_996.rules import apply_state, last_fetch_failed
from ...consensus.quorums import majority_count
from ..functions import (
    aux_increment_disruptions,
    aux_under_disruption_limit,
    fail_any_pending_writes,
    fetch_can_timeout,
    is_observer,
    is_voter,
    pending_fetch_lost,
    reset_follower_fetch_state,
    transition_to_resigned,
    transition_to_unattached,
)
from ..mutants import CandidatesWaitForEver, LeadersKeepOffice, ObserversCampaign, ResignedKeepsEpoch
from ..network import connected, has_inflight_vote_req, has_inflight_vote_res
from ..types import ServerState
from .campaigns import campaign


def should_resign(st, s):
    """ShouldResign(s): the members that the leader reaches, with itself if it is one, are not a majority."""
    me = st.servers[s]
    members = me.config.members
    connected_peers = count(
        connected(st, s, peer)
        and (
            (is_voter(st.servers[peer], peer) and me.current_epoch >= st.servers[peer].current_epoch)
            or is_observer(st.servers[peer], peer)
        )
        for peer in members
    )
    return connected_peers < (len(members) // 2 if s in members else len(members) // 2 + 1)


@spec.action(fair=WEAK)
def check_quorum_resign(st, s: ServerId):
    """CheckQuorumResign(s): a leader without a majority of fetching voters resigns, or any leader within the limit.

    KIP-595 (leader progress timeout). Counts twice when both reasons hold.
    """
    if s not in st.servers or st.servers[s].state != ServerState.LEADER:
        return
    me = st.servers[s]
    with_reason = should_resign(st, s) and not LeadersKeepOffice
    for _ in ways(with_reason, aux_under_disruption_limit(st)):
        resigned = apply_state(me, transition_to_resigned(me, s)).set(
            pending_ack=set(), flwr_end_offset=reset_follower_fetch_state(me.config.members)
        )
        yield st.set(
            servers=st.servers.set(s, resigned),
            inv_neg_acked=fail_any_pending_writes(st, me),
            aux_ctrs=st.aux_ctrs if with_reason else aux_increment_disruptions(st),
        )


@spec.action(fair=WEAK)
def voter_fetch_timeout(st, s: ServerId):
    """VoterFetchTimeout(s): a follower becomes prospective, with a reason or within the limit (KIP-996).

    Counts once per reason and once for the limit.
    """
    if s not in st.servers or not is_voter(st.servers[s], s) or st.servers[s].state != ServerState.FOLLOWER:
        return
    me = st.servers[s]
    for _ in ways(last_fetch_failed(me), pending_fetch_lost(st, me), aux_under_disruption_limit(st)):
        yield campaign(st, s, not fetch_can_timeout(st, me))


def not_enough_votes(st, s, pre_vote):
    """NotEnoughVotes(s, pre_vote): all answers are in or lost, and they make no majority."""
    me = st.servers[s]
    return (
        not has_inflight_vote_req(st, s, pre_vote)
        and not has_inflight_vote_res(st, s, pre_vote)
        and len(me.votes_recv) < majority_count(me.config.members)
        and me.state != ServerState.LEADER
    )


def causal_election_timeout(st, s):
    """CausalElectionTimeout(s): a candidate that cannot win, or any unattached server."""
    state = st.servers[s].state
    cannot_win = state == ServerState.CANDIDATE and not CandidatesWaitForEver and not_enough_votes(st, s, False)
    return cannot_win or state == ServerState.UNATTACHED


def eventual_election_timeout(st, s):
    """EventualElectionTimeout(s): with a reason, or a candidate within the limit. A CASE, so it counts once."""
    return causal_election_timeout(st, s) or (
        aux_under_disruption_limit(st) and st.servers[s].state in {ServerState.CANDIDATE, ServerState.UNATTACHED}
    )


def may_campaign(me, s):
    """IsVoter(s), as a condition of asking for votes."""
    return is_voter(me, s) or (ObserversCampaign and is_observer(me, s))


@spec.action(fair=WEAK)
def voter_election_timeout(st, s: ServerId):
    """VoterElectionTimeout(s): a candidate or unattached voter becomes prospective (KIP-996)."""
    if s not in st.servers or not may_campaign(st.servers[s], s) or not eventual_election_timeout(st, s):
        return
    yield campaign(st, s, not causal_election_timeout(st, s))


@spec.action(fair=WEAK)
def resigned_election_timeout(st, s: ServerId):
    """ResignedElectionTimeout(s): a resigned server becomes unattached in the next epoch (KIP-996)."""
    if s not in st.servers or st.servers[s].state != ServerState.RESIGNED:
        return
    me = st.servers[s]
    epoch = me.current_epoch if ResignedKeepsEpoch else me.current_epoch + 1
    unattached = apply_state(me, transition_to_unattached(me, epoch, None))
    yield st.set(servers=st.servers.set(s, unattached))
