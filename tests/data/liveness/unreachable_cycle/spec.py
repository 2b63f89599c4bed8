"""x alternates between 0 and 1; a cycle of 3 and 4 cannot be reached."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, always_eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 4)


@spec.init
def init():
    yield State(x=0)


@spec.action
def go(st):
    if st.x in {0, 1}:
        yield st.set(x=1 - st.x)


@spec.action
def bad(st):
    if st.x in {3, 4}:
        yield st.set(x=7 - st.x)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def ZeroAgain():
    return always_eventually(lambda st: st.x == 0)
