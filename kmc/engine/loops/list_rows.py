"""The native loop that lists the states of a level: rows unpacked, one behind another, in the order of their chunks."""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Buffer, Shared, Thread
from kmc.engine.layout.packed_rows import STEP, row_of
from kmc.engine.layout.record_structs import LENGTH_MASK
from kmc.engine.loops.expand import enter_row, is_skipped, leave_row, next_row
from kmc.engine.native.intrinsics import copy_eight, inlined, load_shared, store
from kmc.engine.native.structs import Struct, embedded
from kmc.engine.native.words import Status


class RowListing(Struct):
    """The listed rows: the words of all rows, and for each row its end and its fingerprint.

    A row begins where the one before it ends.
    """

    words: Buffer = embedded()
    rows: Buffer = embedded()


class ListedRow(Struct):
    """One row of a listing: the word behind it, and the first word of its fingerprint."""

    end: int
    fingerprint: int


@inlined
def copy_row(thread: Thread, listing: RowListing) -> None:
    """Put the row just entered behind the others, for which the caller has made sure of the room."""
    source = row_of(thread.source)
    used = listing.words.used
    target = listing.words.address + used * f.WORD_BYTES
    length = thread.source.header & LENGTH_MASK
    for offset in range(0, length * f.WORD_BYTES, STEP * f.WORD_BYTES):
        copy_eight(target + offset, source + offset)
    listing.words.used = used + length
    row = listing.rows.address + listing.rows.used * f.WORD_BYTES
    store(row, ListedRow.end, used + length)
    store(row, ListedRow.fingerprint, thread.source.fingerprint)
    listing.rows.used += ListedRow.WORDS


def list_rows(shared: Shared, thread: Thread, listing: RowListing) -> Status:
    """List the rows of a level that are its states: DONE, PAUSED, or which buffer is too small.

    NEED_OUT is said of the words and rows of the listing.
    """
    while load_shared(shared, Shared.pause) == 0:
        if next_row(shared, thread) == 0:
            return f.DONE
        if enter_row(shared, thread) == 0:
            return f.NEED_ROWS
        length = thread.source.header & LENGTH_MASK
        if listing.words.used + length + STEP > listing.words.words:
            return f.NEED_OUT
        if listing.rows.used + ListedRow.WORDS > listing.rows.words:
            return f.NEED_OUT
        if is_skipped(shared, thread) == 0:
            copy_row(thread, listing)
        leave_row(thread)
    return f.PAUSED
