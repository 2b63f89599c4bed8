"""The native loop that ends a ranked level: of the rows with one view, it keeps the one of the least rank."""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.packed_rows import mark_dead, row_of
from kmc.engine.layout.record_structs import UnpackedRow
from kmc.engine.loops.check_properties import rank_of
from kmc.engine.loops.expand import empty, enter_row, leave_row, next_row
from kmc.engine.loops.outboxes import are_outboxes_short, send
from kmc.engine.loops.visited_set import ask_for, ask_in_level, best_in_level, inserted
from kmc.engine.native.intrinsics import inlined, load_shared
from kmc.engine.native.specialization import SHARDED
from kmc.engine.native.words import Status


@inlined
def gather_rows(shared: Shared, thread: Thread) -> Status:
    """Unpack rows and prefetch their slots until the batch or a buffer is full or no row is left (DONE); or which
    buffer is too small.
    """
    while thread.pending < thread.batch:
        used = thread.candidates.used
        if used + UnpackedRow.WORDS > thread.candidates.words:
            return f.DONE
        if next_row(shared, thread) == 0:
            return f.DONE
        if enter_row(shared, thread) == 0:
            return f.DONE if thread.pending != 0 else f.NEED_ROWS
        row = UnpackedRow(thread.candidates.address + used * f.WORD_BYTES)
        row.record = thread.source
        row.packed = thread.packed
        ask_for(shared, thread.source)
        ask_in_level(shared, thread.source, 1)
        thread.candidates.used = used + UnpackedRow.WORDS
        thread.pending += 1
        leave_row(thread)
    return f.DONE


@inlined
def keep_representatives(shared: Shared, thread: Thread) -> None:
    """Keep the rows gathered that have the least rank of their view, and mark the others as dead."""
    row = UnpackedRow(thread.candidates.address)
    end = row + thread.candidates.used * f.WORD_BYTES
    while row != end:
        record = row.record
        rank = rank_of(shared, row_of(record))
        if rank != best_in_level(shared, record):
            mark_dead(row.packed)
        elif SHARDED != 0:
            send(shared, thread, record, rank)
        else:
            inserted(shared, shared.known, shared.known_slots, record)
        row = UnpackedRow(row + UnpackedRow.BYTES)
    thread.candidates.used = 0
    empty(thread)


def select(shared: Shared, thread: Thread) -> Status:
    """Keep one row of each view in a ranked level, the one of the least rank: mark all others as dead.

    The fingerprints of those kept go into the table of all levels, or to their owners. Runs over the new chunks before
    they are expanded.
    """
    while load_shared(shared, Shared.pause) == 0:
        status = gather_rows(shared, thread)
        if status != f.DONE:
            return status
        if thread.pending == 0:
            return f.DONE
        if SHARDED != 0 and are_outboxes_short(shared, thread, thread.pending) != 0:
            return f.NEED_OUTBOXES
        keep_representatives(shared, thread)
    return f.PAUSED
