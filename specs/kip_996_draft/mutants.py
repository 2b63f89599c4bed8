"""Constants that each weaken one rule, so that an invariant that depends on it must fail; all are off by default.

The manifest has a mutant for every invariant that no other model of it breaks, so each of them can fail. A constant
that is off leaves no code in the compiled spec.
"""

from kmc.lang import Bool, constant

CandidatesWithoutPreVote = constant(
    "CandidatesWithoutPreVote", Bool, "Mutant: a follower or unattached voter becomes a candidate at once", False
)
OwnVoteElects = constant("OwnVoteElects", Bool, "Mutant: a candidate needs no vote but its own", False)
VotersVoteAgain = constant("VotersVoteAgain", Bool, "Mutant: an earlier vote in the epoch forbids none", False)
AnyLogIsElected = constant("AnyLogIsElected", Bool, "Mutant: votes are granted whatever the candidate's log", False)
LeaderCommitsAlone = constant("LeaderCommitsAlone", Bool, "Mutant: the high watermark needs no majority", False)
AnyPositionIsValid = constant("AnyPositionIsValid", Bool, "Mutant: no fetch diverges", False)
ObserversCampaign = constant("ObserversCampaign", Bool, "Mutant: an observer too may ask for votes", False)
LeaderKeepsVotes = constant("LeaderKeepsVotes", Bool, "Mutant: a new leader keeps the votes that it received", False)
RestartLosesUncommitted = constant(
    "RestartLosesUncommitted", Bool, "Mutant: a restarted server has lost what was not committed", False
)
