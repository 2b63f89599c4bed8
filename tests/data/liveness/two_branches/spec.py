"""From 0 to 1 and on to 3, or from 0 to 2, which is a deadlock."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, leads_to, weak_fairness, spec


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action
def l(st):
    if st.x == 0:
        yield st.set(x=1)


@spec.action
def m(st):
    if st.x == 0:
        yield st.set(x=2)


@spec.action
def nn(st):
    if st.x == 1:
        yield st.set(x=3)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def ZeroLeadsToThree():
    return leads_to(lambda st: st.x == 0, lambda st: st.x == 3)
