"""At 0 it may stutter, or go to 1."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, eventually, strong_fairness, weak_fairness, spec


class State(Record):
    x: Int(0, 1)


@spec.init
def init():
    yield State(x=0)


@spec.action
def idle(st):
    if st.x == 0:
        yield st


@spec.action
def go(st):
    if st.x == 0:
        yield st.set(x=1)


@spec.specification
def WfIdle():
    return weak_fairness(idle)


@spec.specification
def SfIdle():
    return strong_fairness(idle)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def One():
    return eventually(lambda st: st.x == 1)
