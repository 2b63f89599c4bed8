"""x grows by 1, up to a limit."""

from kmc.lang import Int, Record, constant
from kmc.spec import eventually, eventually_always, leads_to, weak_fairness, spec

Limit = constant("Limit", Int(1, 9), "The last value of x")


class State(Record):
    x: Int(0, 9)


@spec.init
def init():
    yield State(x=0)


@spec.action
def up(st):
    if st.x < Limit:
        yield st.set(x=st.x + 1)


@spec.action(next=False)
def alien(st):
    """No part of Next: only fairness names it."""
    if st.x == 0:
        yield st.set(x=5)


@spec.specification
def Unfair():
    return True


@spec.specification
def WfUp():
    return weak_fairness(up)


@spec.specification
def WfAlien():
    return weak_fairness(alien)


@spec.liveness
def One():
    return eventually(lambda st: st.x == 1)


@spec.liveness
def Three():
    return eventually(lambda st: st.x == 3)


@spec.liveness
def Ten():
    return eventually(lambda st: st.x == 10)


@spec.liveness
def TwoInTheEnd():
    return eventually_always(lambda st: st.x == 2)


@spec.liveness
def ZeroLeadsToBelowOne():
    return leads_to(lambda st: st.x == 0, lambda st: st.x < 1)


@spec.liveness
def TwoLeadsToZero():
    return leads_to(lambda st: st.x == 2, lambda st: st.x == 0)


@spec.liveness
def FiveLeadsToSix():
    return leads_to(lambda st: st.x == 5, lambda st: st.x == 6)


@spec.liveness
def EvenLeadsToOne():
    return leads_to(lambda st: st.x in {0, 2}, lambda st: st.x == 1)


@spec.constraint
def Con(st):
    return st.x < 5
