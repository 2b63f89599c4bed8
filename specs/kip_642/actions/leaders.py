"""Leaders: clients' values, BeginQuorumEpoch, EndQuorumEpoch, and zombie leaders (KIP-595; KIP-642, Discussion)."""

from kmc.lang import count
from kmc.spec import spec

from ...consensus.pull_raft.network import KeepsDelivered
from ...consensus.pull_raft.rules import maybe_transition
from ...consensus.pull_raft.types import MaxElections, Server, ServerState, Value
from ...consensus.quorums import majority_count
from ..assignments import acked_by, appended, demoted, is_observer, is_voter
from ..clusters import wrong_cluster
from ..mutants import ZombiesDoNotAsk
from ..network import discard, is_alive, reaches, reply
from ..readings import ClientsWrite, Reassignment
from ..types import BeginQuorumRequest, BeginQuorumResponse, EndQuorumRequest, Error
from .elections import ELECTION_TIMEOUT_STATES, asking


@spec.action
def client_request(st, i: Server, v: Value):
    """A leader appends a value that was never sent before. KRaft.tla: ClientRequest."""
    me = st.servers[i]
    if not ClientsWrite or me.state != ServerState.LEADER or st.acked[v] is not None or not is_alive(st, i):
        return
    sent = st.set(acked=st.acked.set(v, False))
    leader = appended(st.plan, i, me, v)
    yield sent.set(servers=st.servers.set(i, leader), acked=acked_by(sent, me, leader) if Reassignment else sent.acked)


@spec.receive(BeginQuorumRequest)
def handle_begin_quorum_request(st, m):
    """KIP-595, BeginQuorumEpoch: follow the leader unless the message is stale. KRaft.tla: HandleBeginQuorumRequest.

    A new voter hears of its leader in this way (KIP-642, Quorum Change Protocol, 2); its log says that it is one.
    """
    i, j = m.mdest, m.msource
    me = st.servers[i]
    if m.mepoch < me.current_epoch or wrong_cluster(me, m):
        refusal = BeginQuorumResponse(mepoch=me.current_epoch, msource=i, mdest=j, merror=Error.FENCED_LEADER_EPOCH)
        yield st.set(messages=reply(st, refusal, m) if KeepsDelivered else discard(st.messages, m))
        return
    new = maybe_transition(me, i, m.msource, m.mepoch)
    follower = me.set(state=new.state, leader=new.leader, current_epoch=new.epoch, pending_fetch=None)
    response = BeginQuorumResponse(mepoch=m.mepoch, msource=i, mdest=j, merror=None)
    yield st.set(
        servers=st.servers.set(i, follower),
        messages=reply(st, response, m) if KeepsDelivered else discard(st.messages, m),
    )


@spec.receive(EndQuorumRequest)
def handle_end_quorum_request(st, m):
    """KIP-595, EndQuorumEpoch: a voter becomes a candidate without waiting for its election timeout.

    The order of preferred successors is a matter of time only: each may be the first to act. One that is told to wait
    may lose the message as well, and time out (RequestVote). The answer is left out.
    """
    i = m.mdest
    me = st.servers[i]
    campaigns = (
        m.mepoch == me.current_epoch
        and me.leader == m.msource
        and not wrong_cluster(me, m)
        and is_voter(me, i)
        and me.state in ELECTION_TIMEOUT_STATES
        and st.election_ctr < MaxElections
    )
    if campaigns:
        heard = st.set(messages=discard(st.messages, m))
        yield asking(heard, i, me)
    else:
        yield st.set(messages=discard(st.messages, m))


def is_fetched_from(st, i, k):
    """Server k is, or may be, among those whose fetches reach leader i in its epoch."""
    peer = st.servers[k]
    return k == i or (reaches(st, k, i) and is_alive(st, k) and peer.current_epoch <= st.servers[i].current_epoch)


def hears_no_majority(st, i):
    """No majority of the leader's voters can fetch from it (Replication Progress Timeout for Zombie Leader)."""
    voters = st.servers[i].assignment.current
    return count(is_fetched_from(st, i, k) for k in voters) < majority_count(voters)


@spec.action
def ask_for_newer_leader(st, i: Server, j: Server):
    """Discussion, Zombie Leader: a leader that hears no majority asks any server, and follows a newer leader.

    It becomes an observer, unless the newer quorum has it as a voter. Request and response are one step: a late answer
    tells of an older epoch, as an earlier question does.
    """
    me, peer = st.servers[i], st.servers[j]
    if not Reassignment or i == j or me.state != ServerState.LEADER or ZombiesDoNotAsk:
        return
    if peer.current_epoch <= me.current_epoch or peer.leader is None or peer.leader == i:
        return
    if not is_alive(st, i) or not reaches(st, i, j) or not hears_no_majority(st, i):
        return
    follower = me.set(
        state=ServerState.FOLLOWER, current_epoch=peer.current_epoch, leader=peer.leader, pending_fetch=None
    )
    removed = is_voter(me, i) and is_observer(peer, i) and len(peer.assignment.current) > 0
    yield st.set(servers=st.servers.set(i, demoted(follower, i) if removed else follower))
