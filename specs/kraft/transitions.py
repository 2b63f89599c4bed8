"""The tables of allowed quorum-state transitions, as properties of every step.

KIP-996 prints the older table beside its new one; the older is in the header of KRaft.tla too. Both are taken
literally, with one exception: a step may pass through Unattached of a higher epoch, since one step of the spec does
what a server does in two. KRaft.tla breaks both tables; the manifest holds the shortest traces.
"""

from kmc.spec import spec

from ..consensus.pull_raft.types import Server, ServerState

REACHED_FROM_UNATTACHED = {
    ServerState.UNATTACHED,
    ServerState.VOTED,
    ServerState.CANDIDATE,
    ServerState.FOLLOWER,
}


def unchanged(old, new):
    """Neither state nor epoch changes."""
    return old.state == new.state and old.current_epoch == new.current_epoch


def older_table(old, new):
    """One server's change of state and epoch is in the older table, directly or through Unattached."""
    higher = new.current_epoch > old.current_epoch
    if old.state == ServerState.LEADER:
        if new.state == ServerState.RESIGNED:
            return new.current_epoch == old.current_epoch
        # On its way to candidate a leader is unattached first, in an epoch between the two.
        if new.state == ServerState.CANDIDATE:
            return new.current_epoch > old.current_epoch + 1
        return higher and new.state in REACHED_FROM_UNATTACHED
    if higher:
        return new.state in REACHED_FROM_UNATTACHED
    if new.current_epoch < old.current_epoch:
        return False
    if old.state == ServerState.CANDIDATE:
        return new.state == ServerState.LEADER
    if old.state == ServerState.UNATTACHED or old.state == ServerState.RESIGNED:
        return new.state == ServerState.VOTED or new.state == ServerState.FOLLOWER
    return False


def newer_table(old, new):
    """The same for KIP-996's new table, where only a Prospective, which KIP-595 does not have, becomes a candidate.

    Its Unattached with a vote is the older Voted, so a voted server may do what an unattached one may. A candidate may
    become a follower in its own epoch, which the older table omits.
    """
    if new.state == ServerState.CANDIDATE or new.state == ServerState.ILLEGAL_STATE:
        return False
    if new.current_epoch > old.current_epoch:
        return new.state in REACHED_FROM_UNATTACHED
    if new.current_epoch < old.current_epoch:
        return False
    if old.state == ServerState.LEADER:
        return new.state == ServerState.RESIGNED
    if old.state == ServerState.CANDIDATE:
        return new.state == ServerState.LEADER or new.state == ServerState.FOLLOWER
    if old.state == ServerState.UNATTACHED or old.state == ServerState.VOTED:
        return new.state == ServerState.VOTED or new.state == ServerState.FOLLOWER
    return False


@spec.action_property
def QuorumStateTransitions(st, nxt):
    """Every server moves within the older table."""
    return all(unchanged(st.servers[i], nxt.servers[i]) or older_table(st.servers[i], nxt.servers[i]) for i in Server)


@spec.action_property
def CandidateTransitions(st, nxt):
    """Every candidate moves within the older table."""
    return all(
        unchanged(st.servers[i], nxt.servers[i]) or older_table(st.servers[i], nxt.servers[i])
        for i in Server
        if st.servers[i].state == ServerState.CANDIDATE
    )


@spec.action_property
def NewQuorumStateTransitions(st, nxt):
    """Every server moves within KIP-996's new table."""
    return all(unchanged(st.servers[i], nxt.servers[i]) or newer_table(st.servers[i], nxt.servers[i]) for i in Server)
