"""Init, and the names of the formulas: no leader, or one that leads epoch 1 (StartsElected)."""

from kmc.lang import pairs
from kmc.spec import spec

from ...consensus.pull_raft.network import KeepsDelivered
from ...consensus.pull_raft.types import Server, ServerState, Value
from ..assignments import blank_epoch, extended, first_assignment
from ..readings import ClusterIdIsGiven, StartsElected, StartsFounded, StartsGrown, StartsReassigning
from ..types import (
    Assignment,
    Counters,
    Entry,
    FirstLeader,
    FirstTarget,
    InitialVoters,
    LastTarget,
    Node,
    Plan,
    State,
)

spec.names(init="Init", next="Next", specifications=["Spec"])


def plan_of(voters):
    """quorum.voters, and the target voters that people may ask for."""
    target = {Server.at(n) for n in range(FirstTarget, LastTarget + 1)} if FirstTarget > 0 else set()
    return Plan(quorum_voters=voters, target=target)


def first_node(plan, i, leads, follows):
    """A server with an empty log in the first epoch."""
    return Node(
        current_epoch=blank_epoch(),
        state=ServerState.LEADER if leads else ServerState.FOLLOWER if follows else ServerState.UNATTACHED,
        voted_for=None,
        leader=Server.at(FirstLeader) if leads or follows else None,
        pending_fetch=None,
        votes_granted=set(),
        end_offset={j: 0 for j in Server},
        log=[],
        high_watermark=0,
        assignment=first_assignment(plan),
        applied=0,
    )


def reassigning(plan, i, node):
    """The server after the first leader's first request: what a voter has committed, an observer has yet to fetch."""
    if not StartsReassigning or i not in plan.quorum_voters:
        return node
    first = node.assignment.set(target=plan.target)
    return node.set(
        log=[Entry(epoch=1, value=first)],
        high_watermark=1,
        assignment=first,
        applied=1,
        end_offset={j: 1 if node.leader == i and j in plan.quorum_voters and j != i else 0 for j in Server},
    )


def founding(plan):
    """The log of a cluster of the first voters, which were reassigned to the target voters (StartsGrown).

    Of the records of the reassignment only the last is there: the others are never read again.
    """
    first = Entry(epoch=1, value=Assignment(current=plan.quorum_voters, target=set(), cluster=1))
    if not StartsGrown:
        return [first]
    return [first, Entry(epoch=1, value=Assignment(current=plan.target, target=set(), cluster=1))]


def founded(plan, i, me):
    """A server after the first leader has founded a cluster; one that was never a voter has not heard of it."""
    if i not in plan.quorum_voters and not (StartsGrown and i in plan.target):
        return me
    leader = Server.at(FirstLeader)
    state = ServerState.LEADER if i == leader else ServerState.FOLLOWER
    log = founding(plan)
    return extended(me.set(current_epoch=1, state=state, leader=leader), log, len(log))


def first_server(plan, i):
    """Server i at the start."""
    me = first_node(plan, i, StartsElected and i == Server.at(FirstLeader), StartsElected)
    return founded(plan, i, me) if StartsFounded else reassigning(plan, i, me)


@spec.init
def init():
    """Init: all servers in one epoch with empty logs, the first so many of them the voters (StartsFounded: founded)."""
    voters = {Server.at(n) for n in range(1, InitialVoters + 1)}
    plan = plan_of(voters)
    yield State(
        messages={} if KeepsDelivered else set(),
        servers={i: first_server(plan, i) for i in Server},
        acked={v: None for v in Value},
        election_ctr=0,
        restart_ctr=0,
        plan=plan,
        connected={p: True for p in pairs(Server)},
        crashed=set(),
        counters=Counters(
            requests=0,
            resignations=0,
            clusters=1 if StartsFounded and not ClusterIdIsGiven else 0,
            disk_losses=0,
            disconnects=0,
            blanked=set(),
        ),
    )
