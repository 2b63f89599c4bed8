"""From 0 to 1 and back, to 2 and back, or to 3."""

from kmc.lang import Int, Record
from kmc.spec import and_, eventually, strong_fairness, weak_fairness, spec


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action
def a(st):
    if st.x == 0:
        yield st.set(x=1)


@spec.action
def a2(st):
    if st.x == 1:
        yield st.set(x=0)


@spec.action
def b(st):
    if st.x == 0:
        yield st.set(x=2)


@spec.action
def b2(st):
    if st.x == 2:
        yield st.set(x=0)


@spec.action
def c(st):
    if st.x == 0:
        yield st.set(x=3)


@spec.specification
def WithoutC():
    return and_(strong_fairness(a), strong_fairness(b), weak_fairness(a2), weak_fairness(b2))


@spec.specification
def WithC():
    return and_(WithoutC(), strong_fairness(c))


@spec.liveness
def Three():
    return eventually(lambda st: st.x == 3)
