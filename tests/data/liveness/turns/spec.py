"""Who has the turn passes it on, to anyone."""

from kmc.lang import IdentSet, Record, constant
from kmc.spec import NEXT, always_eventually, for_all, weak_fairness, spec

P = constant("P", IdentSet(symmetric=True, at_most=4), "The processes")

spec.symmetry("Sym", P)


class State(Record):
    t: P


@spec.init
def init():
    for p in P:
        yield State(t=p)


@spec.action(title="Pass")
def pass_on(st, p: P, q: P):
    if st.t == p and q != p:
        yield st.set(t=q)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def EachHasItAgain():
    return for_all(P, lambda p: always_eventually(lambda st: st.t == p))
