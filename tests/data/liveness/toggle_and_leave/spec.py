"""x alternates between 0 and 1, and may become 2: from both, or from 0 only."""

from kmc.lang import Bool, Int, Record, constant
from kmc.spec import spec

FromOne = constant("FromOne", Bool, "Whether x may become 2 from 1 too")


class State(Record):
    x: Int(0, 2)


@spec.init
def init():
    yield State(x=0)


@spec.action
def toggle(st, i: Int(0, 1)):
    if st.x == i:
        yield st.set(x=1 - i)


@spec.action
def leave(st, i: Int(0, 1)):
    if st.x == i and (FromOne or i == 0):
        yield st.set(x=2)
