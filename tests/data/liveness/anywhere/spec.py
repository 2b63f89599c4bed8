"""x goes anywhere, or stays."""

from kmc.lang import Int, Record, constant
from kmc.spec import spec

Top = constant("Top", Int(1, 5), "The largest value")


class State(Record):
    x: Int(0, Top)


@spec.init
def init():
    yield State(x=0)


@spec.action
def n(st):
    for x in range(0, Top + 1):
        yield st.set(x=x)
