"""Constants, values, messages and the state of KRaft as KIP-595 describes it.

Mirrors KRaft.tla (Vanlightly/raft-tlaplus, specifications/pull-raft, commit 69ad9d6) under its names, in snake_case.
Not modelled there or here: BeginQuorumResponse handling, snapshots; retries are implicit, because a message in the bag
stays deliverable until it is handled. Parts of KIP-595 that KRaft.tla leaves out are off by default: EndQuorum,
LeaderChangeRecords, Observers.
"""

from kmc.lang import Bool, Enum, Int, Map, Message, MessageBag, MessageSet, Opt, Record, Seq, Set, constant

from ..consensus.pull_raft.network import KeepsDelivered
from ..consensus.pull_raft.types import Epoch, FetchResult, MaxElections, MaxRestarts, Server, ServerState, Value

LeaderChangeRecords = constant(
    "LeaderChangeRecords",
    Bool,
    "A new leader appends a LeaderChangeMessage (KIP-595, Vote Response Handling 3); in KRaft.tla it does not",
    False,
)
StartsElected = constant(
    "StartsElected", Bool, "The first server leads epoch 1 at the start, and the others follow it", False
)
OldFetchesPass = constant(
    "OldFetchesPass",
    Bool,
    "A leader takes a fetch of an older epoch, which KIP-595 refuses (Fetch Request Handling 1)",
    False,
)

Observers = constant(
    "Observers",
    Int(0, 7),
    "How many of the servers, the last of them, are observers: they fetch, and never vote or stand (KIP-595, Fetch)",
    0,
)

# A bound that only kmc needs: a log holds each value once, and a record of each leader.
MaxLogLength = constant(
    "MaxLogLength",
    Int(1, 63),
    "The longest log",
    len(Value) + (MaxElections + (1 if StartsElected else 0) if LeaderChangeRecords else 0),
)

Offset = Int(0, MaxLogLength)


class Successors(Enum):
    """When a successor that EndQuorumEpoch names stands for election: a leader may resign in all but the first."""

    NEVER, IN_ANY_ORDER, BY_RANK, IN_TIME = range(4)


EndQuorum = constant(
    "EndQuorum",
    Successors,
    "A leader may resign by EndQuorumEpoch. Its successors stand in any order, or by rank, or by rank with messages "
    "in time (KIP-595, EndQuorumEpoch); never: no leader resigns, as in KRaft.tla",
    Successors.NEVER,
)
FirstByTimeout = constant(
    "FirstByTimeout",
    Int(0, 12),
    "How many of the first elections timeouts start; EndQuorumEpoch starts the others",
    MaxElections,
)


class Error(Enum):
    """Errors of responses."""

    FENCED_LEADER_EPOCH, NOT_LEADER, UNKNOWN_LEADER = range(3)


class Entry(Record):
    """A log entry: a client's value, or with LeaderChangeRecords None, a LeaderChangeMessage."""

    epoch: Epoch
    value: Opt[Value] if LeaderChangeRecords else Value


class RequestVoteRequest(Message, source="msource", dest="mdest"):
    """KIP-595, Vote: a candidate asks for a vote."""

    mepoch: Epoch
    mlast_log_epoch: Epoch
    mlast_log_offset: Offset
    msource: Server
    mdest: Server


class RequestVoteResponse(Message, source="msource", dest="mdest"):
    """KIP-595, Vote: the answer."""

    mepoch: Epoch
    mleader: Opt[Server]
    mvote_granted: Bool
    merror: Opt[Error]
    msource: Server
    mdest: Server


class BeginQuorumRequest(Message, source="msource", dest="mdest"):
    """KIP-595, BeginQuorumEpoch: a new leader tells its peers."""

    mepoch: Epoch
    msource: Server
    mdest: Server


class BeginQuorumResponse(Message, source="msource", dest="mdest"):
    """KIP-595, BeginQuorumEpoch: the answer, which is never handled."""

    mepoch: Epoch
    msource: Server
    mdest: Server
    merror: Opt[Error]


class EndQuorumRequest(Message, source="msource", dest="mdest"):
    """KIP-595, EndQuorumEpoch: a leader resigns; `mrank` is the receiver's place in the list of successors.

    A handled request of the first successor is remembered, since PreferredIsElectedFirst asks who was preferred.
    """

    mepoch: Epoch
    mrank: Int(0, 2)
    mhandled: Bool
    msource: Server
    mdest: Server


class FetchRequest(Message, source="msource", dest="mdest"):
    """KIP-595, Fetch: a follower asks for the entry after `mfetch_offset`."""

    mepoch: Epoch
    mfetch_offset: Offset
    mlast_fetched_epoch: Epoch
    msource: Server
    mdest: Server


class FetchResponse(Message, abstract=True, source="msource", dest="mdest"):
    """KIP-595, Fetch: the fields of all three shapes of the answer. `correlation` is the request that is answered."""

    mresult: FetchResult
    merror: Opt[Error]
    mleader: Opt[Server]
    mepoch: Epoch
    mhwm: Offset
    msource: Server
    mdest: Server
    correlation: FetchRequest


class FetchResponseOk(FetchResponse):
    """At most one entry."""

    mentries: Seq[Entry, 1]


class FetchResponseNotOk(FetchResponse):
    """An error; nothing more."""


class FetchResponseDiverging(FetchResponse):
    """Where the follower must truncate to."""

    mdiverging_epoch: Epoch
    mdiverging_end_offset: Offset


class Node(Record):
    """The variables of one server; `observes` is 1 for an observer, and kmc's own."""

    current_epoch: Epoch
    state: ServerState
    voted_for: Opt[Server]
    leader: Opt[Server]
    pending_fetch: Opt[FetchRequest]
    votes_granted: Set[Server]
    end_offset: Map[Server, Offset]
    log: Seq[Entry, MaxLogLength]
    high_watermark: Offset
    observes: Int(0, min(Observers, 1))


class State(Record):
    """The variables of KRaft.tla; those that are functions of a server are fields of `servers`."""

    messages: (
        MessageBag[
            RequestVoteRequest
            | RequestVoteResponse
            | BeginQuorumRequest
            | BeginQuorumResponse
            | EndQuorumRequest
            | FetchRequest
            | FetchResponse
        ]
        if KeepsDelivered
        else MessageSet[
            RequestVoteRequest
            | RequestVoteResponse
            | BeginQuorumRequest
            | EndQuorumRequest
            | FetchRequest
            | FetchResponse
        ]
    )
    servers: Map[Server, Node]
    acked: Map[Value, Opt[Bool]]
    election_ctr: Int(0, MaxElections)
    restart_ctr: Int(0, MaxRestarts)
