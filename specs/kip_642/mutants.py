"""Constants that each break one rule of KIP-642, so that a property that depends on it must fail; all are off.

The mutants of KIP-595's rules stand in consensus/pull_raft/mutants.py.
"""

from kmc.lang import Bool, constant

AddsTwoAtOnce = constant("AddsTwoAtOnce", Bool, "Mutant: the leader adds all new voters by one record", False)
TruncationKeepsAssignment = constant(
    "TruncationKeepsAssignment",
    Bool,
    "Mutant: a truncated assignment stays in effect",
    False,
)
RestartForgetsUncommitted = constant(
    "RestartForgetsUncommitted", Bool, "Mutant: a restarted server does not scan its log for assignments", False
)
LeaderRemovesItselfFirst = constant(
    "LeaderRemovesItselfFirst", Bool, "Mutant: the leader removes itself as soon as any voter is removed", False
)
OldVotersCommit = constant(
    "OldVotersCommit", Bool, "Mutant: the high watermark counts the first voters, whatever the assignment", False
)
RemovesFirst = constant("RemovesFirst", Bool, "Mutant: voters are removed before any is added", False)
UncommittedIsPersisted = constant(
    "UncommittedIsPersisted", Bool, "Mutant: an assignment is in quorum-state before it is committed", False
)
FollowersTakeRequests = constant(
    "FollowersTakeRequests", Bool, "Mutant: a server takes a reassignment request whether it leads or not", False
)
RequestsRepeat = constant("RequestsRepeat", Bool, "Mutant: a request that is sent again is appended again", False)
NewVotersAreNotTold = constant("NewVotersAreNotTold", Bool, "Mutant: no BeginQuorumEpoch is sent to a new voter", False)
LeaderNeverResigns = constant(
    "LeaderNeverResigns", Bool, "Mutant: the last voter to be removed leads on without EndQuorumEpoch", False
)
ZombiesDoNotAsk = constant(
    "ZombiesDoNotAsk", Bool, "Mutant: a leader that hears no majority does not look for a newer one", False
)
IdsAreNotValidated = constant("IdsAreNotValidated", Bool, "Mutant: no request's ClusterId is validated", False)
