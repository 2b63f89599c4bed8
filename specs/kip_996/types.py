"""KRaft with pre-vote (KIP-996) and changes of the voter set (KIP-853): constants, values, messages and the state.

Mirrors kraft_kip_996_types.tla and the variables of network.tla (Vanlightly/kafka-tlaplus, kraft/kip_996, commit
823615e) under their names, in snake_case. README.md says what is left out, and which oddities are kept.
Servers and configurations are those of `../consensus/kip_996/configurations.py`.
"""

from kmc.lang import Bool, Enum, Int, Map, Message, MessageSet, Opt, Pair, PartialMap, Record, Seq, Set, constant
from kmc.spec import spec

from ..consensus.kip_996.cluster import (
    InitClusterSize,
    MaxAddReconfigs,
    MaxConnectivityChanges,
    MaxEpoch,
    MaxRemoveReconfigs,
    MaxRestarts,
    Value,
)
from ..consensus.kip_996.codes import Command, FetchResult
from ..consensus.kip_996.configurations import Config, ConfigCommand, DiskId, Identity, ServerId

MaxDisruptiveElectionTriggers = constant(
    "MaxDisruptiveElectionTriggers", Int(0, 15), "How many timeouts and resignations may happen for no reason"
)
MaxPermCrashes = constant("MaxPermCrashes", Int(0, 7), "How many servers may crash and lose their disk")
TestLiveness = constant("TestLiveness", Bool, "Leave out what keeps the cluster from progress, and the limit of epochs")

CutOffFromFirst = constant(
    "CutOffFromFirst", Int(0, 7), "How many of the first servers, the last of them, never reach the first leader", 0
)
OldServers = constant(
    "OldServers", Int(0, 7), "How many of the first servers, the last of them, have the version without pre-vote", 0
)

spec.assume(OldServers <= InitClusterSize)
spec.assume(CutOffFromFirst < InitClusterSize)

# Bounds that only kmc needs: a run that exceeds one stops with an error. A resigned leader goes to the epoch
# after its own, so without TestLiveness no server passes MaxEpoch + 1; with it, lost votes can raise epochs for ever.
LargestEpoch = constant(
    "LargestEpoch",
    Int(1, 255),
    "The largest epoch that a server or message can hold",
    MaxEpoch + 12 if TestLiveness else MaxEpoch + 1,
)
LargestPrevoteCtr = constant(
    "LargestPrevoteCtr",
    Int(0, 1023),
    "The largest number of timeouts, counted with TestLiveness only",
    127 if TestLiveness else 0,
)
# A log holds the first configuration, a record of each later leader, each value once, and the reconfigurations.
MaxLogLength = constant(
    "MaxLogLength",
    Int(1, 255),
    "The longest log",
    (LargestEpoch if TestLiveness else MaxEpoch) + len(Value) + MaxAddReconfigs + MaxRemoveReconfigs,
)

Epoch = Int(0, LargestEpoch)
Offset = Int(0, MaxLogLength)
FetchOffset = Int(0, MaxLogLength + 1)
VersionsBehind = Int(0, min(OldServers, 1))


class ServerState(Enum):
    """Server states (KIP-996, its table), and two more: dead, and the one that NoIllegalState rules out."""

    UNATTACHED, FOLLOWER, PROSPECTIVE, CANDIDATE, LEADER, RESIGNED, DEAD_NO_STATE, ILLEGAL_STATE = range(8)


class Error(Enum):
    """Errors of responses, and why a reconfiguration is refused; INVALID_REQUEST never occurs."""

    (
        FENCED_LEADER_EPOCH,
        NOT_LEADER,
        UNKNOWN_LEADER,
        INVALID_REQUEST,
        UNKNOWN_MEMBER,
        ALREADY_MEMBER,
        RECONFIG_IN_PROGRESS,
        LEADER_NOT_READY,
    ) = range(8)


class Entry(Record):
    """A log entry; a leader's own entry at the start of its epoch has no value."""

    command: Command
    epoch: Epoch
    value: Value | ConfigCommand | None


class RequestVoteRequest(Message):
    """KIP-595, Vote, with KIP-996's PreVote: a prospective or a candidate asks for a vote."""

    replica_epoch: Epoch
    last_log_epoch: Epoch
    last_log_offset: Offset
    pre_vote: Bool
    source: ServerId
    dest: ServerId


class RequestVoteResponse(Message):
    """KIP-595, Vote: the answer; KIP-996 has it say whether it was a pre-vote."""

    replica_epoch: Epoch
    leader: Opt[ServerId]
    vote_granted: Bool
    pre_vote: Bool
    error: Opt[Error]
    source: ServerId
    dest: ServerId


