"""What a server does that asks for pre-votes, or for votes: its state and its requests (KIP-996; KIP-595, Vote)."""

from kmc.lang import require

from ...consensus.kip_996.rules import apply_state
from ...consensus.logs import last_epoch
from ..functions import (
    aux_inc_timeout_ctrs,
    blank_fetch_state,
    transition_to_candidate,
    transition_to_prospective,
    within_epoch_limit,
)
from ..mutants import StandsInItsEpoch
from ..network import send_all
from ..types import RequestVoteRequest, RequestVoteResponse
from ..versions import all_know_pre_vote, knows_pre_vote


def vote_request(me, s, peer, epoch, pre_vote):
    """The request of server s to a peer."""
    return RequestVoteRequest(
        replica_epoch=epoch,
        last_log_epoch=last_epoch(me.log),
        last_log_offset=len(me.log),
        pre_vote=pre_vote,
        source=s,
        dest=peer,
    )


def answer_for_an_old_version(me, s, peer):
    """What the network client of server s answers in place of a peer without pre-vote (KIP-996, Compatibility)."""
    return RequestVoteResponse(
        replica_epoch=me.current_epoch,
        leader=None,
        vote_granted=False,
        pre_vote=False,
        error=None,
        source=peer,
        dest=s,
    )


def send_vote_requests(st, s, epoch, pre_vote):
    """SendPreVoteRequests(s), and the requests of ConcludePreVote: to all other voters of its configuration."""
    me = st.servers[s]
    if not pre_vote or all_know_pre_vote(st, me.config.members):
        return send_all(st, {vote_request(me, s, peer, epoch, pre_vote) for peer in me.config.members if peer != s})
    requests = {
        vote_request(me, s, peer, epoch, True)
        for peer in me.config.members
        if peer != s and knows_pre_vote(st.servers[peer])
    }
    answers = {
        answer_for_an_old_version(me, s, peer)
        for peer in me.config.members
        if peer != s and not knows_pre_vote(st.servers[peer])
    }
    return send_all(send_all(st, requests), answers)


def stand(st, s):
    """Server s becomes a candidate of the next epoch, and asks for votes (KIP-595, Vote)."""
    me = st.servers[s]
    candidate = transition_to_candidate(me, s)
    return send_vote_requests(st, s, candidate.epoch, False).set(servers=st.servers.set(s, apply_state(me, candidate)))


def stand_as_told(st, s):
    """What a prospective does that hears of an old version: it stands at once (KIP-996, Vote Response Handling)."""
    me = st.servers[s]
    require(within_epoch_limit(me))
    if not StandsInItsEpoch:
        return stand(st, s)
    candidate = transition_to_candidate(me, s).set(epoch=me.current_epoch)
    return send_vote_requests(st, s, me.current_epoch, False).set(servers=st.servers.set(s, apply_state(me, candidate)))


def campaign(st, s, is_disruptive):
    """What both timeouts of a voter do: Prospective in the same epoch, and pre-vote requests (KIP-996).

    A server of the version before becomes a candidate.
    """
    me = st.servers[s]
    counted = st.set(aux_ctrs=aux_inc_timeout_ctrs(st, is_disruptive))
    if not knows_pre_vote(me):
        require(within_epoch_limit(me))
        fetches_no_more = me.set(fetch_state=blank_fetch_state())
        return stand(counted.set(servers=st.servers.set(s, fetches_no_more)), s)
    node = apply_state(me, transition_to_prospective(me, s, me.current_epoch)).set(fetch_state=blank_fetch_state())
    return send_vote_requests(counted, s, me.current_epoch, True).set(servers=st.servers.set(s, node))
