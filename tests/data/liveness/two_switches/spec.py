"""Two switches are turned on; the first may be turned off again."""

from kmc.lang import Int, Map, Record
from kmc.spec import and_, eventually, strong_fairness, weak_fairness, spec

Switch = Int(1, 2)


class State(Record):
    x: Map[Switch, Int(0, 1)]


@spec.init
def init():
    yield State(x={1: 0, 2: 0})


@spec.action
def step(st, i: Switch):
    if st.x[i] < 1:
        yield st.set(x=st.x.set(i, 1))


@spec.action
def reset(st):
    if st.x[1] == 1:
        yield st.set(x=st.x.set(1, 0))


@spec.specification
def SfSomeStep():
    return and_(strong_fairness(step), weak_fairness(reset))


@spec.specification
def WfFirstStep():
    return weak_fairness(step, 1)


@spec.liveness
def SecondIsOn():
    return eventually(lambda st: st.x[2] == 1)
