"""The records of a search for the behaviour graph: the steps of each expanded state, and each new state.

A thread writes words one after another. Steps: a state's fingerprint and the number of steps that follow, then for each
step the fingerprint of its target, its label with flags, and the masks of the step's atoms. New states: the fingerprint
and the masks of the state's atoms. A fingerprint is one word, or two if the search is `WIDE`.

If a fingerprint is one word, and one table has all states (`NOTES_SLOTS`), a step needs half of that: its label with
the slot of its target in the table, and the masks of its atoms. If the target has no slot, its fingerprint follows them
(`FOLLOWED`). If the table grows while a level is made, `unfold_steps` gives each step its fingerprint again. The number
of words of the steps is stored beside the number of steps of a state.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout import record_structs as r
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.packed_rows import record_after, row_of
from kmc.engine.layout.record_structs import Candidate, StateRecord
from kmc.engine.loops.check_properties import add_finding
from kmc.engine.loops.visited_set import inserted, taken_slot
from kmc.engine.native.intrinsics import call_one, call_two, inlined, load, store, store_half
from kmc.engine.native.specialization import NOTES_SLOTS, WIDE
from kmc.engine.native.words import Address, Status

DROPPED = 1 << 16
"""A constraint drops the step."""

APART = 1 << 17
"""The action is not part of the next-state relation."""

FOLLOWED = 1 << 18
"""The fingerprint of the target follows instead of its slot."""

LABEL_MASK = (1 << 16) - 1
SLOT_SHIFT = 20
HEAD_WORDS = 2
"""Without the second word of a fingerprint: those of a source, and those of a step without atoms."""

COUNT = 2
"""The index of the number of steps in a source's record, in units of 32 bits."""

LENGTH = 3
"""The index of the number of words of these steps, likewise."""


@inlined
def is_apart(shared: Shared, action: int) -> int:
    """1 if an action is not part of the next-state relation, else 0."""
    return 0 if shared.apart == 0 else load(shared.apart, action)


@inlined
def log_shortage(shared: Shared, thread: Thread) -> Status:
    """The status that names a log which has no room for the pending batch, or DONE."""
    words = thread.source_count * (HEAD_WORDS + WIDE)
    words += thread.pending * (HEAD_WORDS + WIDE + shared.step_atom_words)
    if thread.steps.used + words > thread.steps.words:
        return f.NEED_STEPS
    if thread.states.used + thread.pending * (1 + WIDE + shared.atom_words) > thread.states.words:
        return f.NEED_STATES
    return f.DONE


@inlined
def note_fingerprint(end: Address, record: StateRecord) -> Address:
    """Write the fingerprint of a record; the address behind it."""
    store(end, 0, record.fingerprint)
    if WIDE != 0:
        store(end, 1, record.first_word)
    return Address(end + (1 + WIDE) * f.WORD_BYTES)


@inlined
def note_source(shared: Shared, thread: Thread, successors: int, first: StateRecord) -> None:
    """Note the source, whose steps follow. Initial states have none."""
    source = thread.source
    if source != 0:
        end = note_fingerprint(Address(thread.steps.address + thread.steps.used * f.WORD_BYTES), source)
        store(end, 0, successors)
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
def end_source(thread: Thread, begin: int) -> None:
    """Record the number of words of the source's steps; `begin` is the number of words before the source was
    recorded.
    """
    if NOTES_SLOTS != 0 and thread.source != 0:
        store_half(thread.steps.address + begin * f.WORD_BYTES, LENGTH, thread.steps.used - begin - HEAD_WORDS)


@inlined
def note_step(shared: Shared, thread: Thread, successor: StateRecord, label: int, slot: int, has_slot: int) -> None:
    """Record a step of the source: `label` is its label with flags, `slot` that of its target if slots are recorded.

    Slot -1 is not known yet, see `let_note_slot`. If `has_slot` is 0, the target has none.
    """
    source = thread.source
    if source != 0:
        end = Address(thread.steps.address + thread.steps.used * f.WORD_BYTES)
        if NOTES_SLOTS != 0:
            store(end, 0, label | noted_slot(slot) if has_slot != 0 else label | FOLLOWED)
        else:
            end = note_fingerprint(end, successor)
            store(end, 0, label)
        for word in range(shared.step_atom_words):
            mask = call_two(load(shared.step_atom_kernels, word), row_of(source), row_of(successor))
            if mask < 0:
                add_finding(thread, r.EXPAND_ERROR, mask, source.fingerprint, 0)
            store(end, 1 + word, mask)
        words = 1 + shared.step_atom_words
        if NOTES_SLOTS == 0:
            words += 1 + WIDE
        elif has_slot == 0:
            store(end, words, successor.fingerprint)
            words += 1
        thread.steps.used += words


@inlined
def noted_slot(slot: int) -> int:
    """The part of a step's label that contains the slot of its target; 0 for slot -1."""
    return slot << SLOT_SHIFT if slot >= 0 else 0


@inlined
def let_note_slot(shared: Shared, thread: Thread, candidate: Candidate) -> None:
    """Give a candidate the address at which its slot is to be recorded: in the last recorded step."""
    if NOTES_SLOTS != 0:
        offset = thread.steps.used - 1 - shared.step_atom_words
        candidate.note = Address(thread.steps.address + offset * f.WORD_BYTES if thread.source != 0 else 0)


@inlined
def insert_candidate(shared: Shared, candidate: Candidate) -> int:
    """Put the fingerprint of a candidate into the table of all levels, and record its slot; return 1 if it was new,
    else 0.
    """
    if NOTES_SLOTS == 0:
        return inserted(shared, shared.table, shared.slots, candidate.record)
    # A fingerprint keeps its slot until the table grows; `unfold_steps` replaces slots by fingerprints before that.
    taken, note = taken_slot(shared, candidate.record), candidate.note
    if note != 0:
        store(note, 0, load(note, 0) | noted_slot(taken >> 1))
    return taken & 1


@inlined
def note_state(shared: Shared, thread: Thread, state: StateRecord) -> None:
    """Note a new state."""
    end = note_fingerprint(Address(thread.states.address + thread.states.used * f.WORD_BYTES), state)
    for word in range(shared.atom_words):
        mask = call_one(load(shared.atom_kernels, word), row_of(state))
        if mask < 0:
            add_finding(thread, r.CHECK_ERROR, mask, state.fingerprint, 0)
        store(end, word, mask)
    thread.states.used += 1 + WIDE + shared.atom_words
