"""The fingerprint table for fingerprints of two words, 128 bits; see `fingerprint_table_64` for one word.

A line of first words is followed by the line of their second words. Invariant: a slot belongs to the first word that
was written there, and to the second word that was; who finds his first word in a slot without a second one takes it.
All look at the slots of a first word in the same order, so a fingerprint gets one slot whoever writes it first, and
none is lost. Neither word of a fingerprint is 0.

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

RANKED_WORDS = 3
_TAKEN = 1
_OTHER = -1


@inlined
def word_of(slot: int) -> int:
    """Where the first word of a slot stands; the second stands LINE_WORDS behind it."""
    return slot + slot // f.LINE_WORDS * f.LINE_WORDS


@inlined
def claim(table: int, place: int, second: int) -> int:
    """Take what a second word is for: _TAKEN if this call wrote it, 0 if it stood there, _OTHER if another does."""
    found = load(table, place)
    if found == 0:
        found = compare_and_swap(table, place, 0, second)
        if found == 0:
            return _TAKEN
    return 0 if found == second else _OTHER


@inlined
def insert_wide(table: int, slots: int, first: int, second: int) -> int:
    """Put a fingerprint into a table with an empty slot: 1 if this call did, 0 if it was there."""
    line = word_of(home(first, slots))
    while True:
        same = equal_in_line(table, line, first)
        while same != 0:
            answer = claim(table, line + lowest(same) + f.LINE_WORDS, second)
            if answer != _OTHER:
                return answer
            same &= same - 1
        empty = equal_in_line(table, line, 0)
        if empty != 0:
            # Whoever writes the first word here, the line is looked at again: it may be ours.
            compare_and_swap(table, line + lowest(empty), 0, first)
        else:
            line += 2 * f.LINE_WORDS
            if line == 2 * slots:
                line = 0


@inlined
def contains_wide(table: int, slots: int, first: int, second: int) -> int:
    """1 if the fingerprint is in the table, else 0."""
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
def ranked_slot_wide(table: int, slots: int, first: int, second: int) -> int:
    """Where a fingerprint stands in the table of a level, put there if it is new: the slot, or -1 - slot if new."""
    slot = slot_of(first, slots)
    while True:
        found = load(table, slot * RANKED_WORDS)
        if found == 0:
            found = compare_and_swap(table, slot * RANKED_WORDS, 0, first)
        if found == 0 or found == first:
            answer = claim(table, slot * RANKED_WORDS + 2, second)
            if answer != _OTHER:
                return -1 - slot if answer == _TAKEN else slot
        slot += 1
        if slot == slots:
            slot = 0


@inlined
def best_rank_wide(table: int, slots: int, first: int, second: int) -> int:
    """The least rank met of a fingerprint that is in the table of the level."""
    return ~load(table, RANKED_WORDS * ranked_slot_wide(table, slots, first, second) + 1)


@inlined
def lower_rank_wide(table: int, slot: int, rank: int) -> int:
    """Note a rank: LEAST of its fingerprint so far, EQUAL to the least, or 0."""
    before = raise_to(table, RANKED_WORDS * slot + 1, ~rank)
    if before == ~rank:
        return EQUAL
    return LEAST if is_less(before, ~rank) != 0 else 0


def move_wide(shared: Shared, plan: TableMove) -> int:
    """`fingerprint_table_64.move` for two words."""
    table = plan.table
    slots = plan.slots
    before = plan.slots_before
    high = plan.high
    while load_shared(shared, Shared.pause) == 0:
        slot = add(plan, TableMove.cursor, MOVE_STEP)
        if slot >= high:
            return f.DONE
        end = min(slot + MOVE_STEP, high)
        first = max(high, (slot * (slots // f.LINE_WORDS) + before - 1) // before * f.LINE_WORDS)
        last = end * (slots // f.LINE_WORDS) // before * f.LINE_WORDS
        while slot < end:
            word = word_of(slot)
            found = load(table, word)
            if found != 0:
                second = load(table, word + f.LINE_WORDS)
                store(table, word, 0)
                store(table, word + f.LINE_WORDS, 0)
                if place_wide(table, home(found, slots), first, last, found, second) == 0:
                    aside = 2 * add(plan, TableMove.aside_count, 1)
                    store(plan.aside, aside, found)
                    store(plan.aside, aside + 1, second)
            slot += 1
    return f.PAUSED


@inlined
def place_wide(table: int, slot: int, first: int, last: int, fingerprint: int, second: int) -> int:
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
        slot += 1
    return 0


def settle_wide(shared: Shared, plan: TableMove) -> int:
    """Put what `move_wide` put aside into the table, after all ranges are done; DONE."""
    aside = plan.aside
    for index in range(0, 2 * plan.aside_count, 2):
        table, slots = plan.table, plan.slots
        insert_wide(table, slots, load(aside, index), load(aside, index + 1))
    return f.DONE


@inlined
def insert_ranked_wide(table: int, slots: int, first: int, rank: int, second: int) -> None:
    """Put a fingerprint that is not there with its rank, as it stands in memory, into the table of a level."""
    store(table, RANKED_WORDS * (-1 - ranked_slot_wide(table, slots, first, second)) + 1, rank)


def move_ranked_wide(shared: Shared, plan: TableMove) -> int:
    """`move_wide` for the table of a level."""
    table = plan.table
    slots = plan.slots
    high = plan.high
    while load_shared(shared, Shared.pause) == 0:
        slot = add(plan, TableMove.cursor, MOVE_STEP)
        if slot >= high:
            return f.DONE
        end = min(slot + MOVE_STEP, high)
        while slot < end:
            word = RANKED_WORDS * slot
            found, rank, second = load(table, word), load(table, word + 1), load(table, word + 2)
            if found != 0:
                for part in range(RANKED_WORDS):
                    store(table, word + part, 0)
                if slot_of(found, slots) < high or slot < slot_of(found, plan.slots_before):
                    aside = plan.aside
                    place = RANKED_WORDS * add(plan, TableMove.aside_count, 1)
                    store(aside, place, found)
                    store(aside, place + 1, rank)
                    store(aside, place + 2, second)
                else:
                    insert_ranked_wide(table, slots, found, rank, second)
            slot += 1
    return f.PAUSED


def settle_ranked_wide(shared: Shared, plan: TableMove) -> int:
    """`settle_wide` for the table of a level."""
    aside = plan.aside
    for index in range(0, RANKED_WORDS * plan.aside_count, RANKED_WORDS):
        table, slots = plan.table, plan.slots
        insert_ranked_wide(table, slots, load(aside, index), load(aside, index + 1), load(aside, index + 2))
    return f.DONE
