"""One action goes round 0, 1, 2; another goes anywhere, also round, and stays."""

from kmc.lang import Int, Record
from kmc.spec import always_eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 2)


@spec.init
def init():
    yield State(x=0)


@spec.action
def a(st):
    yield st.set(x=(st.x + 1) % 3)


@spec.action
def b(st):
    for x in range(0, 3):
        yield st.set(x=x)


@spec.specification
def WfA():
    return weak_fairness(a)


@spec.liveness
def AAgain():
    return always_eventually(a)
