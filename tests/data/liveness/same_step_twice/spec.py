"""The step from 0 to 1 is one of two actions."""

from kmc.lang import Int, Record
from kmc.spec import and_, eventually, strong_fairness, weak_fairness, spec


class State(Record):
    x: Int(0, 2)


@spec.init
def init():
    yield State(x=0)


@spec.action
def a(st):
    if st.x == 0:
        yield st.set(x=1)
        yield st.set(x=2)


@spec.action
def b(st):
    if st.x == 0:
        yield st.set(x=1)


@spec.action
def back(st):
    if st.x == 1:
        yield st.set(x=0)


@spec.specification
def SfAAndB():
    return and_(strong_fairness(a), strong_fairness(b), weak_fairness(back))


@spec.liveness
def Two():
    return eventually(lambda st: st.x == 2)
