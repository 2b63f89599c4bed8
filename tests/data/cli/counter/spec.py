"""A counter that climbs by ones; its constants make it fail in one way or another."""

from kmc.lang import Bool, Int, Record, constant
from kmc.spec import always_eventually, spec

Top = constant("Top", Int(1, 9), "Where the counter stops", 3)
AssertBelow = constant("AssertBelow", Int(0, 10), "An assertion holds below this count", 10)
Overflow = constant("Overflow", Bool, "Climb out of the domain", False)


class State(Record):
    """The count."""

    count: Int(0, 9)


@spec.init
def init():
    """At zero."""
    yield State(count=0)


@spec.action
def climb(st, by: Int(1, 2)):
    """Up by one or two."""
    assert st.count < AssertBelow
    if by == 1 and st.count < Top:
        yield st.set(count=st.count + 1)
    if by == 2 and Overflow and st.count == Top:
        yield st.set(count=st.count + 9)


@spec.action
def fall(st):
    """Never: the counter does not get there."""
    if st.count > Top:
        yield st.set(count=0)


@spec.invariant
def InRange(st):
    """Between zero and the top."""
    return st.count <= Top


@spec.invariant
def BelowTwo(st):
    """False from two on."""
    return st.count < 2


@spec.invariant
def NotZero(st):
    """False initially."""
    return st.count != 0


@spec.action_property
def NeverToTwo(st, nxt):
    """False of the step to two."""
    return nxt.count != 2


@spec.constraint
def UpToOne(st):
    """At most one."""
    return st.count <= 1


@spec.reachable
def at_the_top(st):
    """The counter stops."""
    return st.count == Top


@spec.reachable
def beyond_the_top(st):
    """Never."""
    return st.count > Top


@spec.liveness
def TopAgainAndAgain():
    """Not so: nothing is fair here."""
    return always_eventually(lambda st: st.count == Top)
