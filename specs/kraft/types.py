"""Constants, values, messages and the state of KRaft as KIP-595 describes it.

Mirrors KRaft.tla (Vanlightly/raft-tlaplus, specifications/pull-raft, commit 69ad9d6) under its names, in snake_case.
Not modelled there or here: BeginQuorumResponse handling, EndQuorumEpoch, snapshots; retries are implicit, because a
message in the bag stays deliverable until it is handled.
"""

from kmc.lang import Bool, Enum, IdentSet, Int, Map, Message, MessageBag, Opt, Record, Seq, Set, constant

Server = constant("Server", IdentSet(symmetric=True, at_most=7), "The voters; a model may permute them")
Value = constant("Value", IdentSet(symmetric=True, at_most=8), "The values that clients send; each is sent once")
MaxElections = constant("MaxElections", Int(0, 12), "How many elections may start")
MaxRestarts = constant("MaxRestarts", Int(0, 12), "How many restarts may happen")

# Bounds that only kmc needs. An epoch starts at 1 and each election raises one by 1; a log holds each value once.
MaxEpoch = constant("MaxEpoch", Int(1, 63), "The largest epoch that a server or message can hold", 1 + MaxElections)
MaxLogLength = constant("MaxLogLength", Int(1, 63), "The longest log", len(Value))

# Corrections that follow KIP-595, off by default: in KRaft.tla a server restarts as a follower without a leader.
RestartFromQuorumState = constant(
    "RestartFromQuorumState",
    Bool,
    "A restarted server is what its quorum-state file says: voted, candidate, follower of its leader, or unattached",
    False,
)
RestartedLeaderResigns = constant(
    "RestartedLeaderResigns",
    Bool,
    "A restarted leader comes back as Resigned, and takes no answer for its leadership",
    False,
)

Epoch = Int(0, MaxEpoch)
Offset = Int(0, MaxLogLength)


class ServerState(Enum):
    """Server states; NoIllegalState looks for ILLEGAL_STATE, and RESIGNED occurs with RestartedLeaderResigns only."""

    FOLLOWER, CANDIDATE, LEADER, UNATTACHED, VOTED, ILLEGAL_STATE, RESIGNED = range(7)


class FetchResult(Enum):
    """Fetch response codes."""

    OK, NOT_OK, DIVERGING = range(3)


class Error(Enum):
    """Errors of responses."""

    FENCED_LEADER_EPOCH, NOT_LEADER, UNKNOWN_LEADER = range(3)


class EpochMatch(Enum):
    """Which epochs of a message a receiver takes."""

    ANY_EPOCH, EQUAL_EPOCH = range(2)


class Entry(Record):
    """A log entry."""

    epoch: Epoch
    value: Value


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
    """The variables of one server."""

    current_epoch: Epoch
    state: ServerState
    voted_for: Opt[Server]
    leader: Opt[Server]
    pending_fetch: Opt[FetchRequest]
    votes_granted: Set[Server]
    end_offset: Map[Server, Offset]
    log: Seq[Entry, MaxLogLength]
    high_watermark: Offset


class State(Record):
    """The variables of KRaft.tla; those that are functions of a server are fields of `servers`."""

    messages: MessageBag[
        RequestVoteRequest
        | RequestVoteResponse
        | BeginQuorumRequest
        | BeginQuorumResponse
        | FetchRequest
        | FetchResponse
    ]
    servers: Map[Server, Node]
    acked: Map[Value, Opt[Bool]]
    election_ctr: Int(0, MaxElections)
    restart_ctr: Int(0, MaxRestarts)


class Transition(Record):
    """What a transition helper decides about a server: its new state, epoch and leader."""

    state: ServerState
    epoch: Epoch
    leader: Opt[Server]


class CommonResponse(Record):
    """A transition, and whether the response is thereby handled."""

    state: ServerState
    epoch: Epoch
    leader: Opt[Server]
    handled: Bool
