"""The fingerprint table: open addressing by cache lines, in one array that all threads share without locks.

Invariant: a line fills from its first slot on and a slot that holds a fingerprint keeps it, so a fingerprint is in the
table exactly if it stands in its home line or, that being full, in the lines behind it up to the first with an empty
slot. 0 marks an empty slot. Homes keep the order of fingerprints (`slot_of`): a table may have any number of lines,
and one that grows in place moves every fingerprint upwards, reading and writing memory in order.

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

MOVE_STEP = 1 << 14
LEAST = 1
EQUAL = 2


@inlined
def home(fingerprint: int, slots: int) -> int:
    """The first slot of the line where a fingerprint belongs in a table of `slots` slots."""
    return slot_of(fingerprint, slots // f.LINE_WORDS) * f.LINE_WORDS


@inlined
def insert(table: int, slots: int, fingerprint: int, alone: int) -> int:
    """Put a fingerprint into a table with an empty slot: 1 if this call did, 0 if it was there; see `slot_taken`."""
    return slot_taken(table, slots, fingerprint, alone) & 1


@inlined
def slot_taken(table: int, slots: int, fingerprint: int, alone: int) -> int:
    """Put a fingerprint into a table with an empty slot: twice its slot, and 1 more if it was not there.

    `alone`: not 0 if no other thread writes to the table.
    """
    line = home(fingerprint, slots)
    while True:
        same = equal_in_line(table, line, fingerprint)
        if same != 0:
            return (line + lowest(same)) * 2
        empty = equal_in_line(table, line, 0)
        if empty != 0:
            slot = line + lowest(empty)
            if alone != 0:
                store(table, slot, fingerprint)
                return slot * 2 + 1
            # Threads that see an older line try for a slot that is taken by now, and look again.
            found = compare_and_swap(table, slot, 0, fingerprint)
            if found == 0:
                return slot * 2 + 1
            if found == fingerprint:
                return slot * 2
        else:
            line += f.LINE_WORDS
            if line == slots:
                line = 0


@inlined
def is_not_at_home(table: int, slots: int, fingerprint: int) -> int:
    """1 if a fingerprint is not in its home line, else 0; asks for the next line if that one is full.

    Nothing here is a branch: many calls wait for their lines together.
    """
    line = home(fingerprint, slots)
    following = line + f.LINE_WORDS if line + f.LINE_WORDS != slots else 0
    prefetch(table, following if equal_in_line(table, line, 0) == 0 else line)
    return 1 if equal_in_line(table, line, fingerprint) == 0 else 0


@inlined
def slot_at_home(table: int, slots: int, fingerprint: int) -> int:
    """The slot of a fingerprint in its home line, or -1. See `is_not_at_home`, which asks for less, and costs less."""
    line = home(fingerprint, slots)
    following = line + f.LINE_WORDS if line + f.LINE_WORDS != slots else 0
    prefetch(table, following if equal_in_line(table, line, 0) == 0 else line)
    same = equal_in_line(table, line, fingerprint)
    return line + lowest(same) if same != 0 else -1


@inlined
def contains(table: int, slots: int, fingerprint: int) -> int:
    """1 if the fingerprint is in the table, else 0."""
    line = home(fingerprint, slots)
    while True:
        if equal_in_line(table, line, fingerprint) != 0:
            return 1
        if equal_in_line(table, line, 0) != 0:
            return 0
        line += f.LINE_WORDS
        if line == slots:
            line = 0


@inlined
def ranked_slot(table: int, slots: int, fingerprint: int) -> int:
    """Where a fingerprint stands in the table of a level, put there if it is new: the slot, or -1 - slot if new."""
    slot = slot_of(fingerprint, slots)
    while True:
        found = load(table, slot * 2)
        if found == 0:
            found = compare_and_swap(table, slot * 2, 0, fingerprint)
            if found == 0:
                return -1 - slot
        if found == fingerprint:
            return slot
        slot += 1
        if slot == slots:
            slot = 0


@inlined
def best_rank(table: int, slots: int, fingerprint: int) -> int:
    """The least rank met of a fingerprint that is in the table of the level."""
    return ~load(table, 2 * ranked_slot(table, slots, fingerprint) + 1)


@inlined
def lower_rank(table: int, slot: int, rank: int) -> int:
    """Note a rank: LEAST of its fingerprint so far, EQUAL to the least, or 0."""
    before = raise_to(table, 2 * slot + 1, ~rank)
    if before == ~rank:
        return EQUAL
    return LEAST if is_less(before, ~rank) != 0 else 0


def move(shared: Shared, plan: TableMove) -> int:
    """Give the fingerprints in a range of slots their places in the enlarged table; DONE or PAUSED.

    All slots from HIGH on are done or fresh, and those that belong below HIGH are put aside: so threads may do this
    together for one range after another, downwards, in the memory of the table itself. What a thread takes goes to
    lines that are its own; the few fingerprints that belong to other lines are put aside too.
    """
    table = plan.table
    slots = plan.slots
    before = plan.slots_before
    high = plan.high
    filled = few_words()
    while load_shared(shared, Shared.pause) == 0:
        slot = add(plan, TableMove.cursor, MOVE_STEP)
        if slot >= high:
            return f.DONE
        end = min(slot + MOVE_STEP, high)
        first = max(high, (slot * (slots // f.LINE_WORDS) + before - 1) // before * f.LINE_WORDS)
        last = end * (slots // f.LINE_WORDS) // before * f.LINE_WORDS
        for entry in range(FEW_WORDS):
            store(filled, entry, 0)
        while slot < end:
            found = load(table, slot)
            if found != 0:
                store(table, slot, 0)
                line = home(found, slots)
                if line < first or line >= last or place(table, line, filled, found) == 0:
                    store(plan.aside, add(plan, TableMove.aside_count, 1), found)
            slot += 1
    return f.PAUSED


@inlined
def place(table: int, line: int, filled: int, fingerprint: int) -> int:
    """Put a fingerprint into the next slot of a fresh line, where no other thread writes.

    1, or 0 if the line is full. `filled` remembers for the lines just met how full they are, as `[number | slots 4
    bits]`, each in the place that its number gives it; a line before one that took its place is as good as full.
    """
    number = line // f.LINE_WORDS
    entry = number % FEW_WORDS
    known = load(filled, entry)
    if known >> 4 < number:
        known = number << 4
    if known >> 4 > number or known & 15 == f.LINE_WORDS:
        return 0
    store(table, line + (known & 15), fingerprint)
    store(filled, entry, known + 1)
    return 1


def settle(shared: Shared, plan: TableMove) -> int:
    """Put what `move` put aside into the table, after all ranges are done; DONE."""
    aside = plan.aside
    for index in range(plan.aside_count):
        insert(plan.table, plan.slots, load(aside, index), 1)
    return f.DONE


@inlined
def insert_ranked(table: int, slots: int, fingerprint: int, rank: int) -> None:
    """Put a fingerprint that is not there with its rank, as it stands in memory, into the table of a level."""
    store(table, 2 * (-1 - ranked_slot(table, slots, fingerprint)) + 1, rank)


def move_ranked(shared: Shared, plan: TableMove) -> int:
    """`move` for the table of a level.

    Fingerprints that passed the end of the table and stand at its beginning are put aside too. The others never pass
    the new end, so that none is put into a slot that has not been moved.
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
            found = load(table, 2 * slot)
            rank = load(table, 2 * slot + 1)
            if found != 0:
                store(table, 2 * slot, 0)
                store(table, 2 * slot + 1, 0)
                if slot_of(found, slots) < high or slot < slot_of(found, plan.slots_before):
                    place = 2 * add(plan, TableMove.aside_count, 1)
                    store(plan.aside, place, found)
                    store(plan.aside, place + 1, rank)
                else:
                    insert_ranked(table, slots, found, rank)
            slot += 1
    return f.PAUSED


def settle_ranked(shared: Shared, plan: TableMove) -> int:
    """`settle` for the table of a level."""
    aside = plan.aside
    for index in range(0, 2 * plan.aside_count, 2):
        table, slots = plan.table, plan.slots
        insert_ranked(table, slots, load(aside, index), load(aside, index + 1))
    return f.DONE
