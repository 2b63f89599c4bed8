"""x moves between three values; each pair of them is an instance of the action."""

from kmc.lang import Int, Record
from kmc.spec import always_eventually, eventually, for_all, strong_fairness, spec

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


@spec.specification
def SfEach():
    return for_all(range(0, 3), lambda i: for_all(range(0, 3), lambda j: strong_fairness(move, i, j)))


@spec.specification
def SfFromEach():
    return for_all(range(0, 3), lambda i: strong_fairness(move, i))


@spec.liveness
def Two():
    return eventually(lambda st: st.x == 2)


@spec.liveness
def TwoAgain():
    return always_eventually(lambda st: st.x == 2)
