"""The fingerprint table for fingerprints of two words, 128 bits; see `fingerprint_table_64` for one word.

A line of first words is followed by the line of their second words. Invariant: a slot belongs to the first word that
was written there, and to the second word that was; a thread that finds its first word in a slot without a second one
claims the slot. All threads visit the slots of a first word in the same order, so a fingerprint gets one slot,
whichever thread writes it first, and none is lost. Neither word of a fingerprint is 0.

A line that is read in parts may show a slot empty and a later slot used. So words behind the first empty one are not
compared: the slots of a first word are read in the order in which they are claimed.

In ranked searches, a slot of the table of a level is three words: first, complement of the least rank, second.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared, TableMove
from kmc.engine.loops.fingerprint_table_64 import EQUAL, LEAST, MOVE_STEP, home
from kmc.engine.native.intrinsics import (
    add,
    compare_and_swap,
    equal_in_line,
    inlined,
    is_less,
    load,
    load_shared,
    lowest,
    raise_to,
    slot_of,
    store,
)
from kmc.engine.native.words import Address, Fingerprint, Slot, Status

RANKED_WORDS = 3
_TAKEN = 1
_OTHER = -1


@inlined
def word_of(slot: Slot) -> int:
    """The index of the first word of a slot; the second word lies LINE_WORDS behind it.

    Two lines and not one: one vector comparison covers eight first words, and only an equal one costs the other line.
    """
    return slot + slot // f.LINE_WORDS * f.LINE_WORDS


@inlined
def claim(table: Address, word: int, second: int) -> int:
    """Claim a slot for a second word: return _TAKEN if this call wrote it, 0 if it was there already, _OTHER if another
    word is there.

    A thread may write a second word where another wrote the first one: which of them writes it does not matter, only
    that one does. The answer _TAKEN makes the state new, and a compare-and-swap gives it to one thread.
    """
    # 0 may be out of date, any other word is final.
    held = load(table, word)
    if held == 0:
        held = compare_and_swap(table, word, 0, second)
        if held == 0:
            return _TAKEN
    return 0 if held == second else _OTHER


@inlined
def insert_wide(table: Address, slots: int, first: Fingerprint, second: int) -> int:
    """Put a fingerprint into a table with an empty slot: 1 if this call did, 0 if it was there.

    Only `claim` answers. A first word alone is not a fingerprint, so writing one is never an answer.
    """
    line = word_of(home(first, slots))
    while True:
        # From one load, as compiled; see `slot_taken`. Of two loads, the second could see the line full of slots that
        # the first saw empty and that may be free for this fingerprint, which would go on to the next line.
        empty = equal_in_line(table, line, 0)
        # Of the equal words, those before the first empty one: all of them where the line is full.
        same = equal_in_line(table, line, first) & (empty & -empty) - 1
        while same != 0:
            answer = claim(table, line + lowest(same) + f.LINE_WORDS, second)
            if answer != _OTHER:
                return answer
            same &= same - 1
        if empty != 0:
            # Read the line again even if another thread won the slot: its second word may be ours. And even if this
            # one won: another thread with the same first word may claim the slot before it does.
            compare_and_swap(table, line + lowest(empty), 0, first)
        else:
            line += 2 * f.LINE_WORDS
            if line == 2 * slots:
                line = 0


@inlined
def contains_wide(table: Address, slots: int, first: Fingerprint, second: int) -> int:
    """1 if the fingerprint is in the table, else 0. For tables that no other thread writes to meanwhile."""
    line = word_of(home(first, slots))
    while True:
        same = equal_in_line(table, line, first)
        while same != 0:
            if load(table, line + lowest(same) + f.LINE_WORDS) == second:
                return 1
            same &= same - 1
        if equal_in_line(table, line, 0) != 0:
            return 0
        line += 2 * f.LINE_WORDS
        if line == 2 * slots:
            line = 0


@inlined
def ranked_slot_wide(table: Address, slots: int, first: Fingerprint, second: int) -> int:
    """Find or insert a fingerprint in the table of a level; return its slot, or -1 - slot if it is new."""
    slot = slot_of(first, slots)
    while True:
        # Slot by slot, so that every thread meets the slots of a first word in the same order.
        held = load(table, slot * RANKED_WORDS)
        if held == 0:
            held = compare_and_swap(table, slot * RANKED_WORDS, 0, first)
        if held == 0 or held == first:
            answer = claim(table, slot * RANKED_WORDS + 2, second)
            if answer != _OTHER:
                return -1 - slot if answer == _TAKEN else slot
        slot += 1
        if slot == slots:
            slot = 0


@inlined
def best_rank_wide(table: Address, slots: int, first: Fingerprint, second: int) -> int:
    """The least rank met of a fingerprint that is in the table of the level."""
    return ~load(table, RANKED_WORDS * ranked_slot_wide(table, slots, first, second) + 1)


@inlined
def lower_rank_wide(table: Address, slot: Slot, rank: int) -> int:
    """Note a rank: LEAST of its fingerprint so far, EQUAL to the least, or 0."""
    before = raise_to(table, RANKED_WORDS * slot + 1, ~rank)
    if before == ~rank:
        return EQUAL
    return LEAST if is_less(before, ~rank) != 0 else 0


def move_wide(shared: Shared, plan: TableMove) -> Status:
    """`fingerprint_table_64.move` for two words. A slot without a second word is moved like any other, and stays so."""
    table = plan.table
    slots = plan.slots
    before = plan.slots_before
    high = plan.high
    while load_shared(shared, Shared.pause) == 0:
        slot = Slot(add(plan, TableMove.cursor, MOVE_STEP))
        if slot >= high:
            return f.DONE
        end = min(slot + MOVE_STEP, high)
        first = Slot(max(high, (slot * (slots // f.LINE_WORDS) + before - 1) // before * f.LINE_WORDS))
        last = Slot(end * (slots // f.LINE_WORDS) // before * f.LINE_WORDS)
        while slot < end:
            word = word_of(slot)
            fingerprint = Fingerprint(load(table, word))
            if fingerprint != 0:
                second = load(table, word + f.LINE_WORDS)
                store(table, word, 0)
                store(table, word + f.LINE_WORDS, 0)
                if place_wide(table, home(fingerprint, slots), first, last, fingerprint, second) == 0:
                    aside = 2 * add(plan, TableMove.aside_count, 1)
                    store(plan.aside, aside, fingerprint)
                    store(plan.aside, aside + 1, second)
            slot = Slot(slot + 1)
    return f.PAUSED


@inlined
def place_wide(table: Address, slot: Slot, first: Slot, last: Slot, fingerprint: Fingerprint, second: int) -> int:
    """Put a fingerprint whose line begins at `slot` into a slot from `first` to before `last`, all of this thread.

    1, or 0 if it belongs elsewhere.
    """
    if slot < first:
        return 0
    while slot < last:
        word = word_of(slot)
        if load(table, word) == 0:
            store(table, word, fingerprint)
            store(table, word + f.LINE_WORDS, second)
            return 1
        slot = Slot(slot + 1)
    return 0


def settle_wide(shared: Shared, plan: TableMove) -> Status:
    """Put what `move_wide` put aside into the table, after all ranges are done; DONE."""
    aside = plan.aside
    for index in range(0, 2 * plan.aside_count, 2):
        first = Fingerprint(load(aside, index))
        insert_wide(plan.table, plan.slots, first, load(aside, index + 1))
    return f.DONE


@inlined
def insert_ranked_wide(table: Address, slots: int, first: Fingerprint, rank: int, second: int) -> None:
    """Put a new fingerprint with its rank, as both lie in memory, into the table of a level."""
    store(table, RANKED_WORDS * (-1 - ranked_slot_wide(table, slots, first, second)) + 1, rank)


def move_ranked_wide(shared: Shared, plan: TableMove) -> Status:
    """`move_wide` for the table of a level."""
    table = plan.table
    slots = plan.slots
    high = plan.high
    while load_shared(shared, Shared.pause) == 0:
        slot = Slot(add(plan, TableMove.cursor, MOVE_STEP))
        if slot >= high:
            return f.DONE
        end = min(slot + MOVE_STEP, high)
        while slot < end:
            word = RANKED_WORDS * slot
            fingerprint = Fingerprint(load(table, word))
            rank, second = load(table, word + 1), load(table, word + 2)
            if fingerprint != 0:
                for offset in range(RANKED_WORDS):
                    store(table, word + offset, 0)
                if slot_of(fingerprint, slots) < high or slot < slot_of(fingerprint, plan.slots_before):
                    aside = plan.aside
                    word_aside = RANKED_WORDS * add(plan, TableMove.aside_count, 1)
                    store(aside, word_aside, fingerprint)
                    store(aside, word_aside + 1, rank)
                    store(aside, word_aside + 2, second)
                else:
                    insert_ranked_wide(table, slots, fingerprint, rank, second)
            slot = Slot(slot + 1)
    return f.PAUSED


def settle_ranked_wide(shared: Shared, plan: TableMove) -> Status:
    """`settle_wide` for the table of a level."""
    aside = plan.aside
    for index in range(0, RANKED_WORDS * plan.aside_count, RANKED_WORDS):
        first = Fingerprint(load(aside, index))
        insert_ranked_wide(plan.table, plan.slots, first, load(aside, index + 1), load(aside, index + 2))
    return f.DONE
