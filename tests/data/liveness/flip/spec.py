"""x alternates between 0 and 1."""

from kmc.lang import Int, Record
from kmc.spec import NEXT, always, always_eventually, and_, eventually, weak_fairness, spec


class State(Record):
    x: Int(0, 1)


@spec.init
def init():
    yield State(x=0)


@spec.action
def tick(st):
    yield st.set(x=1 - st.x)


@spec.specification
def Unfair():
    return True


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.liveness
def One():
    return eventually(lambda st: st.x == 1)


@spec.liveness
def AnyAgain():
    return always_eventually(lambda st: st.x == 0 or st.x == 1)


@spec.liveness
def OneAgainAndNever():
    return and_(always_eventually(lambda st: st.x == 1), always(lambda st: st.x < 1))
