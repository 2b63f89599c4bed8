"""Constants that each weaken a rule of both specs of KIP-996; all are off by default.

A property that depends on the rule must then fail. What each spec weakens beside that stands in its own `mutants.py`.
A constant that is off leaves no code in the compiled spec.
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
