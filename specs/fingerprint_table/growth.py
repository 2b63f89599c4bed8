"""Growth in place, between two batches: `FingerprintTable.grow` of kmc/engine/stores/fingerprint_table.py.

No thread inserts meanwhile. Ranges of slots are moved from the last to the first, each by all threads together: they
take pieces of it, and each writes to lines of its own. Between ranges, and before what lies aside is put back by one
thread, all threads are joined.
"""

from kmc.spec import spec

from .insert import home, limit, without_piece
from .mutants import GrowsWhileInserting, MovesAnywhere
from .types import (
    At,
    Growth,
    LastRange,
    LinesAfter,
    LinesBefore,
    LineWords,
    MoverAt,
    MoveStep,
    Phase,
    Slot,
    Thread,
    Wide,
)


def whole_lines(slots):
    """`_whole_lines`: so many slots, rounded up to whole lines."""
    return (slots + LineWords - 1) // LineWords * LineWords


def low_of(high):
    """`FingerprintTable._move`: where the range below `high` begins; all of it belongs to slots from `high` on."""
    if high <= LastRange:
        return 0
    return whole_lines((high * LinesBefore + LinesAfter - 1) // LinesAfter)


def window_first(growth, start):
    """`move`: the first slot of the lines that belong to the piece from `start` on."""
    return max(growth.high, (start * LinesAfter + LinesBefore * LineWords - 1) // (LinesBefore * LineWords) * LineWords)


def window_last(end):
    """`move`: the end of the lines that belong to the piece before `end`."""
    return end * LinesAfter // (LinesBefore * LineWords) * LineWords


@spec.action
def start_growth(st):
    """`LevelMaker._run`: all threads have ended, and the main thread makes room if the batches that wait need it."""
    stopped = {t for t in Thread if st.workers[t].at in {At.IDLE, At.WAIT}}
    waiting = {t for t in Thread if st.workers[t].at == At.WAIT}
    if not st.pause or st.growth.phase != Phase.NONE:
        return
    if len(stopped) < len(Thread) and not GrowsWhileInserting:
        return
    if st.count + len(waiting) <= limit(st.lines):
        yield st.set(pause=False)
        return
    high = LinesBefore * LineWords
    growth = Growth(phase=Phase.MOVING, high=high, cursor=low_of(high))
    yield st.set(growth=growth, movers={t: without_piece(MoverAt.NEXT) for t in Thread})


@spec.action
def take_piece(st, t: Thread):
    """`move`: take the next slots of the range, by an atomic addition to `TableMove.cursor`."""
    growth = st.growth
    if growth.phase != Phase.MOVING or st.movers[t].at != MoverAt.NEXT:
        return
    if growth.cursor >= growth.high:
        yield st.set(movers=st.movers.set(t, without_piece(MoverAt.ENDED)))
        return
    end = min(growth.cursor + MoveStep, growth.high)
    mover = without_piece(MoverAt.LIFT).set(start=growth.cursor, slot=growth.cursor, end=end)
    yield st.set(movers=st.movers.set(t, mover), growth=growth.set(cursor=growth.cursor + MoveStep))


def further(mover):
    """A thread that is done with a slot of its piece: the next one, or the next piece."""
    if mover.slot + 1 < mover.end:
        return mover.set(at=MoverAt.LIFT, slot=mover.slot + 1, first=0, second=0)
    return without_piece(MoverAt.NEXT)


@spec.action
def lift(st, t: Thread):
    """`move`, `move_wide`: take the fingerprint out of the next slot of the piece, which is left empty."""
    mover = st.movers[t]
    if mover.at != MoverAt.LIFT:
        return
    found = st.slots[mover.slot]
    if found.first == 0:
        yield st.set(movers=st.movers.set(t, further(mover)))
    else:
        held = mover.set(at=MoverAt.PUT, first=found.first, second=found.second)
        slots = st.slots.set(mover.slot, Slot(first=0, second=0))
        yield st.set(movers=st.movers.set(t, held), slots=slots)


@spec.action
def put(st, t: Thread):
    """`place`, `place_wide`: put it where it belongs, if that is in the window of the piece; else put it aside.

    `place` fills the home line only, and remembers how full it is; where it forgot that, it puts the fingerprint aside
    though there is room. `place_wide` goes on behind the home line.
    """
    mover = st.movers[t]
    if mover.at != MoverAt.PUT:
        return
    moved = st.set(movers=st.movers.set(t, further(mover)))
    entry = Slot(first=mover.first, second=mover.second)
    line = home(mover.first, LinesAfter) * LineWords
    first = 0 if MovesAnywhere else window_first(st.growth, mover.start)
    last = window_last(mover.end)
    end = line + LineWords if not Wide or MovesAnywhere else last
    target = min((slot for slot in range(line, end) if st.slots[slot].first == 0), default=LinesAfter * LineWords)
    fits = first <= line and (line < last or MovesAnywhere) and target < LinesAfter * LineWords
    if fits:
        yield moved.set(slots=st.slots.set(target, entry))
    if not fits or not Wide:
        yield moved.set(aside=st.aside.append(entry))


@spec.action
def end_range(st):
    """`FingerprintTable._move`: all threads have ended; the range below is next, or what lies aside."""
    growth = st.growth
    if growth.phase != Phase.MOVING or any(st.movers[t].at != MoverAt.ENDED for t in Thread):
        return
    low = low_of(growth.high)
    if low == 0:
        yield st.set(growth=Growth(phase=Phase.SETTLING, high=0, cursor=0))
    else:
        yield st.set(
            growth=growth.set(high=low, cursor=low_of(low)), movers={t: without_piece(MoverAt.NEXT) for t in Thread}
        )


def insert_alone(slots, lines, entry):
    """`slot_taken` and `insert_wide` in a thread that is alone: the slots with the fingerprint in them.

    Lines fill from their first slot on, so the slots are looked at one after another from the home line on.
    """
    size = lines * LineWords
    start = home(entry.first, lines) * LineWords
    offset = min(
        distance
        for distance in range(0, size)
        if slots[(start + distance) % size].first == 0
        or slots[(start + distance) % size].first == entry.first
        and (not Wide or slots[(start + distance) % size].second in {0, entry.second})
    )
    return slots.set((start + offset) % size, entry)


@spec.action
def settle(st):
    """`settle`, `settle_wide`: put what lies aside into the table, in one thread; at the end the table has grown."""
    if st.growth.phase != Phase.SETTLING:
        return
    if len(st.aside) > 0:
        slots = insert_alone(st.slots, LinesAfter, st.aside.at(len(st.aside)))
        yield st.set(slots=slots, aside=st.aside.upto(len(st.aside) - 1))
    else:
        yield st.set(growth=Growth(phase=Phase.NONE, high=0, cursor=0), lines=LinesAfter, pause=False)
