"""Two processes request, enter and leave a critical section."""

from kmc.lang import Int, Map, Record
from kmc.spec import spec

Process = Int(1, 2)


class State(Record):
    p: Map[Process, Int(0, 2)]


@spec.init
def init():
    yield State(p={1: 0, 2: 0})


@spec.action
def req(st, i: Process):
    if st.p[i] == 0:
        yield st.set(p=st.p.set(i, 1))


@spec.action
def ent(st, i: Process):
    if st.p[i] == 1 and st.p[3 - i] != 2:
        yield st.set(p=st.p.set(i, 2))


@spec.action
def lea(st, i: Process):
    if st.p[i] == 2:
        yield st.set(p=st.p.set(i, 0))
