"""Constants that each break one rule of KIP-595 in this spec alone, so that a promise must fall; all are off.

Those that kip_642 breaks too stand in consensus/pull_raft/mutants.py. A constant that is off leaves no code in the
compiled spec.
"""

from kmc.lang import Bool, constant

OwnVoteElects = constant("OwnVoteElects", Bool, "Mutant: a candidate's own vote is a majority", False)
LeaderCommitsAlone = constant(
    "LeaderCommitsAlone",
    Bool,
    "Mutant: the high watermark counts what the leader has, whatever the followers have",
    False,
)
ObserversCount = constant(
    "ObserversCount",
    Bool,
    "Mutant: the high watermark counts an observer that has an entry as it counts a voter",
    False,
)
OldLeadersPass = constant(
    "OldLeadersPass", Bool, "Mutant: a server follows a BeginQuorumEpoch request of an older epoch", False
)
DivergingEntriesStay = constant(
    "DivergingEntriesStay", Bool, "Mutant: a follower whose fetch diverges keeps its log and does not truncate", False
)
