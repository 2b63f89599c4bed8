"""x goes round 0, 1, 2, and may leave from 2 to 3, which is a deadlock."""

from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action
def r(st):
    if st.x < 3:
        yield st.set(x=(st.x + 1) % 3)


@spec.action
def leave(st):
    if st.x == 2:
        yield st.set(x=3)
