"""At x = 0 an action changes y only, another makes x 1."""

from kmc.lang import Int, Record
from kmc.spec import spec


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
