"""What a search notes for the behaviour graph: the steps of each expanded state, and each new state.

A thread notes words one after another. Steps: a state's fingerprint and how many steps follow, then for each step the
fingerprint of its target, its label with flags, and the masks of the step's atoms. New states: the fingerprint and the
masks of the state's atoms. A fingerprint is one word, or two where the search is `WIDE`.

Where one word is a fingerprint, and the table has all states, the slot of the target is noted beside the label: who
numbers the steps need not look for it, unless the table has grown meanwhile.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout import record_structs as r
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.packed_rows import record_after, row_of
from kmc.engine.layout.record_structs import Candidate, StateRecord
from kmc.engine.loops.check_properties import add_finding
from kmc.engine.loops.visited_set import inserted, taken_slot
from kmc.engine.native.intrinsics import call_one, call_two, inlined, load, store
from kmc.engine.native.specialization import NOTES_SLOTS, WIDE

DROPPED = 1 << 16
"""A constraint drops the step."""

APART = 1 << 17
"""The action is not part of the next-state relation."""

LABEL_MASK = (1 << 16) - 1
AGE_SHIFT = 18
AGE_MASK = (1 << 8) - 1
SLOT_SHIFT = 26
HEAD_WORDS = 2
"""Without the second word of a fingerprint: those of a source, and those of a step without atoms."""


@inlined
def is_apart(shared: Shared, action: int) -> int:
    """1 if an action is not part of the next-state relation, else 0."""
    return 0 if shared.apart == 0 else load(shared.apart, action)


@inlined
def is_log_short(shared: Shared, thread: Thread) -> int:
    """1 if there is no room for the steps of the pending batch, else 0."""
    words = thread.source_count * (HEAD_WORDS + WIDE)
    words += thread.pending * (HEAD_WORDS + WIDE + shared.step_atom_words)
    return 1 if thread.steps.used + words > thread.steps.words else 0


@inlined
def is_note_short(shared: Shared, thread: Thread) -> int:
    """1 if there is no room for the new states of the pending batch, else 0."""
    words = thread.pending * (1 + WIDE + shared.atom_words)
    return 1 if thread.states.used + words > thread.states.words else 0


@inlined
def note_fingerprint(place: int, record: StateRecord) -> int:
    """Write the fingerprint of a record; the address behind it."""
    store(place, 0, record.fingerprint)
    if WIDE != 0:
        store(place, 1, record.first_word)
    return place + (1 + WIDE) * f.WORD_BYTES


@inlined
def note_source(shared: Shared, thread: Thread, successors: int, first: StateRecord) -> None:
    """Note the source, whose steps follow. Initial states have none."""
    source = thread.source
    if source != 0:
        place = note_fingerprint(thread.steps.address + thread.steps.used * f.WORD_BYTES, source)
        store(place, 0, successors)
        thread.steps.used += HEAD_WORDS + WIDE
        if shared.apart != 0 and shared.deadlock != 0:
            check_deadlock(shared, thread, successors, first)


@inlined
def check_deadlock(shared: Shared, thread: Thread, successors: int, first: StateRecord) -> None:
    """Note a deadlock if the next-state relation allows none of the successors of the source."""
    successor = first
    for _ in range(successors):
        if is_apart(shared, successor.header >> r.ACTION_SHIFT & r.ACTION_MASK) == 0:
            return
        successor = record_after(successor)
    add_finding(thread, r.NO_SUCCESSOR, 0, thread.source.fingerprint, 0)


@inlined
def note_step(shared: Shared, thread: Thread, successor: StateRecord, label: int, flags: int) -> None:
    """Note a step of the source."""
    source = thread.source
    if source != 0:
        place = note_fingerprint(thread.steps.address + thread.steps.used * f.WORD_BYTES, successor)
        store(place, 0, label | flags)
        for number in range(shared.step_atom_words):
            mask = call_two(load(shared.step_atom_kernels, number), row_of(source), row_of(successor))
            if mask < 0:
                add_finding(thread, r.EXPAND_ERROR, mask, source.fingerprint, 0)
            store(place, 1 + number, mask)
        thread.steps.used += HEAD_WORDS + WIDE + shared.step_atom_words


@inlined
def slot_note(shared: Shared, slot: int) -> int:
    """What is added to the label of a step to the state in a slot; 0 for slot -1."""
    return (slot << SLOT_SHIFT | shared.table_age << AGE_SHIFT) * (1 if slot >= 0 else 0)


@inlined
def let_note_slot(shared: Shared, thread: Thread, candidate: Candidate) -> None:
    """Tell a candidate where its slot is to be noted: with the step that was noted last."""
    if NOTES_SLOTS != 0:
        place = thread.steps.used - 1 - shared.step_atom_words
        candidate.note = thread.steps.address + place * f.WORD_BYTES if thread.source != 0 else 0


@inlined
def insert_candidate(shared: Shared, candidate: Candidate) -> int:
    """Put the fingerprint of a candidate into the table of all levels, and note its slot: 1 if it was new, else 0."""
    if NOTES_SLOTS == 0:
        return inserted(shared, shared.table, shared.slots, candidate.record)
    taken, note = taken_slot(shared, candidate.record), candidate.note
    if note != 0:
        store(note, 0, load(note, 0) | slot_note(shared, taken >> 1))
    return taken & 1


@inlined
def note_state(shared: Shared, thread: Thread, state: StateRecord) -> None:
    """Note a new state."""
    place = note_fingerprint(thread.states.address + thread.states.used * f.WORD_BYTES, state)
    for number in range(shared.atom_words):
        mask = call_one(load(shared.atom_kernels, number), row_of(state))
        if mask < 0:
            add_finding(thread, r.CHECK_ERROR, mask, state.fingerprint, 0)
        store(place, number, mask)
    thread.states.used += 1 + WIDE + shared.atom_words
