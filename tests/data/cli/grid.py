"""A million states: a walk on a grid, for tests that stop a check before its end."""

from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    """A place on the grid."""

    x: Int(0, 999)
    y: Int(0, 999)


@spec.init
def init():
    """In the corner."""
    yield State(x=0, y=0)


@spec.action
def right(st):
    """One to the right."""
    if st.x < 999:
        yield st.set(x=st.x + 1)


@spec.action
def up(st):
    """One up."""
    if st.y < 999:
        yield st.set(y=st.y + 1)


@spec.invariant
def OnTheGrid(st):
    """Always."""
    return st.x >= 0
