"""x goes round 0, 1, 2, and may leave from 2 to 3, which is a deadlock."""

from kmc.lang import Int, Record
from kmc.spec import (
    always_eventually,
    and_,
    enabled,
    eventually,
    eventually_always,
    iff,
    implies,
    leads_to,
    not_,
    or_,
    strong_fairness,
    weak_fairness,
    spec,
)


class State(Record):
    x: Int(0, 3)


@spec.init
def init():
    yield State(x=0)


@spec.action
def r(st):
    if st.x < 3:
        yield st.set(x=(st.x + 1) % 3)


@spec.action
def leave(st):
    if st.x == 2:
        yield st.set(x=3)


@spec.specification
def Unfair():
    return True


@spec.specification
def WfR():
    return weak_fairness(r)


@spec.specification
def WfRAndSfLeave():
    return and_(weak_fairness(r), strong_fairness(leave))


@spec.liveness
def OneAgain():
    return always_eventually(lambda st: st.x == 1)


@spec.liveness
def ThreeInTheEndOrOneAgain():
    return or_(eventually_always(lambda st: st.x == 3), always_eventually(lambda st: st.x == 1))


@spec.liveness
def TwoAgainImpliesZeroAgain():
    return implies(always_eventually(lambda st: st.x == 2), always_eventually(lambda st: st.x == 0))


@spec.liveness
def ZeroAgainImpliesTwoAgain():
    return implies(always_eventually(lambda st: st.x == 0), always_eventually(lambda st: st.x == 2))


@spec.liveness
def NotOneAgain():
    return not_(always_eventually(lambda st: st.x == 1))


@spec.liveness
def NotFour():
    return not_(eventually(lambda st: st.x == 4))


@spec.liveness
def RoundAgain():
    return always_eventually(r)


@spec.liveness
def RoundIsEnabledAgain():
    return always_eventually(enabled(r))


@spec.liveness
def EnabledLeadsToThree():
    return leads_to(enabled(leave), lambda st: st.x == 3)


@spec.liveness
def TwoAndThenTwoOrThreeAgain():
    return eventually(and_(lambda st: st.x == 2, always_eventually(lambda st: st.x in {2, 3})))


@spec.liveness
def OneThenZero():
    return eventually(and_(lambda st: st.x == 1, eventually(lambda st: st.x == 0)))


@spec.liveness
def NotZeroLeadsToTwo():
    return not_(leads_to(lambda st: st.x == 0, lambda st: st.x == 2))


@spec.liveness
def TwoIffThree():
    return iff(eventually(lambda st: st.x == 2), eventually(lambda st: st.x == 3))
