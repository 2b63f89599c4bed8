"""Specifications with different fairness, and temporal properties beside upstream's ValuesNotStuck.

`Spec` and `LivenessSpec` are those of KRaft.tla. The others show which fairness a property needs.
"""

from kmc.spec import (
    NEXT,
    and_,
    eventually,
    eventually_always,
    for_all,
    leads_to,
    or_,
    spec,
    weak_fairness,
)

from ..consensus.logs import has_value
from ..consensus.pull_raft.types import MaxElections, Server, ServerState, Value
from .actions import (
    accept_fetch_request,
    become_leader,
    client_request,
    diverging_fetch_request,
    handle_begin_quorum_request,
    handle_diverging_fetch_response,
    handle_error_fetch_response,
    handle_request_vote_request,
    handle_request_vote_response,
    handle_success_fetch_response,
    is_pending,
    reject_fetch_request,
    request_vote,
    send_fetch_request,
)
from .end_quorum import handle_end_quorum_request
from .observers import is_voter
from .types import FetchRequest, FetchResponse


def elections():
    """Servers ask for votes, and lead when they have enough."""
    return for_all(Server, lambda i: and_(weak_fairness(request_vote, i), weak_fairness(become_leader, i)))


def votes():
    """What an election sends is handled."""
    return and_(
        weak_fairness(handle_request_vote_request),
        weak_fairness(handle_request_vote_response),
        weak_fairness(handle_begin_quorum_request),
    )


def fetches():
    """Each pair of servers fetches, and each way of answering is fair."""
    return and_(
        for_all(Server, lambda i: for_all(Server, lambda j: weak_fairness(send_fetch_request, i, j))),
        weak_fairness(reject_fetch_request),
        weak_fairness(diverging_fetch_request),
        weak_fairness(accept_fetch_request),
    )


def answers():
    """The answers to fetches are handled."""
    return and_(
        weak_fairness(handle_success_fetch_response),
        weak_fairness(handle_diverging_fetch_response),
        weak_fairness(handle_error_fetch_response),
    )


@spec.specification
def Spec():
    """No fairness: anything may stop for ever."""
    return True


@spec.specification
def LivenessSpec():
    """Something happens as long as something can."""
    return weak_fairness(NEXT)


@spec.specification
def SAll():
    """Fairness of each action but the clients', per server or pair where the action names them."""
    return and_(elections(), votes(), fetches(), answers())


@spec.specification
def SClient():
    """SAll, and clients send."""
    return and_(SAll(), for_all(Server, lambda i: for_all(Value, lambda v: weak_fairness(client_request, i, v))))


@spec.specification
def SEndQuorum():
    """SAll, and every EndQuorumEpoch request is handled when the backoff of its rank is over (KIP-595)."""
    return and_(SAll(), weak_fairness(handle_end_quorum_request))


def is_handled(st, new, kind, i, j):
    """The step handles a message of this kind from server i to server j."""
    return any(m.msource == i and m.mdest == j and m not in new.messages for m in st.messages.of(kind))


def is_handled_for_observer(st, new, kind, i, j):
    """The same, where the two servers are not both voters."""
    return not (is_voter(st, i) and is_voter(st, j)) and is_handled(st, new, kind, i, j)


def handled_for_each_pair(kind, handlers, handles):
    """A message of this kind between two servers is handled, whatever else is in flight, if `handles` names them."""
    return for_all(
        Server,
        lambda i: for_all(
            Server,
            lambda j: weak_fairness(and_(handlers, lambda st, new: handles(st, new, kind, i, j))),
        ),
    )


def fetches_of_each_pair(handles):
    """Every request and response of a fetch between two servers that `handles` names is handled."""
    requests = or_(reject_fetch_request, diverging_fetch_request, accept_fetch_request)
    responses = or_(handle_success_fetch_response, handle_diverging_fetch_response, handle_error_fetch_response)
    return and_(
        handled_for_each_pair(FetchRequest, requests, handles),
        handled_for_each_pair(FetchResponse, responses, handles),
    )


@spec.specification
def SObserver():
    """SAll, and what observers send and get is handled, even if voters fetch for ever."""
    return and_(SAll(), fetches_of_each_pair(is_handled_for_observer))


@spec.specification
def SEachPair():
    """SAll, and what two servers send each other in a fetch is handled, even if others fetch for ever."""
    return and_(SAll(), fetches_of_each_pair(is_handled))


