"""x grows without an end; only a constraint makes the graph finite."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 99)


@spec.init
def init():
    yield State(x=0)


@spec.action
def n(st):
    yield st.set(x=st.x + 1)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def NineAndEight():
    return eventually(lambda st: st.x == 9 and st.x == 8)


@spec.constraint
def Con(st):
    return st.x < 5
