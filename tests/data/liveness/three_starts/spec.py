"""From any of three initial states to 3."""

from kmc.lang import Int, Record
from kmc.spec import eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    for x in range(0, 3):
        yield State(x=x)


@spec.action
def go(st):
    if st.x < 3:
        yield st.set(x=3)


@spec.specification
def WfGo():
    return weak_fairness(go)


@spec.liveness
def Three():
    return eventually(lambda st: st.x == 3)
