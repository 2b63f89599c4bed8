"""Records and the tables of a search: is a state known, has this level met it, with which rank.

Fingerprints have one word, or two where the search is `WIDE`; no code above this file depends on which it is.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import RECENT, Shared, Thread
from kmc.engine.layout.record_structs import StateRecord
from kmc.engine.loops.fingerprint_table_64 import (
    best_rank,
    contains,
    home,
    insert,
    is_not_at_home,
    lower_rank,
    ranked_slot,
    slot_at_home,
    slot_taken,
)
from kmc.engine.loops.fingerprint_table_128 import (
    RANKED_WORDS,
    best_rank_wide,
    contains_wide,
    insert_wide,
    lower_rank_wide,
    ranked_slot_wide,
    word_of,
)
from kmc.engine.native.intrinsics import inlined, load, prefetch, slot_of, store
from kmc.engine.native.specialization import NOTES_SLOTS, RANKED, WIDE
from kmc.engine.native.words import Address, Fingerprint, Slot


@inlined
def ask_for(shared: Shared, record: StateRecord) -> None:
    """Ask for the memory where the fingerprint of a record will be looked for among those of earlier levels."""
    if RANKED != 0:
        ask_at_home(shared.known, shared.known_slots, record.fingerprint)
    else:
        ask_at_home(shared.table, shared.slots, record.fingerprint)


@inlined
def ask_in_level(shared: Shared, record: StateRecord, wanted: int) -> None:
    """Ask for the memory of a record in the table of a ranked level, if `wanted` is 1 and not 0."""
    words = 2 if WIDE == 0 else RANKED_WORDS
    prefetch(shared.table, slot_of(record.fingerprint, shared.slots) * words * wanted)


@inlined
def ask_at_home(table: Address, slots: int, fingerprint: Fingerprint) -> None:
    """Ask for the home of a fingerprint in a table without ranks."""
    if WIDE == 0:
        prefetch(table, home(fingerprint, slots))
    else:
        line = word_of(home(fingerprint, slots))
        prefetch(table, line)
        prefetch(table, line + f.LINE_WORDS)


@inlined
def is_known(shared: Shared, record: StateRecord) -> int:
    """1 if the fingerprint of a record is that of a state of an earlier level, else 0."""
    known, slots = shared.known, shared.known_slots
    if WIDE != 0:
        return contains_wide(known, slots, record.fingerprint, record.first_word)
    return contains(known, slots, record.fingerprint)


@inlined
def inserted(shared: Shared, table: Address, slots: int, record: StateRecord) -> int:
    """Put the fingerprint of a record into a table: 1 if this call did, 0 if it was there."""
    if WIDE != 0:
        return insert_wide(table, slots, record.fingerprint, record.first_word)
    return insert(table, slots, record.fingerprint, shared.alone)


@inlined
def forget_recent(thread: Thread) -> None:
    """Forget the fingerprints of the last batch."""
    if NOTES_SLOTS == 0:
        for word in range(RECENT * (1 + WIDE)):
            store(thread.recent, word, 0)


@inlined
def is_first_of_batch(thread: Thread, record: StateRecord) -> int:
    """0 if this batch had the fingerprint of a record before, else 1; it may be forgotten meanwhile.

    Most known states that the table does not have yet are of the same batch: the successors of one state have common
    successors. Without this, half of the candidates would not be new, which no processor predicts.
    """
    place = (record.fingerprint & RECENT - 1) * (1 + WIDE)
    held = load(thread.recent, place) ^ record.fingerprint
    store(thread.recent, place, record.fingerprint)
    if WIDE != 0:
        held |= load(thread.recent, place + 1) ^ record.first_word
        store(thread.recent, place + 1, record.first_word)
    return 0 if held == 0 else 1


@inlined
def may_be_new(shared: Shared, thread: Thread, record: StateRecord, slot: int) -> int:
    """0 if the batch had a record before or the table of all levels has it at first sight, else 1; `slot` is what
    `known_slot` says.
    """
    if RANKED != 0:
        return 1 if WIDE != 0 else is_not_at_home(shared.known, shared.known_slots, record.fingerprint)
    if NOTES_SLOTS != 0:
        return 1 if slot < 0 else 0  # also if the batch had it: each step has to know the slot of its target
    first = is_first_of_batch(thread, record)
    return first if WIDE != 0 else first & is_not_at_home(shared.table, shared.slots, record.fingerprint)


@inlined
def known_slot(shared: Shared, record: StateRecord) -> int:
    """The slot of a record if its home line has it and slots are recorded; otherwise -1."""
    if NOTES_SLOTS == 0:
        return -1
    return slot_at_home(shared.table, shared.slots, record.fingerprint)


@inlined
def taken_slot(shared: Shared, record: StateRecord) -> int:
    """`inserted` into the table of all levels: twice the slot of a record of one word, and 1 more if it was new."""
    return slot_taken(shared.table, shared.slots, record.fingerprint, shared.alone)


@inlined
def slot_in_level(shared: Shared, record: StateRecord) -> int:
    """Find or insert the fingerprint of a record in the table of a ranked level, see `ranked_slot`."""
    table, slots = shared.table, shared.slots
    if WIDE != 0:
        return ranked_slot_wide(table, slots, record.fingerprint, record.first_word)
    return ranked_slot(table, slots, record.fingerprint, shared.alone)


@inlined
def rank_in_level(shared: Shared, slot: Slot, rank: int) -> int:
    """Note a rank for a slot of the table of a ranked level, see `lower_rank`."""
    if WIDE != 0:
        return lower_rank_wide(shared.table, slot, rank)
    return lower_rank(shared.table, slot, rank, shared.alone)


@inlined
def best_in_level(shared: Shared, record: StateRecord) -> int:
    """The least rank of the fingerprint of a record, see `best_rank`."""
    table, slots = shared.table, shared.slots
    if WIDE != 0:
        return best_rank_wide(table, slots, record.fingerprint, record.first_word)
    return best_rank(table, slots, record.fingerprint)
