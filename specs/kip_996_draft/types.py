"""KRaft with the draft of pre-vote (KIP-996) and changes of the voter set (KIP-853): constants, messages, the state.

Mirrors kraft_kip_996_types.tla and the variables of network.tla (Vanlightly/kafka-tlaplus, kraft/kip_996, commit
8110081) under their names, in snake_case. README.md says what is left out, and which oddities are kept.
Servers and configurations are those of `../consensus/kip_996/configurations.py`.
"""

from kmc.lang import Bool, Enum, Int, Map, Message, MessageSet, Opt, Pair, PartialMap, Record, Seq, Set, constant

from ..consensus.kip_996.cluster import (
    MaxAddReconfigs,
    MaxConnectivityChanges,
    MaxEpoch,
    MaxRemoveReconfigs,
    MaxRestarts,
    Value,
)
from ..consensus.kip_996.codes import Command, FetchResult
from ..consensus.kip_996.configurations import Config, ConfigCommand, DiskId, Identity, ServerId

MaxCrashes = constant("MaxCrashes", Int(0, 7), "How many servers may crash and lose their disk")
MaxDisconnectedPairs = constant(
    "MaxDisconnectedPairs", Int(0, 63), "How many pairs of servers may be disconnected, those of dead servers included"
)
TestLiveness = constant(
    "TestLiveness", Bool, "Timeouts and resignations happen for a reason only, and epochs have no limit"
)


# Bounds that only kmc needs: a run that exceeds one stops with an error. Without TestLiveness only a candidate raises
# the epoch, up to MaxEpoch; with it, lost votes can raise epochs for ever.
LargestEpoch = constant(
    "LargestEpoch",
    Int(1, 255),
    "The largest epoch that a server or message can hold",
    MaxEpoch + 12 if TestLiveness else MaxEpoch,
)
# A log holds the first configuration, a record of each later leader, each value once, and the reconfigurations.
MaxLogLength = constant(
    "MaxLogLength",
    Int(1, 255),
    "The longest log",
    LargestEpoch + len(Value) + MaxAddReconfigs + MaxRemoveReconfigs,
)

Epoch = Int(0, LargestEpoch)
Offset = Int(0, MaxLogLength)
FetchOffset = Int(0, MaxLogLength + 1)


# A correction, off by default: in the TLA+ text a refused vote is still given.
StaleVoteIsNotGiven = constant(
    "StaleVoteIsNotGiven",
    Bool,
    "An unattached server that refuses a request for its vote does not give it either",
    False,
)


class Role(Enum):
    """Server roles (KIP-853): an observer only keeps a replica of the log."""

    VOTER, OBSERVER = range(2)


class ServerState(Enum):
    """Server states (KIP-595, with KIP-996's Prospective), and two more: dead, and NoIllegalState's."""

    UNATTACHED, FOLLOWER, PROSPECTIVE, CANDIDATE, LEADER, VOTED, RESIGNED, DEAD_NO_STATE, ILLEGAL_STATE = range(9)


class Error(Enum):
    """Errors of responses, and why a reconfiguration is refused."""

    (
        FENCED_LEADER_EPOCH,
        NOT_LEADER,
        UNKNOWN_LEADER,
        UNKNOWN_MEMBER,
        ALREADY_MEMBER,
        RECONFIG_IN_PROGRESS,
        LEADER_NOT_READY,
    ) = range(7)


class Entry(Record):
    """A log entry; a leader's own entry at the start of its epoch has no value."""

    command: Command
    epoch: Epoch
    value: Value | ConfigCommand | None


class RequestVoteRequest(Message):
    """KIP-595, Vote, with KIP-996's PreVote: a prospective or a candidate asks for a vote."""

    epoch: Epoch
    last_log_epoch: Epoch
    last_log_offset: Offset
    pre_vote: Bool
    source: ServerId
    dest: ServerId


class RequestVoteResponse(Message):
    """KIP-595, Vote: the answer; KIP-996 has it say whether it was a pre-vote."""

    epoch: Epoch
    leader: Opt[ServerId]
    vote_granted: Bool
    pre_vote: Bool
    error: Opt[Error]
    source: ServerId
    dest: ServerId


class BeginQuorumEpochRequest(Message):
    """KIP-595, BeginQuorumEpoch: a leader says that it leads."""

    epoch: Epoch
    source: ServerId
    dest: ServerId


class FetchRequest(Message):
    """KIP-595, Fetch: a server asks for the entry at `fetch_offset`, and says whether it is an observer."""

    epoch: Epoch
    fetch_offset: FetchOffset
    last_fetched_epoch: Epoch
    observer: Bool
    source: ServerId
    dest: ServerId


class FetchResponse(Message, abstract=True):
    """KIP-595, Fetch: the fields of all three shapes of the answer. `correlation` is the request that is answered."""

    result: FetchResult
    error: Opt[Error]
    leader: Opt[ServerId]
    epoch: Epoch
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

    pending_fetch: Opt[FetchRequest]
    last_fetch_res: Opt[LastFetchRes]
    has_fetch_success: Bool


class Node(Record):
    """The variables of one started server; `identity` is its element of server_ids. A dead one has no role."""

    identity: Identity
    config: Config
    current_epoch: Epoch
    role: Opt[Role]
    state: ServerState
    voted_for: Opt[ServerId]
    leader: Opt[ServerId]
    fetch_state: FetchState
    pending_ack: Set[Value]
    log: Seq[Entry, MaxLogLength]
    hwm: Offset
    votes_recv: Set[ServerId]
    flwr_end_offset: PartialMap[ServerId, Offset]


class AuxCtrs(Record):
    """Counters that bound the state space; election_ctr stays 0, as upstream."""

    election_ctr: Int(0, 0)
    crash_ctr: Int(0, MaxCrashes)
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
