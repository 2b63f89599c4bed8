"""Constants that each weaken one rule, so that an invariant that depends on it must fail; all are off by default.

The mutants that kip_996 has too are imported. The manifest has a mutant for every invariant that no other model of it
breaks, so each of them can fail. A constant that is off leaves no code in the compiled spec.
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

LeaderKeepsVotes = constant("LeaderKeepsVotes", Bool, "Mutant: a new leader keeps the votes that it received", False)
RestartLosesUncommitted = constant(
    "RestartLosesUncommitted", Bool, "Mutant: a restarted server has lost what was not committed", False
)
