"""KRaft with the draft of dynamic quorum reassignment (KIP-642): constants, values, messages and the state.

The base is KRaft.tla as `specs/kraft` has it; what the two share stands in specs/consensus. With Reassignment and
Bootstrapping off the added fields never change, and the graphs are kraft's.
"""

from kmc.lang import (
    Bool,
    Enum,
    Int,
    Map,
    Message,
    MessageBag,
    MessageSet,
    Opt,
    Pair,
    Record,
    Seq,
    Set,
    constant,
)
from kmc.spec import spec

from ..consensus.pull_raft.network import KeepsDelivered
from ..consensus.pull_raft.types import (
    Epoch,
    FetchResult,
    MaxElections,
    MaxRestarts,
    RestartFromQuorumState,
    Server,
    ServerState,
    Value,
)
from .readings import (
    Bootstrapping,
    ClusterIdIsGiven,
    LeaderChangeRecords,
    LeaderRewritesAssignment,
    Reassignment,
    StartsElected,
    StartsFounded,
    StartsGrown,
    StartsReassigning,
)

InitialVoters = constant("InitialVoters", Int(1, 7), "The first so many servers are the first voters", len(Server))
FirstLeader = constant("FirstLeader", Int(1, 7), "The first leader, with StartsElected", 1)
FirstTarget = constant("FirstTarget", Int(0, 7), "The first server of the TargetVoters that are asked for; 0: none", 0)
LastTarget = constant("LastTarget", Int(0, 7), "The last server of the TargetVoters that are asked for", FirstTarget)
MaxRequests = constant("MaxRequests", Int(0, 4), "How many reassignments are asked for, cancellations included", 0)
MayCancelByNull = constant("MayCancelByNull", Bool, "A request may cancel by null TargetVoters", False)
MayCancelByOldVoters = constant("MayCancelByOldVoters", Bool, "A request may ask for the first voters again", False)
MaxCrashes = constant("MaxCrashes", Int(0, 7), "How many servers may stop for ever", 0)
MaxDiskLosses = constant("MaxDiskLosses", Int(0, 7), "How many servers may restart with a blank disk", 0)
MaxDisconnects = constant("MaxDisconnects", Int(0, 7), "How many connections may be lost for ever", 0)
MaxResignations = constant(
    "MaxResignations", Int(0, 13), "How often a leader may resign to be removed", MaxElections + 1
)
MaxClusters = constant(
    "MaxClusters", Int(0, 7), "How many ClusterIds may be generated", MaxElections + 1 if Bootstrapping else 0
)

spec.assume(InitialVoters <= len(Server))
spec.assume(FirstLeader <= InitialVoters)
spec.assume(LastTarget <= len(Server))
spec.assume(FirstTarget <= LastTarget)
spec.assume(FirstTarget > 0 or MaxRequests == 0 or MayCancelByNull or MayCancelByOldVoters)
spec.assume(Reassignment or (MaxRequests == 0 and InitialVoters == len(Server) and not StartsElected))
spec.assume(not StartsReassigning or (StartsElected and FirstTarget > 0))
# In KRaft.tla a restarted follower forgets its leader, and is in ILLEGAL_STATE when it hears of it again.
spec.assume(not Reassignment or MaxRestarts == 0 or RestartFromQuorumState)
spec.assume(not Bootstrapping or (Reassignment and not KeepsDelivered and not StartsElected and MaxClusters > 0))
spec.assume(Bootstrapping or not StartsFounded)
spec.assume(not StartsGrown or (StartsFounded and FirstTarget <= FirstLeader <= LastTarget))

# Bounds that only kmc needs; a run that exceeds one stops with an error. A log holds each value once, a record of
# each leader, and for each request the request and at most one addition and one removal of each server, and the end.
MaxLogLength = constant(
    "MaxLogLength",
    Int(1, 63),
    "The longest log",
    len(Value)
    + (MaxElections if LeaderChangeRecords else 0)
    + (MaxElections if LeaderRewritesAssignment else 0)
    + (1 if Bootstrapping else 0)
    + (1 if StartsGrown else 0)
    + (MaxRequests + (1 if StartsReassigning else 0)) * (2 + len(Server)),
)

