"""Messages and connectivity (network.tla): messages in flight, messages processed, and which pairs are connected.

A helper that assigns the network's variables in TLA+ takes the state and returns it with them changed. It reads the
state that it is given, so an action passes the old one and sets its other variables on the result.
"""

from kmc.lang import count, pair, require, subsets

from ..consensus.kip_996.network import discard, drop
from .types import BeginQuorumEpochRequest, FetchResponse, RequestVoteRequest, RequestVoteResponse


def new_connected_pairs(st, dead):
    """NewConnectedPairs, without the choices that connect a dead server."""
    return subsets({p for p in st.net_connectivity if len(p & dead) == 0})


def change_connectivity(st, connected_pairs):
    """ChangeConnectivity(connected): messages between servers that are not connected any more are lost."""
    return drop(st, lambda m: pair(m.source, m.dest) not in connected_pairs).set(
        net_connectivity={p: p in connected_pairs for p in st.net_connectivity},
        net_connectivity_ctr=st.net_connectivity_ctr + 1,
    )


def connected(st, s1, s2):
    """Connected(s1, s2)."""
    return s1 != s2 and st.net_connectivity[pair(s1, s2)]


def num_connections(st, target, servers):
    """NumConnections(target, servers): how many of the servers the target is connected to."""
    return count(connected(st, s, target) for s in servers)


def connected_pairs_without_server(st, s):
    """ConnectedPairsWithoutServer(s)."""
    return {p for p in st.net_connectivity if s not in p and st.net_connectivity[p]}


def disconnect_server(st, server):
    """DisconnectServer(server): its messages are lost; not counted as a change of connectivity."""
    return drop(st, lambda m: m.source == server or m.dest == server).set(
        net_connectivity={p: server not in p and st.net_connectivity[p] for p in st.net_connectivity}
    )


def send(st, m):
    """Send(m): the message is lost if its ends are not connected."""
    return send_all(st, {m})


def send_all(st, msgs):
    """SendAll(msgs), and SendAllOnce(msgs), which in this version does the same."""
    return st.set(net_messages=st.net_messages.send_all({m for m in msgs if connected(st, m.dest, m.source)}))


def reply(st, d, m):
    """Reply(d, m): d has been processed, and m is sent; only if the ends are connected."""
    require(connected(st, m.dest, m.source))
    require(d in st.net_messages)
    processed = discard(st, d)
    return processed.set(net_messages=processed.net_messages.send(m))


def has_inflight_vote_req(st, s, pre_vote):
    """HasInflightVoteReq(s, RequestVoteRequest, pre_vote): a request of server s is on its way."""
    return any(m.pre_vote == pre_vote and m.source == s for m in st.net_messages.of(RequestVoteRequest))


def has_inflight_vote_res(st, s, pre_vote):
    """HasInflightVoteRes(s, RequestVoteResponse, pre_vote): an answer to server s is on its way."""
    return any(m.pre_vote == pre_vote and m.dest == s for m in st.net_messages.of(RequestVoteResponse))


def is_begin_quorum(m, source, dest, epoch):
    """The message tells dest that source leads this epoch."""
    return m.replica_epoch == epoch and m.source == source and m.dest == dest


def not_lost_req_with_replica_epoch(st, source, dest, epoch):
    """NotLostReqWithReplicaEpoch(source, dest, BeginQuorumEpochRequest, epoch): on its way, or processed."""
    return any(is_begin_quorum(m, source, dest, epoch) for m in st.net_messages.of(BeginQuorumEpochRequest)) or any(
        is_begin_quorum(m, source, dest, epoch) for m in st.net_messages_processed.of(BeginQuorumEpochRequest)
    )


def fetch_request_or_res_lost(st, req):
    """FetchRequestOrResLost(req, FetchResponse): neither the request nor an answer to it is on its way."""
    return req not in st.net_messages and not any(res.correlation == req for res in st.net_messages.of(FetchResponse))
