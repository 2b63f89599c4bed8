"""x goes round 0, 1, 2, or only 0 and 1; from 2 it may leave to 3."""

from kmc.lang import Int, Record
from kmc.spec import and_, eventually, strong_fairness, weak_fairness, spec


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action
def loop(st):
    if st.x < 3:
        yield st.set(x=(st.x + 1) % 3)


@spec.action
def short(st):
    if st.x == 1:
        yield st.set(x=0)


@spec.action(title="Exit")
def leave(st):
    if st.x == 2:
        yield st.set(x=3)


@spec.specification
def SfExit():
    return and_(weak_fairness(loop), strong_fairness(leave))


@spec.specification
def SfExitAndLoopFromOne():
    return and_(SfExit(), strong_fairness(and_(loop, lambda st: st.x == 1)))


@spec.liveness
def Three():
    return eventually(lambda st: st.x == 3)
