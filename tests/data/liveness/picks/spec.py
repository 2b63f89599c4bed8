"""x moves between values; each of them, as the next, is an instance of the action."""

from kmc.lang import Int, Record, constant
from kmc.spec import always_eventually, eventually_always, for_all, there_exists, weak_fairness, spec

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


@spec.specification
def Unfair():
    return True


@spec.specification
def WfEach():
    return for_all(range(0, Top + 1), lambda i: weak_fairness(pick, i))


@spec.liveness
def EachAgain():
    return for_all(range(0, Top + 1), lambda v: always_eventually(lambda st: st.x == v))


@spec.liveness
def OneInTheEnd():
    return there_exists(range(0, Top + 1), lambda v: eventually_always(lambda st: st.x == v))
