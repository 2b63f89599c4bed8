"""x grows from 1 to 5, and then stutters."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, eventually_always, implies, weak_fairness, spec


class State(Record):
    x: Int(1, 5)


@spec.init
def init():
    yield State(x=1)


@spec.action
def n(st):
    yield st.set(x=5 if st.x == 5 else st.x + 1)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def FiveInTheEndIfOneFirst():
    return implies(lambda st: st.x == 1, eventually_always(lambda st: st.x == 5))
