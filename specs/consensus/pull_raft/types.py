"""What every spec that builds on KRaft.tla declares: servers, values, bounds, server states and transitions.

Mirrors KRaft.tla (Vanlightly/raft-tlaplus, specifications/pull-raft, commit 69ad9d6). Messages, logs and the state
stand in the specs, since KIP-642 adds fields to them.
"""

from kmc.lang import Bool, Enum, IdentSet, Int, Opt, Record, constant

Server = constant("Server", IdentSet(symmetric=True, at_most=7), "The voters; a model may permute them")
Value = constant("Value", IdentSet(symmetric=True, at_most=8), "The values that clients send; each is sent once")
MaxElections = constant("MaxElections", Int(0, 12), "How many elections may start")
MaxRestarts = constant("MaxRestarts", Int(0, 12), "How many restarts may happen")

# A bound that only kmc needs. An epoch starts at 1 and each election raises one by 1.
MaxEpoch = constant("MaxEpoch", Int(1, 63), "The largest epoch that a server or message can hold", 1 + MaxElections)

# Corrections that follow KIP-595, off by default: in KRaft.tla a server restarts as a follower without a leader.
RestartFromQuorumState = constant(
    "RestartFromQuorumState",
    Bool,
    "A restarted server is what its quorum-state file says: voted, candidate, follower of its leader, or unattached",
    False,
)
RestartedLeaderResigns = constant(
    "RestartedLeaderResigns",
    Bool,
    "A restarted leader comes back as Resigned, and takes no answer for its leadership",
    False,
)

Epoch = Int(0, MaxEpoch)


class ServerState(Enum):
    """Server states; NoIllegalState looks for ILLEGAL_STATE, and RESIGNED does not occur in KRaft.tla."""

    FOLLOWER, CANDIDATE, LEADER, UNATTACHED, VOTED, ILLEGAL_STATE, RESIGNED = range(7)


class FetchResult(Enum):
    """Fetch response codes."""

    OK, NOT_OK, DIVERGING = range(3)


class EpochMatch(Enum):
    """Which epochs of a message a receiver takes."""

    ANY_EPOCH, EQUAL_EPOCH = range(2)


class Transition(Record):
    """What a transition helper decides about a server: its new state, epoch and leader."""

    state: ServerState
    epoch: Epoch
    leader: Opt[Server]


class CommonResponse(Record):
    """A transition, and whether the response is thereby handled."""

    state: ServerState
    epoch: Epoch
    leader: Opt[Server]
    handled: Bool
