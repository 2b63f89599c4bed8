"""The promises of the table, under which fairness, what must be possible, and the symmetry of threads."""

from kmc.spec import NEXT, eventually, spec, weak_fairness

from .growth import window_first, window_last
from .insert import home
from .types import LEAST, Calls, LinesAfter, LineWords, MaxSlots, MoverAt, Phase, Range, SecondWords, Thread, Wide

spec.symmetry("symmThreads", Thread)


def in_hands(st, first, second):
    """How many threads insert a fingerprint now, without an answer yet."""
    return len({t for t in Thread if st.workers[t].first == first and st.workers[t].second == second})


def is_answered(st, first, second):
    """Whether some insertion of a fingerprint has its answer."""
    return Calls - st.left[first][second] - in_hands(st, first, second) > 0


def holds(st, slot, first, second):
    """Whether a slot holds a fingerprint."""
    entry = st.slots[slot]
    return entry.first == first and (not Wide or entry.second == second)


def is_found(st, first, second):
    """`contains`, `contains_wide`: whether a lookup finds a fingerprint before a line with an empty slot ends it."""
    size = st.lines * LineWords
    start = home(first, st.lines) * LineWords
    return any(
        holds(st, (start + distance) % size, first, second)
        and all(st.slots[(start + before) % size].first != 0 for before in range(0, distance))
        for distance in range(0, size)
    )


@spec.invariant
def NewExactlyOnce(st):
    """No fingerprint is new twice: no state is explored twice."""
    return all(st.new[f][s] <= 1 for f in range(LEAST, Range + 1) for s in range(1, SecondWords + 1))


@spec.invariant
def NoStateLost(st):
    """A fingerprint that was inserted was new once: no state is taken for another, and none is forgotten."""
    return all(
        st.new[f][s] >= 1 for f in range(LEAST, Range + 1) for s in range(1, SecondWords + 1) if is_answered(st, f, s)
    )


@spec.invariant
def NewStatesAreFound(st):
    """While the table does not grow, a lookup finds every fingerprint that was new."""
    return st.growth.phase != Phase.NONE or all(
        is_found(st, f, s) for f in range(LEAST, Range + 1) for s in range(1, SecondWords + 1) if st.new[f][s] > 0
    )


@spec.invariant
def NoDuplicates(st):
    """No fingerprint has two slots, also while the table grows."""
    return all(
        len({slot for slot in range(0, MaxSlots) if holds(st, slot, f, s)}) <= 1
        for f in range(LEAST, Range + 1)
        for s in range(1, SecondWords + 1)
    )


@spec.invariant
def LinesFillFromTheFirstSlot(st):
    """Behind an empty slot, a line has no fingerprint; while the table grows, lines are emptied from the first slot."""
    return st.growth.phase != Phase.NONE or all(
        st.slots[slot].first == 0 or st.slots[slot - 1].first != 0
        for slot in range(0, MaxSlots)
        if slot % LineWords != 0
    )


@spec.invariant
def MoversKeepApart(st):
    """Threads that move fingerprints write behind all slots that are read in this range, each to lines of its own."""
    moving = {t for t in Thread if st.movers[t].at in {MoverAt.LIFT, MoverAt.PUT}}
    return all(
        window_first(st.growth, st.movers[t].start) >= st.growth.high
        and (
            t == u
            or window_last(st.movers[t].end) <= window_first(st.growth, st.movers[u].start)
            or window_last(st.movers[u].end) <= window_first(st.growth, st.movers[t].start)
        )
        for t in moving
        for u in moving
    )


@spec.reachable
def all_are_in_the_table(st):
    """All insertions can end."""
    return all(
        st.left[f][s] == 0 and st.new[f][s] > 0 for f in range(LEAST, Range + 1) for s in range(1, SecondWords + 1)
    )


@spec.reachable
def the_table_has_grown(st):
    """The table can grow."""
    return st.lines == LinesAfter


@spec.reachable
def something_lies_aside(st):
    """While the table grows, a fingerprint can belong to the lines of another thread."""
    return len(st.aside) > 0


@spec.specification
def Spec():
    """No fairness: all threads may stop for ever."""
    return True


@spec.specification
def FairSpec():
    """Some thread goes on as long as one can; no thread is favoured."""
    return weak_fairness(NEXT)


@spec.liveness
def AllAnswered():
    """In the end every insertion has its answer, however the threads are scheduled."""
    return eventually(
        lambda st: all(
            st.left[f][s] == 0 and in_hands(st, f, s) == 0
            for f in range(LEAST, Range + 1)
            for s in range(1, SecondWords + 1)
        )
    )
