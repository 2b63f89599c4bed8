"""Election of a leader on a ring: tlaplus/Examples, chang_roberts/ChangRoberts.tla, node i with identity i."""

from kmc.lang import Bool, Enum, Int, Map, Record, Set, constant, subsets
from kmc.spec import eventually, eventually_always, for_all, implies, or_, steps, weak_fairness, spec

N = constant("N", Int(1, 5), "The number of nodes")


Node = Int(1, N)


class Role(Enum):
    CAND, LOST, WON = range(3)


class State(Record):
    msgs: Map[Node, Set[Node]]
    started: Map[Node, Bool]
    initiator: Map[Node, Bool]
    state: Map[Node, Role]


def succ(n):
    return 1 if n == N else n + 1


@spec.init
def init():
    for initiators in subsets({n for n in range(1, N + 1)}):
        yield State(
            msgs={n: set() for n in range(1, N + 1)},
            started={n: False for n in range(1, N + 1)},
            initiator={n: n in initiators for n in range(1, N + 1)},
            state={n: Role.CAND if n in initiators else Role.LOST for n in range(1, N + 1)},
        )


@spec.action
def n0(st, n: Node):
    if st.started[n]:
        return
    peer = succ(n)
    sent = st.msgs.set(peer, st.msgs[peer] | {n}) if st.initiator[n] else st.msgs
    yield st.set(msgs=sent, started=st.started.set(n, True))


@spec.action
def n1(st, n: Node):
    if not st.started[n]:
        return
    peer = succ(n)
    for received in st.msgs[n]:
        taken = st.msgs.set(n, st.msgs[n] - {received})
        forwarded = taken.set(peer, taken[peer] | {received})
        if st.state[n] == Role.LOST:
            yield st.set(msgs=forwarded)
        elif received < n:
            yield st.set(msgs=forwarded, state=st.state.set(n, Role.LOST))
        else:
            yield st.set(msgs=taken, state=st.state.set(n, Role.WON) if received == n else st.state)


@spec.specification
def Spec():
    return for_all(range(1, N + 1), lambda n: weak_fairness(or_(steps(n0, n), steps(n1, n))))


@spec.specification
def WithoutNodeOne():
    return for_all(range(2, N + 1), lambda n: weak_fairness(or_(steps(n0, n), steps(n1, n))))


def has(st, role):
    return any(st.state[n] == role for n in range(1, N + 1))


@spec.liveness
def Liveness():
    return implies(lambda st: has(st, Role.CAND), eventually(lambda st: has(st, Role.WON)))


@spec.liveness
def NoCandidatesInTheEnd():
    return eventually_always(lambda st: not has(st, Role.CAND))


@spec.liveness
def SecondWins():
    return implies(lambda st: st.initiator[3] and st.initiator[2], eventually(lambda st: st.state[2] == Role.WON))