@spec.specification
def SNoFetch():
    """SAll, but no server need fetch."""
    return and_(elections(), votes(), answers())


@spec.specification
def SNoElect():
    """SAll, but no server need stand for election."""
    return and_(votes(), fetches(), answers())


@spec.specification
def SOnePair():
    """SAll, but some pair fetches, no matter which, and a diverging fetch need not be answered."""
    return and_(
        elections(),
        votes(),
        answers(),
        weak_fairness(send_fetch_request),
        weak_fairness(accept_fetch_request),
        weak_fairness(reject_fetch_request),
    )


def some_leader(st):
    """Some server leads."""
    return any(st.servers[i].state == ServerState.LEADER for i in Server)


def is_acked(acked):
    """acked[v] = TRUE."""
    return acked is not None and acked


@spec.liveness
def SomeLeader():
    """Some server leads at some time."""
    return eventually(some_leader)


@spec.liveness
def ResignedIsSucceeded():
    """Some server leads again after a leader resigned (KIP-595, EndQuorumEpoch)."""
    return for_all(Server, lambda i: leads_to(lambda st: st.servers[i].state == ServerState.RESIGNED, some_leader))


@spec.liveness
def CandidateEnds():
    """No server is a candidate for ever."""
    return for_all(
        Server,
        lambda i: leads_to(
            lambda st: st.servers[i].state == ServerState.CANDIDATE,
            lambda st: st.servers[i].state != ServerState.CANDIDATE,
        ),
    )


@spec.liveness
def AskedIsAcked():
    """A value that was sent is acknowledged."""
    return for_all(Value, lambda v: leads_to(lambda st: is_pending(st.acked[v]), lambda st: is_acked(st.acked[v])))


@spec.liveness
def HeldIsAcked():
    """A leader that has a value commits it, unless it leads no more (KIP-595, Vote Response Handling 3)."""
    return for_all(
        Server,
        lambda i: for_all(
            Value,
            lambda v: leads_to(
                lambda st: (
                    st.servers[i].state == ServerState.LEADER
                    and is_pending(st.acked[v])
                    and has_value(st.servers[i].log, v)
                ),
                lambda st: is_acked(st.acked[v]) or st.servers[i].state != ServerState.LEADER,
            ),
        ),
    )


@spec.liveness
def ObserversCatchUp():
    """An observer gets every committed value (KIP-595, Fetch)."""
    return for_all(
        Server,
        lambda i: for_all(
            Value,
            lambda v: leads_to(
                lambda st: is_acked(st.acked[v]),
                lambda st: is_voter(st, i) or has_value(st.servers[i].log, v),
            ),
        ),
    )


@spec.liveness
def FollowersCatchUp():
    """A follower of the leader of its epoch gets every acknowledged value (KIP-595, Fetch, divergence)."""
    return for_all(
        Server,
        lambda i: for_all(
            Value,
            lambda v: leads_to(
                lambda st: is_acked(st.acked[v]) and follows_leader(st, i),
                lambda st: has_value(st.servers[i].log, v) or not follows_leader(st, i),
            ),
        ),
    )


def follows_leader(st, i):
    """Server i follows a leader of its epoch."""
    me = st.servers[i]
    return me.state == ServerState.FOLLOWER and any(
        other.state == ServerState.LEADER and other.current_epoch == me.current_epoch for other in st.servers.values()
    )


@spec.liveness
def AckedOrSpent():
    """A value that was sent is acknowledged, unless all elections are used up."""
    return for_all(
        Value,
        lambda v: leads_to(
            lambda st: is_pending(st.acked[v]),
            lambda st: is_acked(st.acked[v]) or st.election_ctr == MaxElections,
        ),
    )


@spec.liveness
def LeaderIsKnown():
    """All servers learn of a leader, unless it leads no more."""
    return for_all(
        Server,
        lambda i: leads_to(
            lambda st: st.servers[i].state == ServerState.LEADER,
            lambda st: st.servers[i].state != ServerState.LEADER or all(st.servers[j].leader == i for j in Server),
        ),
    )


@spec.liveness
def LeaderForEver():
    """From some time on there is always a leader."""
    return eventually_always(some_leader)


@spec.liveness
def Quiet():
    """From some time on no fetch is pending."""
    return eventually_always(lambda st: all(st.servers[i].pending_fetch is None for i in Server))
