"""The cycle of 3 and 4 is reached step by step, or by one jump."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, eventually_always, weak_fairness, spec


class State(Record):
    x: Int(0, 4)


@spec.init
def init():
    yield State(x=0)


@spec.action
def s(st):
    if st.x < 3:
        yield st.set(x=st.x + 1)


@spec.action
def j(st):
    if st.x == 0:
        yield st.set(x=3)


@spec.action(title="Cy")
def cycle(st):
    if st.x in {3, 4}:
        yield st.set(x=7 - st.x)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def ThreeInTheEnd():
    return eventually_always(lambda st: st.x == 3)
