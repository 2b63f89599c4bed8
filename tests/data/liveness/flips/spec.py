"""Each process flips its bit."""

from kmc.lang import IdentSet, Int, Map, Record, constant
from kmc.spec import spec

P = constant("P", IdentSet(symmetric=True, at_most=4), "The processes")

spec.symmetry("Sym", P)


class State(Record):
    x: Map[P, Int(0, 1)]


@spec.init
def init():
    yield State(x={p: 0 for p in P})


@spec.action
def flip(st, p: P):
    yield st.set(x=st.x.set(p, 1 - st.x[p]))
