"""The fingerprint table: open addressing with linear probing in one array that all threads share without locks.

Invariant: a slot that holds a fingerprint keeps it, so a fingerprint is in the table exactly if it stands between its
home and the next empty slot. 0 marks an empty slot. Homes keep the order of fingerprints (`slot_of`): a table may have
any size, and moving one to a larger one reads and writes memory in order.

The table of a level, in ranked searches, has slots of two words: fingerprint, and the complement of the least rank
met, so that memory that starts as zeros means "no rank yet".
"""

from __future__ import annotations

from kmc.engine import fields as f
from kmc.engine.intrinsics import add, compare_and_swap, inlined, is_less, load, load_shared, raise_to, slot_of, store

MOVE_SLOTS = 1 << 14
LEAST = 1
EQUAL = 2


@inlined
def insert(table: int, slots: int, fingerprint: int) -> int:
    """Put a fingerprint into a table with an empty slot: 1 if this call did, 0 if it was there."""
    slot = slot_of(fingerprint, slots)
    while True:
        while slot < slots:
            found = load(table, slot)
            if found == 0:
                found = compare_and_swap(table, slot, 0, fingerprint)
                if found == 0:
                    return 1
            if found == fingerprint:
                return 0
            slot += 1
        slot = 0


@inlined
def contains(table: int, slots: int, fingerprint: int) -> int:
    """1 if the fingerprint is in the table, else 0."""
    slot = slot_of(fingerprint, slots)
    while True:
        while slot < slots:
            found = load(table, slot)
            if found == fingerprint:
                return 1
            if found == 0:
                return 0
            slot += 1
        slot = 0


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


def move(shared: int, old: int, old_slots: int, new: int, new_slots: int, cursor: int) -> int:
    """Copy a table into a larger one, together with the other threads that run this loop; DONE or PAUSED."""
    while load_shared(shared, f.PAUSE) == 0:
        slot = add(cursor, 0, MOVE_SLOTS)
        if slot >= old_slots:
            return f.DONE
        end = min(slot + MOVE_SLOTS, old_slots)
        while slot < end:
            found = load(old, slot)
            if found != 0:
                insert(new, new_slots, found)
            slot += 1
    return f.PAUSED


def move_ranked(shared: int, old: int, old_slots: int, new: int, new_slots: int, cursor: int) -> int:
    """`move` for the table of a level."""
    while load_shared(shared, f.PAUSE) == 0:
        slot = add(cursor, 0, MOVE_SLOTS)
        if slot >= old_slots:
            return f.DONE
        end = min(slot + MOVE_SLOTS, old_slots)
        while slot < end:
            found = load(old, slot * 2)
            if found != 0:
                place = -1 - ranked_slot(new, new_slots, found)
                store(new, 2 * place + 1, load(old, 2 * slot + 1))
            slot += 1
    return f.PAUSED