class BeginQuorumEpochRequest(Message, abstract=True):
    """KIP-595, BeginQuorumEpoch: a leader says that it leads."""

    replica_epoch: Epoch
    source: ServerId
    dest: ServerId


class BeginQuorumEpochRequestToVoter(BeginQuorumEpochRequest):
    """To a voter of the configuration, for the first time or again."""

    resend: Bool


class BeginQuorumEpochRequestToNewVoter(BeginQuorumEpochRequest):
    """To a voter just added: TLA+ leaves `resend` out, so it never equals the other shape."""


class FetchRequest(Message, abstract=True):
    """KIP-595, Fetch: a server asks for the entry at `fetch_offset`."""

    replica_epoch: Epoch
    fetch_offset: FetchOffset
    last_fetched_epoch: Epoch
    source: ServerId
    dest: ServerId


class FetchRequestFromServer(FetchRequest):
    """Of a voter or an observer that has a log."""


class FetchRequestFromNewServer(FetchRequest):
    """The first fetch of a server that starts; `observer` is never read."""

    observer: Bool


class FetchResponse(Message, abstract=True):
    """KIP-595, Fetch: the fields of all three shapes of the answer. `correlation` is the request that is answered."""

    result: FetchResult
    error: Opt[Error]
    leader: Opt[ServerId]
    replica_epoch: Epoch
    hwm: Offset
    source: ServerId
    dest: ServerId
    correlation: FetchRequest


class FetchResponseOk(FetchResponse):
    """At most one entry."""

    entries: Seq[Entry, 1]


class FetchResponseNotOk(FetchResponse):
    """An error; nothing more."""


class FetchResponseDiverging(FetchResponse):
    """Where the follower must truncate to; the offset is the one after the last common entry."""

    diverging_epoch: Epoch
    diverging_end_offset: FetchOffset


class LastFetchRes(Record):
    """Who answered the last fetch, and with which error."""

    peer: ServerId
    error: Opt[Error]


class FetchState(Record):
    """A follower's fetching; `has_fetch_success` decides whether it grants pre-votes (KIP-996)."""

    pending_fetch: Opt[FetchRequestFromServer]
    last_fetch_res: Opt[LastFetchRes]
    has_fetch_success: Bool


class Node(Record):
    """The variables of one started server; `identity` is its element of server_ids, `versions_behind` is kmc's own."""

    identity: Identity
    config: Config
    current_epoch: Epoch
    state: ServerState
    voted_for: Opt[ServerId]
    leader: Opt[ServerId]
    fetch_state: FetchState
    pending_ack: Set[Value]
    log: Seq[Entry, MaxLogLength]
    hwm: Offset
    votes_recv: Set[ServerId]
    flwr_end_offset: PartialMap[ServerId, Offset]
    versions_behind: VersionsBehind


class AuxCtrs(Record):
    """Counters that bound the state space; election_ctr stays 0, as upstream."""

    prevote_ctr: Int(0, LargestPrevoteCtr)
    election_ctr: Int(0, 0)
    disruptive_ctr: Int(0, MaxDisruptiveElectionTriggers)
    crash_ctr: Int(0, MaxPermCrashes)
    restart_ctr: Int(0, MaxRestarts)
    add_reconfig_ctr: Int(0, MaxAddReconfigs)
    remove_reconfig_ctr: Int(0, MaxRemoveReconfigs)


class State(Record):
    """All variables; those that are functions of a started server are fields of `servers`."""

    net_messages: MessageSet[
        RequestVoteRequest | RequestVoteResponse | BeginQuorumEpochRequest | FetchRequest | FetchResponse
    ]
    net_messages_processed: MessageSet[
        RequestVoteRequest | RequestVoteResponse | BeginQuorumEpochRequest | FetchRequest | FetchResponse
    ]
    net_connectivity: Map[Pair[ServerId], Bool]
    net_connectivity_ctr: Int(0, MaxConnectivityChanges)
    servers: PartialMap[ServerId, Node]
    inv_sent: Set[Value]
    inv_pos_acked: Set[Value]
    inv_neg_acked: Set[Value]
    aux_ctrs: AuxCtrs
    aux_disk_id_gen: DiskId


class Transition(Record):
    """What a transition helper decides about a server."""

    state: ServerState
    epoch: Epoch
    leader: Opt[ServerId]
    votes_recv: Set[ServerId]
    voted_for: Opt[ServerId]


class CommonResponse(Record):
    """A transition, and whether the response is thereby handled; without TLA+'s `error`, which is never read."""

    transition: Transition
    handled: Bool
