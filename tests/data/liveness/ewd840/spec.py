"""Termination detection on a ring: tlaplus/Examples, ewd840/EWD840.tla."""

from kmc.lang import Bool, Int, Map, Record, constant, subsets, ways
from kmc.spec import spec

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
