"""Constants, values, messages and the state of KRaft as KIP-595 describes it.

Mirrors KRaft.tla (Vanlightly/raft-tlaplus, specifications/pull-raft, commit 69ad9d6) under its names, in snake_case.
Not modelled there or here: BeginQuorumResponse handling, EndQuorumEpoch, snapshots; retries are implicit, because a
message in the bag stays deliverable until it is handled.
"""

from kmc.lang import Bool, Enum, Int, Map, Message, MessageBag, Opt, Record, Seq, Set, constant

from ..consensus.pull_raft.types import Epoch, FetchResult, MaxElections, MaxRestarts, Server, ServerState, Value

# A bound that only kmc needs: a log holds each value once.
MaxLogLength = constant("MaxLogLength", Int(1, 63), "The longest log", len(Value))

Offset = Int(0, MaxLogLength)


class Error(Enum):
    """Errors of responses."""

    FENCED_LEADER_EPOCH, NOT_LEADER, UNKNOWN_LEADER = range(3)


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
