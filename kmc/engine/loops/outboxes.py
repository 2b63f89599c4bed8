"""The entries that a sharded search sends to the owners of fingerprints, and the owners' answers.

Each fingerprint belongs to one shard. A successor that is new to the task that found it is packed at once, and its
fingerprint is sent to the owner: an entry in the owner's outbox, in the order of the rows. The owner answers with one
bit per entry. The bit is read when the row is read for its expansion, so a refused row is skipped, never rewritten.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Buffer, Shared, Thread
from kmc.engine.layout.packed_rows import row_of
from kmc.engine.layout.record_structs import LENGTH_MASK, BitCursor, StateRecord
from kmc.engine.layout.word_dictionary import ESCAPE, code_of
from kmc.engine.native.intrinsics import inlined, load, load_code, slot_of, store
from kmc.engine.native.specialization import RANKED, WIDE
from kmc.engine.native.words import Fingerprint

ENTRY_WORDS_MAX = 3
"""A fingerprint of two words, and a rank."""

SCATTER = -7046029254386353131


@inlined
def owner_of(fingerprint: Fingerprint, shards: int) -> int:
    """The number of the shard that owns a fingerprint. The fingerprints of one shard are spread evenly among all
    fingerprints.
    """
    return slot_of(fingerprint * SCATTER, shards)


@inlined
def are_outboxes_short(shared: Shared, thread: Thread, entries: int) -> int:
    """1 if some outbox has no room for so many entries more, else 0."""
    for shard in range(shared.shards):
        outbox = Buffer(thread.outboxes + shard * Buffer.BYTES)
        if outbox.used + entries * ENTRY_WORDS_MAX > outbox.words:
            return 1
    return 0


@inlined
def send(shared: Shared, thread: Thread, record: StateRecord, rank: int) -> None:
    """Send the fingerprint of a record to its owner; with ranks, the rank too. The caller has made sure of the room."""
    fingerprint = record.fingerprint
    outbox = Buffer(thread.outboxes + owner_of(fingerprint, shared.shards) * Buffer.BYTES)
    used = outbox.used
    entry = outbox.address + used * f.WORD_BYTES
    store(entry, 0, fingerprint)
    if WIDE != 0:
        store(entry, 1, record.first_word)
    if RANKED != 0:
        store(entry, 1 + WIDE, rank)
    outbox.used = used + 1 + WIDE + RANKED


@inlined
def is_refused(thread: Thread) -> int:
    """1 if the owner of the row just entered did not accept it, else 0. Call this once for each row, in order."""
    if thread.accepted == 0:
        return 0
    owner = owner_of(thread.source.fingerprint, thread.accepted_shards)
    # The owner answered in the order of its entries, which is the order of the rows, so a cursor per owner suffices.
    cursor = BitCursor(thread.accepted + owner * BitCursor.BYTES)
    index = cursor.index
    cursor.index = index + 1
    refused = 1 - (load(cursor.bits, index >> 6) >> (index & 63) & 1)
    thread.refused += refused
    return refused


@inlined
def judge_again(thread: Thread) -> None:
    """Let `is_refused` read the answer for an accepted row once more, since the row will be entered again."""
    if thread.accepted != 0:
        owner = owner_of(thread.source.fingerprint, thread.accepted_shards)
        cursor = BitCursor(thread.accepted + owner * BitCursor.BYTES)
        cursor.index = cursor.index - 1


@inlined
def collect_uncoded(shared: Shared, thread: Thread, record: StateRecord) -> None:
    """Collect the words of the row packed last that have no code, so that they have one in the next level."""
    length = record.header & LENGTH_MASK
    plain = min(shared.plain_words, length)
    for index in range(length - plain):
        if load_code(thread.last_codes, index) == ESCAPE:
            code_of(shared.uncoded, load(row_of(record), plain + index))
