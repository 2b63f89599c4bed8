"""At x = 0 an action changes y only, another makes x 1."""

from kmc.lang import Int, Record
from kmc.spec import and_, eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 1)
    y: Int(0, 1)


@spec.init
def init():
    yield State(x=0, y=0)


@spec.action
def hid(st):
    if st.x == 0:
        yield st.set(y=1 - st.y)


@spec.action
def go(st):
    if st.x == 0:
        yield st.set(x=1)


@spec.specification
def WfHidOfX():
    """WF_x(Hid): no step of it changes x."""
    return weak_fairness(and_(hid, lambda st, new: new.x != st.x))


@spec.specification
def WfHid():
    return weak_fairness(hid)


@spec.liveness
def Hidden():
    return eventually(lambda st: st.y == 1)


@spec.liveness
def HiddenOrGone():
    return eventually(lambda st: st.y == 1 or st.x == 1)
