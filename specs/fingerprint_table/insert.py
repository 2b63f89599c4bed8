"""Insertion: every action is one access of a thread to shared memory, with the arithmetic that follows it.

The names in backquotes are functions of the code: `slot_taken` (with `insert`) in kmc/engine/loops/
fingerprint_table_64.py, `insert_wide` and `claim` in fingerprint_table_128.py, `flush` and `work` in expand.py.
A batch is one fingerprint.
"""

from kmc.spec import spec

from .mutants import (
    ComparesBehindEmpty,
    FirstWordOwnsSlot,
    FirstWordSuffices,
    KeepsNoReserve,
    LostSwapGoesOn,
    LostSwapIsKnown,
    NeverReadsAgain,
    StoresSecondWord,
    StoresWithoutSwap,
)
from .types import (
    LEAST,
    At,
    Calls,
    FirstWord,
    FirstWords,
    Growth,
    LineIsReadTwice,
    LineIsTorn,
    LinesAfter,
    LinesBefore,
    LineWords,
    MaxSlots,
    Mover,
    MoverAt,
    Phase,
    Range,
    SecondWord,
    SecondWords,
    Slot,
    State,
    Thread,
    Wide,
    Word,
    Worker,
)


def home(first, lines):
    """`home`: the line where a fingerprint belongs in a table of so many lines."""
    return ((first - 1) * lines) // Range


