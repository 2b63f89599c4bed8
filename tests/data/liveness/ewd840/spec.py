"""Termination detection on a ring: tlaplus/Examples, ewd840/EWD840.tla."""

from kmc.lang import Bool, Int, Map, Record, constant, subsets, ways
from kmc.spec import NEXT, and_, eventually, for_all, leads_to, or_, weak_fairness, spec

N = constant("N", Int(1, 6), "The number of nodes")


Node = Int(0, N - 1)


class State(Record):
    active: Map[Node, Bool]
    black: Map[Node, Bool]
    tpos: Node
    token_is_black: Bool


def nodes():
    return {i for i in range(0, N)}


@spec.init
def init():
    for active in subsets(nodes()):
        for black in subsets(nodes()):
            for tpos in range(0, N):
                yield State(
                    active={i: i in active for i in range(0, N)},
                    black={i: i in black for i in range(0, N)},
                    tpos=tpos,
                    token_is_black=True,
                )


@spec.action
def initiate_probe(st):
    if st.tpos != 0:
        return
    for _ in ways(st.token_is_black, st.black[0]):
        yield st.set(tpos=N - 1, token_is_black=False, black=st.black.set(0, False))


@spec.action
def pass_token(st, i: Node):
    if i == 0 or st.tpos != i:
        return
    for _ in ways(not st.active[i], st.black[i], st.token_is_black):
        yield st.set(tpos=i - 1, token_is_black=st.token_is_black or st.black[i], black=st.black.set(i, False))


@spec.action
def send_msg(st, i: Node):
    if not st.active[i]:
        return
    for j in range(0, N):
        if j != i:
            yield st.set(active=st.active.set(j, True), black=st.black.set(i, j > i or st.black[i]))


@spec.action
def deactivate(st, i: Node):
    if st.active[i]:
        yield st.set(active=st.active.set(i, False))


def terminated(st):
    return all(not st.active[i] for i in range(0, N))


def termination_detected(st):
    return st.tpos == 0 and not st.token_is_black and not st.black[0] and not st.active[0]


def system():
    return or_(initiate_probe, pass_token)


@spec.specification
def WfEach():
    return and_(weak_fairness(initiate_probe), for_all(range(1, N), lambda i: weak_fairness(pass_token, i)))


@spec.specification
def WfEachButOne():
    return and_(weak_fairness(initiate_probe), for_all(range(2, N), lambda i: weak_fairness(pass_token, i)))


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.specification
def WfSystem():
    return weak_fairness(system())


@spec.specification
def WfSystemAndDeactivate():
    return and_(weak_fairness(system()), for_all(range(0, N), lambda i: weak_fairness(deactivate, i)))


@spec.liveness
def Liveness():
    return leads_to(terminated, termination_detected)


@spec.liveness
def Terminates():
    return eventually(terminated)
