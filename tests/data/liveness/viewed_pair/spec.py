"""x alternates, and y changes with each return of x to 0; a view forgets y."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, always_eventually, eventually, eventually_always, weak_fairness, spec


class State(Record):
    x: Int(0, 1)
    y: Int(0, 1)


spec.view("Vw", drop=["y"])


@spec.init
def init():
    yield State(x=0, y=0)


@spec.action
def a(st):
    if st.x == 0:
        yield st.set(x=1)


@spec.action
def b(st):
    if st.x == 1:
        yield st.set(x=0, y=1 - st.y)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def YIsOne():
    return eventually(lambda st: st.y == 1)


@spec.liveness
def XIsOneAgain():
    return always_eventually(lambda st: st.x == 1)


@spec.liveness
def YIsOneAgain():
    return always_eventually(lambda st: st.y == 1)


@spec.liveness
def YIsZeroInTheEnd():
    return eventually_always(lambda st: st.y == 0)
