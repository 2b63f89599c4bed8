"""Messages and connectivity (network.tla): messages in flight, messages processed, and which pairs are connected.

A helper that assigns the network's variables in TLA+ takes the state and returns it with them changed. It reads the
state that it is given, so an action passes the old one and sets its other variables on the result.
"""

from kmc.lang import count, pair, pairs, product, require

from ..consensus.kip_996.configurations import ServerId
from ..consensus.kip_996.network import discard, drop
from .types import BeginQuorumEpochRequest, FetchResponse, MaxDisconnectedPairs, RequestVoteRequest, RequestVoteResponse


def all_connected():
    """NetworkInit(servers): every pair that can ever exist is connected."""
    return {p: True for p in pairs(ServerId)}


def disconnected(st):
    """The pairs that DisconnectedCount(net_connectivity) counts."""
    return {p for p in st.net_connectivity if not st.net_connectivity[p]}


def pairs_of_dead(st, dead_servers):
    """The pairs that IncludesAllDead(dead_servers, disconnected_pairs) wants disconnected: those with a dead server."""
    return {p for p in st.net_connectivity if len(p & dead_servers) > 0}


def within_disconnected_limit(st, disconnected_pairs):
    """At most MaxDisconnectedPairs, or fewer than now where there are more than that already."""
    now = len(disconnected(st))
    if now > MaxDisconnectedPairs:
        return len(disconnected_pairs) < now
    return len(disconnected_pairs) <= MaxDisconnectedPairs


def ways_to_include_dead(dead_servers, disconnected_pairs):
    """WholeCohortInPairs(servers, pairs), in how many ways: one per choice of a pair for each dead server."""
    return product(count(s in p for p in disconnected_pairs) for s in dead_servers)


def ways_to_differ(st, disconnected_pairs):
    """In how many ways the choice differs from what is disconnected now: one per new pair if the number is equal."""
    if len(disconnected_pairs) != len(disconnected(st)):
        return 1
    return count(st.net_connectivity[p] for p in disconnected_pairs)


def change_connectivity(st, disconnected_pairs):
    """What ChangeConnectivity does: messages between servers that are not connected any more are lost."""
    return drop(st, lambda m: pair(m.source, m.dest) in disconnected_pairs).set(
        net_connectivity={p: p not in disconnected_pairs for p in st.net_connectivity},
        net_connectivity_ctr=st.net_connectivity_ctr + 1,
    )


def connected(st, s1, s2):
    """Connected(s1, s2): a server is connected to itself."""
    return s1 == s2 or st.net_connectivity[pair(s1, s2)]


def connected_servers(st, target, servers):
    """ConnectedServers(target, servers): the target, and how many others of the servers it is connected to."""
    return 1 + count(s != target and connected(st, s, target) for s in servers)


def disconnect_dead_server(st, dead_server):
    """DisconnectDeadServer(dead_server): only within MaxDisconnectedPairs; not counted as a change of connectivity."""
    cut_off = disconnected(st) | {p for p in st.net_connectivity if dead_server in p}
    require(len(cut_off) <= MaxDisconnectedPairs)
    return drop(st, lambda m: m.source == dead_server or m.dest == dead_server).set(
        net_connectivity={p: p not in cut_off for p in st.net_connectivity}
    )


def send(st, m):
    """Send(m): the message is lost if its ends are not connected."""
    return send_all(st, {m})


def send_all(st, msgs):
    """SendAll(msgs)."""
    return st.set(net_messages=st.net_messages.send_all({m for m in msgs if connected(st, m.dest, m.source)}))


def send_all_once(st, msgs):
    """SendAllOnce(msgs): only if none of them is on its way or was processed; one that was lost may be sent again."""
    require(not any(m in st.net_messages or m in st.net_messages_processed for m in msgs))
    return send_all(st, msgs)


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


def inflight_or_processed(st, source, dest):
    """InflightOrProcessed(source, dest, BeginQuorumEpochRequest), of any epoch: on its way, or processed."""
    return any(m.source == source and m.dest == dest for m in st.net_messages.of(BeginQuorumEpochRequest)) or any(
        m.source == source and m.dest == dest for m in st.net_messages_processed.of(BeginQuorumEpochRequest)
    )


def request_or_res_lost(st, req):
    """RequestOrResLost(req, FetchResponse): neither the request nor an answer to it is on its way."""
    return req not in st.net_messages and not any(res.correlation == req for res in st.net_messages.of(FetchResponse))
