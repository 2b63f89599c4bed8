"""x grows by 1 up to 2, or falls back to 0."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, and_, eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 2)


@spec.init
def init():
    yield State(x=0)


@spec.action
def a(st):
    if st.x < 2:
        yield st.set(x=st.x + 1)
        yield st.set(x=0)


@spec.action
def b(st):
    if st.x == 2:
        yield st.set(x=0)


@spec.specification
def WfGrow():
    return and_(weak_fairness(and_(NEXT, lambda st, new: new.x == st.x + 1)), weak_fairness(NEXT))


@spec.liveness
def Two():
    return eventually(lambda st: st.x == 2)
