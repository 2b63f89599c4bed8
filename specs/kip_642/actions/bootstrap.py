"""How a server that knows of no quorum finds one, or founds one (KIP-642, Bootstrapping Procedure)."""

from kmc.spec import spec

from ...consensus.pull_raft.types import Server, ServerState
from ..network import is_alive, reaches, settled
from ..readings import Bootstrapping, FallsBackOnce
from ..types import Assignment


def knows_quorum(me):
    """The server knows who the voters are, or should be."""
    return len(me.assignment.current) > 0


@spec.action
def fall_back_to_quorum_voters(st, i: Server):
    """Bootstrapping Procedure 5: a server of quorum.voters that hears of no quorum becomes a voter.

    Silence is not a condition here, since a server that is cut off from all others for a while hears nothing either.
    """
    me = st.servers[i]
    if not Bootstrapping or knows_quorum(me) or i not in st.plan.quorum_voters or not is_alive(st, i):
        return
    if FallsBackOnce and st.counters.disk_losses > 0:
        return
    assignment = Assignment(current=st.plan.quorum_voters, target=set(), cluster=0)
    yield settled(st.set(servers=st.servers.set(i, me.set(assignment=assignment))))


@spec.action
def discover_brokers(st, i: Server, j: Server):
    """Bootstrapping Procedure 3 and 4: a server that knows of no quorum learns voters, epoch and leader from another.

    DiscoverBrokers and Metadata are one step each way. A late answer is an older one, and only newer ones are cached.
    """
    me, peer = st.servers[i], st.servers[j]
    if not Bootstrapping or i == j or knows_quorum(me) or not knows_quorum(peer):
        return
    if not is_alive(st, i) or not reaches(st, i, j) or not is_alive(st, j):
        return
    newer = peer.current_epoch > me.current_epoch
    follows = newer and peer.leader is not None and peer.leader != i
    learned = me.set(
        assignment=peer.assignment.set(cluster=0),
        current_epoch=peer.current_epoch if newer else me.current_epoch,
        leader=peer.leader if follows else me.leader,
        state=ServerState.FOLLOWER if follows else ServerState.UNATTACHED if newer else me.state,
    )
    yield settled(st.set(servers=st.servers.set(i, learned)))
