"""x grows by 1, up to a limit."""

from kmc.lang import Int, Record, constant
from kmc.spec import spec

Limit = constant("Limit", Int(1, 9), "The last value of x")


class State(Record):
    x: Int(0, 9)


@spec.init
def init():
    yield State(x=0)


@spec.action
def up(st):
    if st.x < Limit:
        yield st.set(x=st.x + 1)
