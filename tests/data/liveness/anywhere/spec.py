"""x goes anywhere, or stays."""

from kmc.lang import Int, Record, constant
from kmc.spec import NEXT, always, implies, leads_to, weak_fairness, spec

Top = constant("Top", Int(1, 5), "The largest value")


class State(Record):
    x: Int(0, Top)


@spec.init
def init():
    yield State(x=0)


@spec.action
def n(st):
    for x in range(0, Top + 1):
        yield st.set(x=x)


@spec.specification
def Unfair():
    return True


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def NoReturnToZero():
    return always(implies(lambda st: st.x == 1, always(implies(lambda st: st.x == 0, always(lambda st: st.x == 0)))))


@spec.liveness
def NineLeadsToEight():
    return leads_to(lambda st: st.x == 9, lambda st: st.x == 8)
