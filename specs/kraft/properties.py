"""Invariants, views, symmetry, reachable properties and the TLA+ variables of KRaft.tla."""

from kmc.lang import subsets
from kmc.spec import always_eventually, spec

from ..consensus.pull_raft.types import MaxElections, Server, ServerState, Value
from ..consensus.quorums import majority_count
from .observers import voters

spec.symmetry("symmServers", Server)
spec.symmetry("symmValues", Value)
spec.view("view", drop=["election_ctr", "restart_ctr"])

spec.variables(
    {
        "messages": "messages",
        "acked": "acked",
        "electionCtr": "election_ctr",
        "restartCtr": "restart_ctr",
        "currentEpoch": "servers[].current_epoch",
        "state": "servers[].state",
        "votedFor": "servers[].voted_for",
        "leader": "servers[].leader",
        "pendingFetch": "servers[].pending_fetch",
        "votesGranted": "servers[].votes_granted",
        "endOffset": "servers[].end_offset",
        "log": "servers[].log",
        "highWatermark": "servers[].high_watermark",
        "observes": "servers[].observes?",
    },
    fields="camelCase",
    message_tag="mtype",
)
spec.columns(
    {"state": "state", "epoch": "currentEpoch", "leader": "leader", "log end": "log", "high watermark": "highWatermark"}
)


def value_in_server_log(st, i, v):
    """ValueInServerLog(i, v)."""
    return any(entry.value == v for entry in st.servers[i].log)


@spec.invariant
def NoIllegalState(st):
    """No server is in the state that stands for a transition that must not happen."""
    return all(st.servers[i].state != ServerState.ILLEGAL_STATE for i in Server)


@spec.invariant
def NoLogDivergence(st):
    """Up to the lower of their high watermarks, two logs are equal."""
    return all(
        logs_agree(
            st.servers[s1].log, st.servers[s2].log, min(st.servers[s1].high_watermark, st.servers[s2].high_watermark)
        )
        for s1 in Server
        for s2 in Server
        if s1 != s2
    )


def logs_agree(log1, log2, offset_max):
    """The logs have equal entries at 1..offset_max."""
    return all(log1.at(offset) == log2.at(offset) for offset in range(1, offset_max + 1))


@spec.invariant
def NeverTwoLeadersInSameEpoch(st):
    """Two servers of one epoch do not believe in different leaders."""
    return not any(
        st.servers[i].leader is not None
        and st.servers[j].leader is not None
        and st.servers[i].leader != st.servers[j].leader
        and st.servers[i].current_epoch == st.servers[j].current_epoch
        for i in Server
        for j in Server
    )


def is_newest_leader(st, i):
    """Server i is a leader, and no server is in a later epoch."""
    return st.servers[i].state == ServerState.LEADER and not any(
        st.servers[other].current_epoch > st.servers[i].current_epoch for other in Server if other != i
    )


@spec.invariant
def LeaderHasAllAckedValues(st):
    """The newest leader has every value that was acknowledged."""
    return all(
        value_in_server_log(st, i, v)
        for v in Value
        if st.acked[v] is not None and st.acked[v]
        for i in Server
        if is_newest_leader(st, i)
    )


@spec.invariant
def CommittedEntriesReachMajority(st):
    """If a leader has committed anything, some leader's last committed entry is on a majority that includes it."""
    committed = {i for i in Server if st.servers[i].state == ServerState.LEADER and st.servers[i].high_watermark > 0}
    return len(committed) == 0 or any(
        len(quorum) == majority_count(voters(st)) and i in quorum and all(has_committed_entry(st, j, i) for j in quorum)
        for i in committed
        for quorum in subsets(voters(st))
    )


def has_committed_entry(st, j, i):
    """Server j has the entry at the high watermark of server i."""
    offset = st.servers[i].high_watermark
    log = st.servers[j].log
    return len(log) >= offset and log.at(offset) == st.servers[i].log.at(offset)


@spec.invariant
def TestInv(st):
    """TRUE: for debugging, as upstream."""
    return True


def value_all_or_nothing(st, v):
    """ValueAllOrNothing(v): on every log or on none, unless the last election has failed."""
    if st.election_ctr == MaxElections and not any(st.servers[i].state == ServerState.LEADER for i in Server):
        return True
    return all(value_in_server_log(st, i, v) for i in Server) or not any(value_in_server_log(st, i, v) for i in Server)


@spec.reachable
def a_leader_is_elected(st):
    """Some server leads."""
    return any(st.servers[i].state == ServerState.LEADER for i in Server)


@spec.reachable
def a_value_is_acknowledged(st):
    """Some value was replicated to a majority and acknowledged."""
    return any(st.acked[v] is not None and st.acked[v] for v in Value)


@spec.liveness
def ValuesNotStuck():
    """Infinitely often, each value is on all logs or on none."""
    return always_eventually(lambda st: all(value_all_or_nothing(st, v) for v in Value))
