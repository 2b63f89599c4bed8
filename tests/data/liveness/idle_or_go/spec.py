"""At 0 it may stutter, or go to 1."""

from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    x: Int(0, 1)


@spec.init
def init():
    yield State(x=0)


@spec.action
def idle(st):
    if st.x == 0:
        yield st


@spec.action
def go(st):
    if st.x == 0:
        yield st.set(x=1)
