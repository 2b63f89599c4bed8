"""Two jugs, a tap and a drain: measure out gallons that neither jug holds.

The puzzle of the film Die Hard 3, and the usual first spec: the checker solves it by finding a state in which
`NotSolved` is false, over the shortest way there.
"""

from kmc.lang import Int, Record, constant
from kmc.spec import NEXT, eventually, spec, weak_fairness

SmallJug = constant("SmallJug", Int(1, 99), "What the small jug holds, in gallons", 3)
BigJug = constant("BigJug", Int(1, 99), "What the big jug holds, in gallons", 5)
Wanted = constant("Wanted", Int(0, 99), "What the big jug must hold in the end, in gallons", 4)


class State(Record):
    """The gallons in each jug."""

    small: Int(0, SmallJug)
    big: Int(0, BigJug)


@spec.init
def init():
    """Both jugs are empty."""
    yield State(small=0, big=0)


@spec.action
def fill_small_jug(st):
    """From the tap, to the brim."""
    yield st.set(small=SmallJug)


@spec.action
def fill_big_jug(st):
    """From the tap, to the brim."""
    yield st.set(big=BigJug)


@spec.action
def empty_small_jug(st):
    """Down the drain."""
    yield st.set(small=0)


@spec.action
def empty_big_jug(st):
    """Down the drain."""
    yield st.set(big=0)


@spec.action
def small_to_big(st):
    """Pour until one is empty or the other is full."""
    poured = min(st.small, BigJug - st.big)
    yield st.set(small=st.small - poured, big=st.big + poured)


@spec.action
def big_to_small(st):
    """Pour until one is empty or the other is full."""
    poured = min(st.big, SmallJug - st.small)
    yield st.set(small=st.small + poured, big=st.big - poured)


@spec.invariant
def NotSolved(st):
    """False where the puzzle is solved: its counterexample is the solution."""
    return st.big != Wanted


@spec.invariant
def OneJugFullOrEmpty(st):
    """No action leaves both jugs partly filled."""
    return st.small in {0, SmallJug} or st.big in {0, BigJug}


@spec.reachable
def solved(st):
    """The big jug holds what is wanted."""
    return st.big == Wanted


@spec.specification
def Spec():
    """No fairness: the player may stop for ever."""
    return True


@spec.specification
def FairSpec():
    """The player never stops, but may do the same things for ever."""
    return weak_fairness(NEXT)


@spec.liveness
def EventuallySolved():
    """The big jug holds what is wanted in the end: too much to ask of a player who does not think."""
    return eventually(solved)
