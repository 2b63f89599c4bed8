"""Constants that each weaken one rule, so that a property that depends on it must fail; all are off by default.

The mutants that the draft has too are imported. The last constant corrects the text instead. The manifest has a mutant
for every invariant and every promise of the KIPs, so each of them can fail; of some mutants only temporal properties
fail. A constant that is off leaves no code in the compiled spec.
"""

from kmc.lang import Bool, constant

from ..consensus.kip_996.mutants import (  # noqa: F401  # other files of the spec import all mutants from here
    AnyLogIsElected,
    AnyPositionIsValid,
    CandidatesWithoutPreVote,
    LeaderCommitsAlone,
    ObserversCampaign,
    OwnVoteElects,
    VotersVoteAgain,
)

RestartForgetsQuorumState = constant(
    "RestartForgetsQuorumState", Bool, "Mutant: a restarted server knows no epoch but its log's, and no vote", False
)
RestartLosesUncommitted = constant(
    "RestartLosesUncommitted", Bool, "Mutant: a restarted server has lost what was not committed", False
)
CandidatesWaitForEver = constant(
    "CandidatesWaitForEver", Bool, "Mutant: a candidate that cannot win never begins a new election", False
)
LeadersKeepOffice = constant(
    "LeadersKeepOffice", Bool, "Mutant: no Check Quorum: a leader without a majority does not resign", False
)
FollowersRefusePreVotes = constant(
    "FollowersRefusePreVotes", Bool, "Mutant: a follower refuses pre-votes even if it has not fetched yet", False
)
SkipsPreVote = constant(
    "SkipsPreVote", Bool, "Mutant: a prospective server becomes a candidate without waiting for pre-votes", False
)
FollowersAlwaysGrant = constant(
    "FollowersAlwaysGrant", Bool, "Mutant: a follower grants pre-votes although it has fetched from its leader", False
)
ResignedKeepsEpoch = constant(
    "ResignedKeepsEpoch", Bool, "Mutant: a resigned server becomes unattached in the epoch that it led", False
)
ProspectiveStays = constant(
    "ProspectiveStays",
    Bool,
    "Mutant: a prospective that is not elected asks again, and follows no leader",
    False,
)
StandsInItsEpoch = constant(
    "StandsInItsEpoch", Bool, "Mutant: who hears of an old version stands without raising its epoch", False
)
ObserversAreAnswered = constant(
    "ObserversAreAnswered", Bool, "Correction: a leader answers the fetches of servers that are not its voters", False
)
