"""Each process flips its bit."""

from kmc.lang import IdentSet, Int, Map, Record, constant
from kmc.spec import NEXT, always_eventually, and_, for_all, steps, strong_fairness, weak_fairness, spec

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


@spec.specification
def SfEachUp():
    return for_all(P, lambda p: strong_fairness(and_(steps(flip, p), lambda st: st.x[p] == 0)))


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def EachIsUpAgain():
    return for_all(P, lambda p: always_eventually(lambda st: st.x[p] == 1))
