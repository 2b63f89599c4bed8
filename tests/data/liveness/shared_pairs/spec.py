"""One action goes round 0, 1, 2; another goes anywhere, also round, and stays."""

from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    x: Int(0, 2)


@spec.init
def init():
    yield State(x=0)


@spec.action
def a(st):
    yield st.set(x=(st.x + 1) % 3)


@spec.action
def b(st):
    for x in range(0, 3):
        yield st.set(x=x)
