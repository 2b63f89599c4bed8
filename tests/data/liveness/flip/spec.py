"""x alternates between 0 and 1."""

from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    x: Int(0, 1)


@spec.init
def init():
    yield State(x=0)


@spec.action
def tick(st):
    yield st.set(x=1 - st.x)
