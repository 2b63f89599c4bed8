"""x may become 1; a guard, which no action reads, may go from 1 to 0."""

from kmc.lang import Int, Record
from kmc.spec import and_, eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 1)
    g: Int(0, 1)


@spec.init
def init():
    yield State(x=0, g=1)


@spec.action
def a(st):
    if st.x == 0:
        yield st.set(x=1)


@spec.action
def off(st):
    if st.g == 1:
        yield st.set(g=0)


@spec.specification
def WfGuarded():
    return weak_fairness(and_(a, lambda st: st.g == 1))


@spec.liveness
def OneOrUnguarded():
    return eventually(lambda st: st.x == 1 or st.g == 0)
