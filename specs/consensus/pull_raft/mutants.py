"""Constants that each break one rule of KIP-595, so that a property that depends on it must fail; all are off.

KRaft.tla's own text is what the spec means with all of them off: a constant that is off leaves no code in the compiled
spec.
"""

from kmc.lang import Bool, constant

AnyEpochCommits = constant(
    "AnyEpochCommits",
    Bool,
    "Mutant: the high watermark passes an entry of an older epoch as soon as a majority has it",
    False,
)
AnyLogIsElected = constant("AnyLogIsElected", Bool, "Mutant: votes are granted whatever the candidate's log", False)
AnyPositionIsValid = constant("AnyPositionIsValid", Bool, "Mutant: no fetch diverges", False)
RestartForgetsVote = constant(
    "RestartForgetsVote",
    Bool,
    "Mutant: a restarted server remembers its epoch, but not for whom it voted in it",
    False,
)
VotersVoteAgain = constant("VotersVoteAgain", Bool, "Mutant: an earlier vote in the epoch forbids none", False)
