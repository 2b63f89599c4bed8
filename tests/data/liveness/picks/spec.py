"""x moves between values; each of them, as the next, is an instance of the action."""

from kmc.lang import Int, Record, constant
from kmc.spec import spec

Top = constant("Top", Int(1, 5), "The largest value")

Place = Int(0, Top)


class State(Record):
    x: Place


@spec.init
def init():
    yield State(x=0)


@spec.action
def pick(st, i: Place):
    if st.x != i:
        yield st.set(x=i)
