"""x grows without an end; only a constraint makes the graph finite."""

from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    x: Int(0, 99)


@spec.init
def init():
    yield State(x=0)


@spec.action
def n(st):
    yield st.set(x=st.x + 1)
