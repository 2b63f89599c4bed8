"""x moves between three values; each pair of them is an instance of the action."""

from kmc.lang import Int, Record
from kmc.spec import spec

Place = Int(0, 2)


class State(Record):
    x: Place


@spec.init
def init():
    yield State(x=0)


@spec.action
def move(st, i: Place, j: Place):
    if st.x == i and i != j:
        yield st.set(x=j)
