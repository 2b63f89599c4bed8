"""x alternates between 0 and 1, and may become 2 from 1."""

from kmc.lang import Int, Record
from kmc.spec import eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 2)


@spec.init
def init():
    yield State(x=0)


@spec.action
def go(st):
    if st.x < 2:
        yield st.set(x=1 - st.x)


@spec.action
def out(st):
    if st.x == 1:
        yield st.set(x=2)


@spec.specification
def WfGo():
    return weak_fairness(go)


@spec.liveness
def Two():
    return eventually(lambda st: st.x == 2)
