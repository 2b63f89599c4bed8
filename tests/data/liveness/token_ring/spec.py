"""Dijkstra's stabilizing token ring: tlaplus/Examples, ewd426/TokenRing.tla."""

from kmc.lang import Int, Map, Record, constant, product
from kmc.spec import NEXT, eventually_always, weak_fairness, spec

N = constant("N", Int(1, 6), "The number of nodes")
M = constant("M", Int(1, 8), "The number of values of a counter")


Node = Int(0, N - 1)


class State(Record):
    c: Map[Node, Int(0, M - 1)]


@spec.init
def init():
    for number in range(0, product(M for _ in range(0, N))):
        yield State(c={i: number // product(M for _ in range(0, i)) % M for i in range(0, N)})


@spec.action
def create_token(st):
    if st.c[0] == st.c[N - 1]:
        yield st.set(c=st.c.set(0, (st.c[N - 1] + 1) % M))


@spec.action
def pass_token(st, i: Node):
    if i != 0 and st.c[i] != st.c[i - 1]:
        yield st.set(c=st.c.set(i, st.c[i - 1]))


def unique_token(st):
    return any(all(st.c[j] == (st.c[0] if j < i else (st.c[0] - 1) % M) for j in range(0, N)) for i in range(0, N + 1))


@spec.specification
def Spec():
    return weak_fairness(NEXT)


@spec.liveness
def Stab():
    return eventually_always(unique_token)