Offset = Int(0, MaxLogLength)
ClusterId = Int(0, 1 if Bootstrapping and ClusterIdIsGiven else MaxClusters)


class Error(Enum):
    """Errors of responses: those of KRaft.tla, NOT_FOLLOWER (Reassignment Algorithm 5), and another cluster's."""

    FENCED_LEADER_EPOCH, NOT_LEADER, UNKNOWN_LEADER, NOT_FOLLOWER, INCONSISTENT_CLUSTER_ID = range(5)


class Assignment(Record):
    """VoterAssignmentMessage: no target voters mean null, no current voters that no quorum is known, 0 no ClusterId."""

    current: Set[Server]
    target: Set[Server]
    cluster: ClusterId


class Entry(Record):
    """A log entry: a client's value, an assignment, or None, a LeaderChangeMessage."""

    epoch: Epoch
    value: Value | Assignment | None


class RequestVoteRequest(Message, source="msource", dest="mdest"):
    """KIP-595, Vote: a candidate asks for a vote."""

    mepoch: Epoch
    mlast_log_epoch: Epoch
    mlast_log_offset: Offset
    mcluster: ClusterId
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
    """KIP-595, BeginQuorumEpoch: a new leader tells its peers, and a leader tells a new voter (KIP-642)."""

    mepoch: Epoch
    mcluster: ClusterId
    msource: Server
    mdest: Server


class BeginQuorumResponse(Message, source="msource", dest="mdest"):
    """KIP-595, BeginQuorumEpoch: the answer, which is never handled."""

    mepoch: Epoch
    msource: Server
    mdest: Server
    merror: Opt[Error]


class EndQuorumRequest(Message, source="msource", dest="mdest"):
    """KIP-595, EndQuorumEpoch: a leader gives up its leadership, so that another is elected soon."""

    mepoch: Epoch
    mcluster: ClusterId
    msource: Server
    mdest: Server


class FetchRequest(Message, source="msource", dest="mdest"):
    """KIP-595, Fetch: a follower asks for the entry after `mfetch_offset`; it says whether it is a voter (reading)."""

    mepoch: Epoch
    mfetch_offset: Offset
    mlast_fetched_epoch: Epoch
    mvoter: Bool
    mcluster: ClusterId
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
    """The variables of one server: those of KRaft.tla, the assignment that it acts on, and its AppliedOffset.

    `applied` is the offset of the newest assignment that the server knows to be committed: what its quorum-state holds.
    """

    current_epoch: Epoch
    state: ServerState
    voted_for: Opt[Server]
    leader: Opt[Server]
    pending_fetch: Opt[FetchRequest]
    votes_granted: Set[Server]
    end_offset: Map[Server, Offset]
    log: Seq[Entry, MaxLogLength]
    high_watermark: Offset
    assignment: Assignment
    applied: Offset


class Plan(Record):
    """What people set: quorum.voters, and the TargetVoters that they may ask for, or none. It never changes."""

    quorum_voters: Set[Server]
    target: Set[Server]


class Counters(Record):
    """What bounds the state space beside elections and restarts; `blanked` lost their disks (FallsBackOnce)."""

    requests: Int(0, MaxRequests)
    resignations: Int(0, MaxResignations)
    clusters: ClusterId
    disk_losses: Int(0, MaxDiskLosses)
    disconnects: Int(0, MaxDisconnects)
    blanked: Set[Server]


class State(Record):
    """The variables of KRaft.tla and those of KIP-642; functions of a server are fields of `servers`."""

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
    plan: Plan
    connected: Map[Pair[Server], Bool]
    crashed: Set[Server]
    counters: Counters
