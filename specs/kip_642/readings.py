"""The parts of KIP-642 that a model switches on, and the readings where its text is silent or contradicts itself.

With all parts off, the spec's graphs are those of `specs/kraft`. README.md quotes the sentence behind each reading.
"""

from kmc.lang import Bool, Enum, constant

Reassignment = constant(
    "Reassignment",
    Bool,
    "The log holds VoterAssignment records, servers that are not voters observe, and voters may be reassigned",
    False,
)
Bootstrapping = constant(
    "Bootstrapping",
    Bool,
    "Servers start without a quorum, and find or found one by quorum.voters and DiscoverBrokers",
    False,
)
StartsElected = constant("StartsElected", Bool, "A voter leads epoch 1 at the start, and every server knows it", False)
StartsReassigning = constant(
    "StartsReassigning",
    Bool,
    "At the start, the log of every voter holds the first assignment with its target, and each knows it is committed",
    False,
)
ClientsWrite = constant("ClientsWrite", Bool, "Clients send values; a model of elections alone does without", True)
LeaderChangeRecords = constant(
    "LeaderChangeRecords", Bool, "A new leader appends a LeaderChangeMessage, so that it commits soon", False
)
LeaderRewritesAssignment = constant(
    "LeaderRewritesAssignment",
    Bool,
    "KIP-595, Vote Response Handling 3, literally: a new leader writes the current assignment state to its log",
    False,
)

VotedTimesOut = constant(
    "VotedTimesOut",
    Bool,
    "A server that has voted has an election timeout (KIP-595); in KRaft.tla it has none",
    Reassignment,
)


class TakesEffect(Enum):
    """When a server acts on a VoterAssignment record; a leader may count by it later than followers act on it."""

    WHEN_APPENDED, WHEN_COMMITTED, LEADER_WHEN_COMMITTED = range(3)


class VotesFromNonVoters(Enum):
    """What a server does with the vote request of a server that is not a voter as far as it knows."""

    REJECT_AND_CAMPAIGN, REJECT, GRANT = range(3)


AssignmentTakesEffect = constant(
    "AssignmentTakesEffect",
    TakesEffect,
    "Reassignment Algorithm 4: followers act on the record in their log; Quorum Reassignment: once it is committed",
    TakesEffect.WHEN_APPENDED,
)
VoteRequestOfNonVoter = constant(
    "VoteRequestOfNonVoter",
    VotesFromNonVoters,
    "Reject it and become a candidate (the text), only reject it and keep the epoch, or vote as for a voter (Raft)",
    VotesFromNonVoters.REJECT_AND_CAMPAIGN,
)
NonVotersCampaign = constant(
    "NonVotersCampaign",
    Bool,
    "Raft: a server that its newest assignment leaves out may still stand for election; the draft has voters only",
    False,
)
ObserversVote = constant(
    "ObserversVote", Bool, "A server that is not a voter as far as it knows answers vote requests", True
)
LeaderWaitsForCommit = constant(
    "LeaderWaitsForCommit", Bool, "The leader changes the voters only when its last assignment is committed", True
)
LeaderCommitsFirst = constant(
    "LeaderCommitsFirst",
    Bool,
    "Correction: a leader changes the voters only when a record of its own epoch is committed",
    False,
)
LeaderMayRemoveItself = constant(
    "LeaderMayRemoveItself",
    Bool,
    "Reassignment Algorithm 3.2 says preferably: a leader may also remove itself while others are left to remove",
    False,
)
LeaderResignsEarly = constant(
    "LeaderResignsEarly",
    Bool,
    "Reassignment Algorithm 6.2, literally: the only voter to be removed resigns, also before new voters are added",
    False,
)
RequestsWaitForCommit = constant(
    "RequestsWaitForCommit", Bool, "A reassignment is taken only when the last assignment is committed", False
)
ClearsTargetAtOnce = constant(
    "ClearsTargetAtOnce",
    Bool,
    "The last change clears TargetVoters (the example), not a record of its own (Reassignment Algorithm 6.1)",
    False,
)
WaitsForCatchUp = constant(
    "WaitsForCatchUp", Bool, "A voter is added only when it has fetched the leader's log (Observer Promotion)", True
)
RemovedVoterIsTold = constant(
    "RemovedVoterIsTold", Bool, "A fetch says whether its sender is a voter, so that a removed one is refused", True
)

ClusterIdIsGiven = constant(
    "ClusterIdIsGiven", Bool, "All first leaders use one ClusterId, as after a migration from ZooKeeper", False
)
BlankClusterIdPasses = constant(
    "BlankClusterIdPasses", Bool, "A request without a ClusterId passes the validation; strictly it does not", True
)
FollowersValidate = constant(
    "FollowersValidate", Bool, "Correction: all servers validate the ClusterId, and not leaders only", False
)
ValidatesUncommitted = constant(
    "ValidatesUncommitted", Bool, "Correction: a server validates the ClusterId before its record is committed", False
)
ClusterIdIsDiscovered = constant(
    "ClusterIdIsDiscovered",
    Bool,
    "Correction: a server learns the ClusterId with the voters, before its log has it",
    False,
)
FallsBackOnce = constant(
    "FallsBackOnce",
    Bool,
    "The --bootstrap flag: quorum.voters counts only when a server first starts, and not with a blank disk later",
    False,
)
FallsBackInSilence = constant(
    "FallsBackInSilence",
    Bool,
    "A server falls back to quorum.voters only if no server that it reaches knows a quorum",
    False,
)
BlankDiskIsAnother = constant(
    "BlankDiskIsAnother",
    Bool,
    "Correction, as in KIP-853: a server that comes back with a blank disk is another server, and not a voter",
    False,
)
StartsFounded = constant(
    "StartsFounded", Bool, "FirstLeader has founded the cluster at the start, and all first voters know it", False
)
StartsGrown = constant(
    "StartsGrown", Bool, "With StartsFounded: the target voters are the voters at the start, and all know it", False
)
OnlyLogsTellVoters = constant(
    "OnlyLogsTellVoters",
    Bool,
    "Correction: a server is told the epoch and the leader, but learns the voters from its log",
    False,
)