def limit(lines):
    """`_limit`: how many fingerprints so many lines may hold, five eighths and at most all slots but one."""
    return min(lines * LineWords * 5 // 8, lines * LineWords - 1)


spec.assume(limit(LinesAfter) >= FirstWords * SecondWords + len(Thread) - 1)


def idle():
    """A thread between two batches."""
    return Worker(
        at=At.IDLE,
        first=0,
        second=0,
        lines=0,
        line=0,
        unread=set(),
        seen={w: 0 for w in range(0, LineWords)},
        same=set(),
        empty=0,
        is_new=False,
    )


def without_piece(at):
    """A thread that moves nothing."""
    return Mover(at=at, start=0, slot=0, end=0, first=0, second=0)


@spec.init
def init():
    """The table is empty, and each fingerprint will be inserted `Calls` times, by whichever thread takes it."""
    yield State(
        slots={slot: Slot(first=0, second=0) for slot in range(0, MaxSlots)},
        lines=LinesBefore,
        count=0,
        pause=False,
        workers={t: idle() for t in Thread},
        growth=Growth(phase=Phase.NONE, high=0, cursor=0),
        movers={t: without_piece(MoverAt.ENDED) for t in Thread},
        aside=[],
        left={f: {s: Calls for s in range(1, SecondWords + 1)} for f in range(LEAST, Range + 1)},
        new={f: {s: 0 for s in range(1, SecondWords + 1)} for f in range(LEAST, Range + 1)},
    )


def working(st, t, worker):
    """The state in which a thread has changed its registers only."""
    return st.set(workers=st.workers.set(t, worker))


def reading(me, line):
    """A thread that reads a line next, all of it."""
    unread = {w for w in range(0, LineWords)} if LineIsTorn else set()
    return me.set(at=At.READ, line=line, same=set(), empty=0, unread=unread)


def answered(st, t, is_new):
    """The state in which a thread has its answer, which it will count next."""
    me = st.workers[t]
    counts = st.new[me.first]
    new = st.new.set(me.first, counts.set(me.second, counts[me.second] + 1)) if is_new else st.new
    return st.set(workers=st.workers.set(t, idle().set(at=At.COUNT, is_new=is_new)), new=new)


def go_to_empty(me, empty):
    """Where no slot of the line holds the fingerprint: to the first slot that was seen empty, or to the next line."""
    if empty < LineWords:
        return me.set(at=At.SWAP, same=set(), empty=empty)
    return reading(me, me.line + 1 if me.line + 1 < me.lines else 0)


def after_same(me):
    """`insert_wide` after the slots with the same first word, and `slot_taken` where there is none."""
    if LineIsReadTwice:
        return me.set(at=At.READ_AGAIN, same=set(), empty=0)
    return go_to_empty(me, me.empty)


def after_reading(st, t, words):
    """The state after a line was read: `slot_taken` is done if it has the fingerprint; `insert_wide` has to claim."""
    me = st.workers[t].set(unread=set(), seen={w: 0 for w in range(0, LineWords)})
    equal = {w for w in range(0, LineWords) if words[w] == me.first}
    same = {w for w in equal if not Wide or ComparesBehindEmpty or all(words[v] != 0 for v in range(0, w))}
    empty = min((w for w in range(0, LineWords) if words[w] == 0), default=LineWords)
    if len(same) == 0:
        return working(st, t, after_same(me.set(empty=empty)))
    if not Wide:
        return answered(st, t, False)
    return working(st, t, me.set(at=At.CLAIM, same=same, empty=empty))


@spec.action
def take(st, t: Thread, first: FirstWord, second: SecondWord):
    """`work`, `fill`: unless there is a pause, a thread takes the next state; its fingerprint is to be inserted."""
    left = st.left[first]
    if st.workers[t].at != At.IDLE or st.pause or left[second] == 0:
        return
    worker = idle().set(at=At.RESERVE, first=first, second=second)
    yield working(st, t, worker).set(left=st.left.set(first, left.set(second, left[second] - 1)))


@spec.action
def reserve(st, t: Thread):
    """`flush`: add the batch to `Shared.count` before it is inserted; if that passes the limit, it is not."""
    me = st.workers[t]
    if me.at != At.RESERVE and (me.at != At.WAIT or st.pause):
        return
    reading_first = reading(me.set(lines=st.lines), home(me.first, st.lines))
    if KeepsNoReserve:
        yield working(st, t, me.set(at=At.ASK) if st.count + 1 > limit(st.lines) else reading_first)
        return
    worker = me.set(at=At.GIVE_BACK) if st.count + 1 > limit(st.lines) else reading_first
    yield working(st, t, worker).set(count=st.count + 1)


@spec.action
def give_back(st, t: Thread):
    """`flush`: take the batch from `Shared.count` again."""
    me = st.workers[t]
    if me.at == At.GIVE_BACK:
        yield working(st, t, me.set(at=At.ASK)).set(count=st.count - 1)


@spec.action
def ask_for_room(st, t: Thread):
    """`LevelMaker._drive`: stop the other threads between two batches, and end this one; its batch waits."""
    me = st.workers[t]
    if me.at == At.ASK:
        yield working(st, t, me.set(at=At.WAIT)).set(pause=True)


@spec.action
def read_line(st, t: Thread):
    """`equal_in_line`: read all first words of a line at once."""
    me = st.workers[t]
    if me.at == At.READ and not LineIsTorn:
        yield after_reading(st, t, {w: st.slots[me.line * LineWords + w].first for w in range(0, LineWords)})


@spec.action
def read_word(st, t: Thread, w: Word):
    """`equal_in_line`, where a line is torn: read one of the first words that are still to be read."""
    me = st.workers[t]
    if me.at != At.READ or w not in me.unread:
        return
    seen = me.seen.set(w, st.slots[me.line * LineWords + w].first)
    if len(me.unread) > 1:
        yield working(st, t, me.set(unread=me.unread - {w}, seen=seen))
    else:
        yield after_reading(st, t, seen)


@spec.action
def read_line_again(st, t: Thread):
    """`equal_in_line(table, line, 0)`, where the compiler makes a load of its own of it."""
    me = st.workers[t]
    if me.at == At.READ_AGAIN:
        words = {w: st.slots[me.line * LineWords + w].first for w in range(0, LineWords)}
        yield working(st, t, go_to_empty(me, min((w for w in range(0, LineWords) if words[w] == 0), default=LineWords)))


@spec.action
def swap(st, t: Thread):
    """`compare_and_swap` of a first word in `slot_taken` and `insert_wide`: write it if the slot is still empty."""
    me = st.workers[t]
    if me.at != At.SWAP:
        return
    slot = me.line * LineWords + me.empty
    old = st.slots[slot]
    if old.first == 0 or StoresWithoutSwap:
        written = st.set(slots=st.slots.set(slot, old.set(first=me.first)))
        if not Wide:
            yield answered(written, t, True)
        elif FirstWordOwnsSlot:
            yield working(written, t, me.set(at=At.SWAP_SECOND, same={me.empty}))
        else:
            # A first word alone is not a fingerprint yet: the slots that have it are claimed in their order.
            yield working(written, t, reading(me, me.line))
    elif not Wide and (old.first == me.first and not LostSwapGoesOn or LostSwapIsKnown):
        yield answered(st, t, False)
    elif LostSwapGoesOn:
        yield working(st, t, go_to_empty(me, me.empty + 1))
    elif not NeverReadsAgain:
        yield working(st, t, reading(me, me.line))
    else:
        yield st


@spec.action
def claim(st, t: Thread):
    """`claim`: read the second word of the first slot that has the same first word."""
    me = st.workers[t]
    if me.at != At.CLAIM:
        return
    word = min(w for w in me.same)
    found = st.slots[me.line * LineWords + word].second
    if found == me.second or FirstWordSuffices and found != 0:
        yield answered(st, t, False)
    elif found != 0 or FirstWordOwnsSlot:
        yield working(st, t, after_claim(me, word))
    else:
        yield working(st, t, me.set(at=At.SWAP_SECOND))


@spec.action
def swap_second(st, t: Thread):
    """`claim`: compare and swap the second word; the thread that writes it has the slot."""
    me = st.workers[t]
    if me.at != At.SWAP_SECOND:
        return
    word = min(w for w in me.same)
    slot = me.line * LineWords + word
    old = st.slots[slot]
    if old.second == 0 or StoresSecondWord:
        yield answered(st.set(slots=st.slots.set(slot, old.set(second=me.second))), t, True)
    elif old.second == me.second:
        yield answered(st, t, False)
    else:
        yield working(st, t, after_claim(me, word))


def after_claim(me, word):
    """A thread that found the slot of `word` taken by another fingerprint: the next slot, or none is left."""
    same = me.same - {word}
    return after_same(me) if len(same) == 0 else me.set(at=At.CLAIM, same=same)


@spec.action
def count(st, t: Thread):
    """`flush`: a fingerprint that was new stays in `Shared.count`, any other leaves it."""
    me = st.workers[t]
    if me.at != At.COUNT:
        return
    reserved = 0 if KeepsNoReserve else 1
    yield working(st, t, idle()).set(count=st.count + (1 if me.is_new else 0) - reserved)
