"""Failures: restarts, servers that stop, blank disks, lost connections."""

from kmc.lang import pair
from kmc.spec import spec

from ...consensus.pull_raft.network import KeepsDelivered
from ...consensus.pull_raft.rules import restarted_leader, restarted_state, restarted_vote, restarted_votes
from ...consensus.pull_raft.types import MaxRestarts, Server, ServerState
from ..assignments import blank_epoch, first_assignment, restarted_assignment
from ..network import is_alive
from ..readings import BlankDiskIsAnother, FallsBackOnce
from ..types import MaxCrashes, MaxDisconnects, MaxDiskLosses


@spec.action
def restart(st, i: Server):
    """A server restarts with its disk: epoch, vote, log and quorum-state. KRaft.tla: Restart."""
    if st.restart_ctr >= MaxRestarts or not is_alive(st, i):
        return
    me = st.servers[i]
    restarted = me.set(
        state=restarted_state(me),
        voted_for=restarted_vote(me),
        leader=restarted_leader(me),
        votes_granted=restarted_votes(me, i),
        end_offset={j: 0 for j in Server},
        high_watermark=0,
        pending_fetch=None,
        assignment=restarted_assignment(st.plan, me),
    )
    yield st.set(servers=st.servers.set(i, restarted), restart_ctr=st.restart_ctr + 1)


def stopped(st, i):
    """The state without server i, and what is on its way to it is lost."""
    return st.set(crashed=st.crashed | {i}, messages=st.messages.keep(lambda m: m.mdest != i))


@spec.action
def lose_disk(st, i: Server):
    """A server restarts with a blank disk: it has forgotten its epoch, its vote and its log (Quorum Bootstrapping).

    With BlankDiskIsAnother the server that it was stops for ever. The one that it becomes is a server of the model that
    is blank from the start.
    """
    if st.counters.disk_losses >= MaxDiskLosses or not is_alive(st, i):
        return
    if BlankDiskIsAnother:
        yield stopped(st, i).set(counters=st.counters.set(disk_losses=st.counters.disk_losses + 1))
        return
    me = st.servers[i]
    blank = me.set(
        current_epoch=blank_epoch(),
        state=ServerState.UNATTACHED,
        voted_for=None,
        leader=None,
        votes_granted=set(),
        end_offset={j: 0 for j in Server},
        log=[],
        high_watermark=0,
        pending_fetch=None,
        assignment=first_assignment(st.plan),
        applied=0,
    )
    counters = st.counters.set(
        disk_losses=st.counters.disk_losses + 1,
        blanked=st.counters.blanked | {i} if FallsBackOnce else st.counters.blanked,
    )
    yield st.set(servers=st.servers.set(i, blank), counters=counters)


@spec.action
def crash(st, i: Server):
    """A server stops for ever, and what is on its way to it is lost."""
    if len(st.crashed) >= MaxCrashes or KeepsDelivered or i in st.crashed:
        return
    yield stopped(st, i)


@spec.action
def disconnect(st, i: Server, j: Server):
    """A connection is lost for ever, and what is on its way over it."""
    if st.counters.disconnects >= MaxDisconnects or KeepsDelivered or i == j:
        return
    if not st.connected[pair(i, j)]:
        return
    yield st.set(
        connected=st.connected.set(pair(i, j), False),
        messages=st.messages.keep(lambda m: pair(m.msource, m.mdest) != pair(i, j)),
        counters=st.counters.set(disconnects=st.counters.disconnects + 1),
    )
