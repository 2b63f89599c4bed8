"""Constants and the state: a table of few slots, and for each thread the registers that the code keeps.

A first word stands for 64 bits. Its home keeps the order of words, as `slot_of` does: word v of 1..Range has the home
line floor((v - 1) * lines / Range). Only the largest `FirstWords` words are used, so that lines can be crowded and
probes pass the end of the table. 0 is an empty word.
"""

from kmc.lang import Bool, Enum, IdentSet, Int, Map, Record, Seq, Set, constant
from kmc.spec import spec

Thread = constant("Thread", IdentSet(symmetric=True, at_most=4), "The threads; a model may permute them")
Wide = constant("Wide", Bool, "Fingerprints have two words, as in fingerprint_table_128.py", False)
FirstWords = constant("FirstWords", Int(1, 6), "How many first words there are")
SecondWords = constant("SecondWords", Int(1, 3), "How many fingerprints share each first word", 1)
Range = constant("Range", Int(1, 12), "The largest first word")
Calls = constant("Calls", Int(1, 3), "How often each fingerprint is inserted", 2)
LineWords = constant("LineWords", Int(1, 4), "Slots in a cache line (LINE_WORDS, 8 in the code)", 2)
LinesBefore = constant("LinesBefore", Int(1, 8), "Cache lines of the table at first")
LinesAfter = constant("LinesAfter", Int(1, 12), "Cache lines of the table once it has grown")
MoveStep = constant("MoveStep", Int(1, 4), "Slots that a thread takes at a time while the table grows (MOVE_STEP)", 1)
LastRange = constant("LastRange", Int(1, 4), "So many slots are moved in one range (_LAST_RANGE_SLOTS)", 2)
LineIsTorn = constant("LineIsTorn", Bool, "A line is read word by word, in any order, while others write to it", False)
LineIsReadTwice = constant(
    "LineIsReadTwice", Bool, "The empty slot is looked for in a second reading of the line", False
)

spec.assume(FirstWords <= Range)
spec.assume(LinesBefore < LinesAfter)

MaxSlots = LineWords * LinesAfter
LEAST = Range - FirstWords + 1
FirstWord = Int(LEAST, Range)
SecondWord = Int(1, SecondWords)
Word = Int(0, LineWords - 1)


spec.variables(
    {
        "slots": "slots",
        "lines": "lines",
        "count": "count",
        "pause": "pause",
        "at": "workers[].at",
        "first": "workers[].first",
        "second": "workers[].second",
        "ofLines": "workers[].lines",
        "line": "workers[].line",
        "unread": "workers[].unread",
        "seen": "workers[].seen",
        "same": "workers[].same",
        "empty": "workers[].empty",
        "isNew": "workers[].is_new",
        "growth": "growth",
        "movers": "movers",
        "aside": "aside",
        "left": "left",
        "new": "new",
    }
)
spec.columns({"next": "at", "first word": "first", "second": "second", "line": "line", "empty slot": "empty"})


class At(Enum):
    """The next access of a thread to shared memory."""

    IDLE, RESERVE, GIVE_BACK, ASK, WAIT, READ, READ_AGAIN, SWAP, CLAIM, SWAP_SECOND, COUNT = range(11)


class MoverAt(Enum):
    """The next access of a thread that moves fingerprints: none before it has a piece, and none after the last."""

    NEXT, LIFT, PUT, ENDED = range(4)


class Phase(Enum):
    """`FingerprintTable._move`: not running, moving a range on all threads, or putting back what lies aside."""

    NONE, MOVING, SETTLING = range(3)


class Slot(Record):
    """A slot of the table. In a table of one word a slot, the second word stays 0."""

    first: Int(0, Range)
    second: Int(0, SecondWords)


class Worker(Record):
    """What a thread knows while it inserts one fingerprint. Registers that it no longer needs are 0."""

    at: At
    first: Int(0, Range)
    second: Int(0, SecondWords)
    lines: Int(0, LinesAfter)
    line: Int(0, LinesAfter - 1)
    unread: Set[Word]
    seen: Map[Word, Int(0, Range)]
    same: Set[Word]
    empty: Int(0, LineWords)
    is_new: Bool


class Mover(Record):
    """A thread in `move`: its piece of the slots, from `start` to before `end`, and the fingerprint in its hand."""

    at: MoverAt
    start: Int(0, MaxSlots)
    slot: Int(0, MaxSlots)
    end: Int(0, MaxSlots)
    first: Int(0, Range)
    second: Int(0, SecondWords)


class Growth(Record):
    """`TableMove`: slots from `high` on have been moved, and threads take pieces below it from `cursor` on."""

    phase: Phase
    high: Int(0, MaxSlots)
    cursor: Int(0, MaxSlots + 16)


class State(Record):
    """`count` and `pause` are those of `Shared`; `left` are insertions to come, `new` how often one answered 1."""

    slots: Map[Int(0, MaxSlots - 1), Slot]
    lines: Int(1, LinesAfter)
    count: Int(0, 24)
    pause: Bool
    workers: Map[Thread, Worker]
    growth: Growth
    movers: Map[Thread, Mover]
    aside: Seq[Slot, 12]
    left: Map[FirstWord, Map[SecondWord, Int(0, Calls)]]
    new: Map[FirstWord, Map[SecondWord, Int(0, Calls)]]
