"""Two tries, each of which may succeed; a success can be turned into a win."""

from kmc.lang import Int, Record
from kmc.spec import and_, eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 2)
    c: Int(0, 2)


@spec.init
def init():
    yield State(x=0, c=0)


@spec.action(title="Try")
def attempt(st):
    if st.c < 2 and st.x == 0:
        yield st.set(c=st.c + 1)
        yield st.set(c=st.c + 1, x=1)


@spec.action
def win(st):
    if st.x == 1:
        yield st.set(x=2)


@spec.specification
def WfBoth():
    return and_(weak_fairness(attempt), weak_fairness(win))


@spec.liveness
def Won():
    return eventually(lambda st: st.x == 2)


@spec.liveness
def WonOrSpent():
    return eventually(lambda st: st.x == 2 or (st.c == 2 and st.x == 0))
