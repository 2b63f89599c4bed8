"""x alternates between 0 and 1, and may become 2: from both, or from 0 only."""

from kmc.lang import Bool, Int, Record, constant
from kmc.spec import NEXT, always_eventually, and_, eventually, eventually_always, for_all, implies, weak_fairness, spec

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


@spec.specification
def WfBoth():
    return and_(weak_fairness(toggle), weak_fairness(leave))


@spec.specification
def WfLeave():
    return weak_fairness(leave)


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.specification
def WfLeaveEach():
    return for_all(range(0, 2), lambda i: weak_fairness(leave, i))


@spec.specification
def WfToggle():
    return weak_fairness(toggle)


@spec.liveness
def Two():
    return eventually(lambda st: st.x == 2)


@spec.liveness
def StaysImpliesOneAgain():
    return implies(eventually_always(lambda st: st.x < 2), always_eventually(lambda st: st.x == 1))


@spec.liveness
def StaysImpliesOneInTheEnd():
    return implies(eventually_always(lambda st: st.x < 2), eventually_always(lambda st: st.x == 1))


@spec.constraint
def Con(st):
    return st.x < 2
