"""x alternates, and y changes with each return of x to 0; a view forgets y."""

from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    x: Int(0, 1)
    y: Int(0, 1)


spec.view("Vw", drop=["y"])


@spec.init
def init():
    yield State(x=0, y=0)


@spec.action
def a(st):
    if st.x == 0:
        yield st.set(x=1)


@spec.action
def b(st):
    if st.x == 1:
        yield st.set(x=0, y=1 - st.y)
