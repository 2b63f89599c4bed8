"""The fingerprint table: open addressing by cache lines, in one array that all threads share without locks.

Invariant: a line fills from its first slot on and a slot that holds a fingerprint keeps it. So a fingerprint is in the
table exactly if it is in its home line or, if that is full, in a following line up to the first with an empty slot. 0
marks an empty slot. Homes keep the order of fingerprints (`slot_of`): a table may have any number of lines, and a table
that grows in place moves every fingerprint upwards, reading and writing memory in order.

Threads insert without locks, and no thread inserts while the table grows. `docs/fingerprint_table.md` says why that is
right, and the spec `fingerprint_table` follows these functions access by access.

The table of a level, in ranked searches, has slots of two words: fingerprint, and the complement of the least rank
met, so that memory that starts as zeros means "no rank yet".
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared, TableMove
from kmc.engine.native.intrinsics import (
    FEW_WORDS,
    add,
    compare_and_swap,
    equal_in_line,
    few_words,
    inlined,
    is_less,
    load,
    load_shared,
    lowest,
    prefetch,
    raise_to,
    slot_of,
    store,
)
from kmc.engine.native.words import Address, Fingerprint, Slot, Status

MOVE_STEP = 1 << 14
LEAST = 1
EQUAL = 2


@inlined
def home(fingerprint: Fingerprint, slots: int) -> Slot:
    """The first slot of the line where a fingerprint belongs in a table of `slots` slots."""
    return Slot(slot_of(fingerprint, slots // f.LINE_WORDS) * f.LINE_WORDS)


@inlined
def insert(table: Address, slots: int, fingerprint: Fingerprint, alone: int) -> int:
    """Put a fingerprint into a table with an empty slot: 1 if this call did, 0 if it was there; see `slot_taken`."""
    return slot_taken(table, slots, fingerprint, alone) & 1


@inlined
def slot_taken(table: Address, slots: int, fingerprint: Fingerprint, alone: int) -> int:
    """Put a fingerprint into a table with an empty slot: twice its slot, and 1 more if it was not there.

    `alone`: not 0 if no other thread writes to the table. The loop ends: the caller has reserved a slot (see `flush`),
    so some line has an empty one, and each lost compare-and-swap means that another thread has filled a slot.
    """
    line = home(fingerprint, slots)
    while True:
        same = equal_in_line(table, line, fingerprint)
        if same != 0:
            return (line + lowest(same)) * 2
        # Both masks must come from one load, as they do once compiled. Of two loads, the second could see full a slot
        # that the first saw empty, and that another thread has just given to this very fingerprint: it would then get
        # a second slot. In one load, every slot before the first empty one holds its final word, which is another.
        # That holds whatever the age of each word, so the load need not be atomic.
        empty = equal_in_line(table, line, 0)
        if empty != 0:
            slot = line + lowest(empty)
            if alone != 0:
                store(table, slot, fingerprint)
                return slot * 2 + 1
            # Threads that saw an older line try for a slot that is taken by now, and read the line again: that load
            # follows the compare-and-swap, which has seen the slot full, so it sees it full too.
            held = compare_and_swap(table, slot, 0, fingerprint)
            if held == 0:
                return slot * 2 + 1
            if held == fingerprint:
                return slot * 2
        else:
            # A full line never changes, so the fingerprint is not in it and never will be.
            line = Slot(line + f.LINE_WORDS)
            if line == slots:
                line = Slot(0)


@inlined
def is_not_at_home(table: Address, slots: int, fingerprint: Fingerprint) -> int:
    """1 if a fingerprint is not in its home line, else 0; prefetches the next line if that one is full.

    Nothing here is a branch: many calls wait for their lines together. A fingerprint that is seen stays; one that is
    not seen may come meanwhile, and `slot_taken` decides.
    """
    line = home(fingerprint, slots)
    following = line + f.LINE_WORDS if line + f.LINE_WORDS != slots else 0
    prefetch(table, following if equal_in_line(table, line, 0) == 0 else line)
    return 1 if equal_in_line(table, line, fingerprint) == 0 else 0


@inlined
def slot_at_home(table: Address, slots: int, fingerprint: Fingerprint) -> int:
    """The slot of a fingerprint in its home line, or -1. `is_not_at_home` computes less and costs less."""
    line = home(fingerprint, slots)
    following = line + f.LINE_WORDS if line + f.LINE_WORDS != slots else 0
    prefetch(table, following if equal_in_line(table, line, 0) == 0 else line)
    same = equal_in_line(table, line, fingerprint)
    return line + lowest(same) if same != 0 else -1


@inlined
def contains(table: Address, slots: int, fingerprint: Fingerprint) -> int:
    """1 if the fingerprint is in the table, else 0. For tables that no other thread writes to meanwhile."""
    line = home(fingerprint, slots)
    while True:
        if equal_in_line(table, line, fingerprint) != 0:
            return 1
        if equal_in_line(table, line, 0) != 0:
            return 0
        line = Slot(line + f.LINE_WORDS)
        if line == slots:
            line = Slot(0)


@inlined
def ranked_slot(table: Address, slots: int, fingerprint: Fingerprint, alone: int) -> int:
    """Find or insert a fingerprint in the table of a level; return its slot, or -1 - slot if it is new.

    `alone` as in `slot_taken`.
    """
    slot = slot_of(fingerprint, slots)
    while True:
        # One word at a time: a word that is not 0 is final, and whether 0 is, the compare-and-swap decides.
        held = load(table, slot * 2)
        if held == 0:
            if alone != 0:
                store(table, slot * 2, fingerprint)
            else:
                held = compare_and_swap(table, slot * 2, 0, fingerprint)
            if held == 0:
                return -1 - slot
        if held == fingerprint:
            return slot
        slot += 1
        if slot == slots:
            slot = 0


@inlined
def best_rank(table: Address, slots: int, fingerprint: Fingerprint) -> int:
    """The least rank met of a fingerprint that is in the table of the level."""
    return ~load(table, 2 * ranked_slot(table, slots, fingerprint, 1) + 1)


@inlined
def lower_rank(table: Address, slot: Slot, rank: int, alone: int) -> int:
    """Note a rank: LEAST of its fingerprint so far, EQUAL to the least, or 0; `alone` as in `slot_taken`."""
    word = 2 * slot + 1
    if alone != 0:
        before = load(table, word)
        store(table, word, ~rank if is_less(before, ~rank) != 0 else before)
    else:
        # A rank may be raised before the thread that wrote the fingerprint does: 0 is less than every complement.
        before = raise_to(table, word, ~rank)
    return EQUAL if before == ~rank else is_less(before, ~rank)


def move(shared: Shared, plan: TableMove) -> Status:
    """Give the fingerprints in a range of slots their places in the enlarged table; DONE or PAUSED.

    All slots from HIGH on are done or fresh, and fingerprints that belong below HIGH are put aside. So threads may move
    one range after another together, downwards, in the memory of the table itself. A thread moves fingerprints only to
    lines that are its own; the few fingerprints that belong to other lines are put aside too.

    Plain loads and stores suffice. Slots below HIGH are read and emptied by the thread that claimed them, and slots
    from HIGH on are written by the thread whose lines they are: those from `first` to before `last`, which no other
    range of slots has. All threads are joined before the next range, and before `settle`.
    """
    table = plan.table
    slots = plan.slots
    before = plan.slots_before
    high = plan.high
    filled = Address(few_words())
    while load_shared(shared, Shared.pause) == 0:
        slot = add(plan, TableMove.cursor, MOVE_STEP)
        if slot >= high:
            return f.DONE
        end = min(slot + MOVE_STEP, high)
        # The homes of the range [slot, end), rounded inwards to whole lines, so that no line has two owners. The
        # products pass 63 bits in tables of more than 2^32.8 slots (56 GiB). A window is then too low to hold the homes
        # of its range, or empty: all is put aside, which is slow and still right.
        first = max(high, (slot * (slots // f.LINE_WORDS) + before - 1) // before * f.LINE_WORDS)
        last = end * (slots // f.LINE_WORDS) // before * f.LINE_WORDS
        for entry in range(FEW_WORDS):
            store(filled, entry, 0)
        while slot < end:
            fingerprint = Fingerprint(load(table, slot))
            if fingerprint != 0:
                store(table, slot, 0)
                line = home(fingerprint, slots)
                # Outside are fingerprints that had passed a full line, and in the last range those that stay low.
                if line < first or line >= last or place(table, line, filled, fingerprint) == 0:
                    store(plan.aside, add(plan, TableMove.aside_count, 1), fingerprint)
            slot += 1
    return f.PAUSED


@inlined
def place(table: Address, line: Slot, filled: Address, fingerprint: Fingerprint) -> int:
    """Put a fingerprint into the next slot of a fresh line, where no other thread writes.

    1, or 0 if the line is full. `filled` remembers the fill of the last lines, as `[number | slots 4 bits]`, each entry
    at an index computed from the line's number; a line whose entry was replaced by a later line's counts as full.
    """
    line_index = line // f.LINE_WORDS
    entry = line_index % FEW_WORDS
    known = load(filled, entry)
    if known >> 4 < line_index:
        known = line_index << 4
    if known >> 4 > line_index or known & 15 == f.LINE_WORDS:
        return 0
    store(table, line + (known & 15), fingerprint)
    store(filled, entry, known + 1)
    return 1


def settle(shared: Shared, plan: TableMove) -> Status:
    """Put what `move` put aside into the table, after all ranges are done; DONE. No other thread runs."""
    aside = plan.aside
    for index in range(plan.aside_count):
        insert(plan.table, plan.slots, Fingerprint(load(aside, index)), 1)
    return f.DONE


@inlined
def insert_ranked(table: Address, slots: int, fingerprint: Fingerprint, rank: int) -> None:
    """Put a new fingerprint with its rank, as both lie in memory, into the table of a level."""
    store(table, 2 * (-1 - ranked_slot(table, slots, fingerprint, 1)) + 1, rank)


def move_ranked(shared: Shared, plan: TableMove) -> Status:
    """`move` for the table of a level.

    Fingerprints that passed the end of the table and lie at its beginning are put aside too. The others never pass the
    new end, so no fingerprint is put into a slot that has not been moved.
    """
    table = plan.table
    slots = plan.slots
    high = plan.high
    while load_shared(shared, Shared.pause) == 0:
        slot = add(plan, TableMove.cursor, MOVE_STEP)
        if slot >= high:
            return f.DONE
        end = min(slot + MOVE_STEP, high)
        while slot < end:
            fingerprint = Fingerprint(load(table, 2 * slot))
            rank = load(table, 2 * slot + 1)
            if fingerprint != 0:
                store(table, 2 * slot, 0)
                store(table, 2 * slot + 1, 0)
                if slot_of(fingerprint, slots) < high or slot < slot_of(fingerprint, plan.slots_before):
                    word_aside = 2 * add(plan, TableMove.aside_count, 1)
                    store(plan.aside, word_aside, fingerprint)
                    store(plan.aside, word_aside + 1, rank)
                else:
                    insert_ranked(table, slots, fingerprint, rank)
            slot += 1
    return f.PAUSED


def settle_ranked(shared: Shared, plan: TableMove) -> Status:
    """`settle` for the table of a level."""
    aside = plan.aside
    for index in range(0, 2 * plan.aside_count, 2):
        fingerprint = Fingerprint(load(aside, index))
        insert_ranked(plan.table, plan.slots, fingerprint, load(aside, index + 1))
    return f.DONE
