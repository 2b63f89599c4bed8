"""From 0 to 1, which alternates with 3, or to 2, which is a deadlock."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, always_eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action
def go(st):
    if st.x == 0:
        yield st.set(x=1)
        yield st.set(x=2)


@spec.action
def spin(st):
    if st.x in {1, 3}:
        yield st.set(x=4 - st.x)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def ThreeAgain():
    return always_eventually(lambda st: st.x == 3)
