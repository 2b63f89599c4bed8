"""The native loop that looks for rows of a stored level, or for steps to them; see `kmc.engine.loops.expand`."""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout import record_structs as r
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.packed_rows import record_after, row_of
from kmc.engine.layout.record_structs import FindingEntry, StateRecord
from kmc.engine.loops.check_properties import add_finding
from kmc.engine.loops.expand import enter_row, is_skipped, leave_row, next_row
from kmc.engine.loops.fingerprint_table_64 import contains
from kmc.engine.loops.outboxes import judge_again
from kmc.engine.native.intrinsics import call_three, inlined, load_shared
from kmc.engine.native.specialization import SHARDED
from kmc.engine.native.words import Status


@inlined
def leads_to_target(shared: Shared, successors: int, successor: StateRecord) -> int:
    """1 if a search looks for one of the `successors` states that were written, else 0."""
    targets = shared.targets
    slots = shared.target_slots
    for _ in range(successors):
        if contains(targets, slots, successor.fingerprint) != 0:
            return 1
        successor = record_after(successor)
    return 0


def seek(shared: Shared, thread: Thread) -> Status:
    """Find the rows of a level whose fingerprints are targets, or that have a step to a target.

    DONE, PAUSED, or which buffer is too small.
    """
    while load_shared(shared, Shared.pause) == 0:
        if next_row(shared, thread) == 0:
            return f.DONE
        if thread.findings.used + FindingEntry.WORDS > thread.findings.words:
            return f.NEED_FINDINGS
        if enter_row(shared, thread) == 0:
            return f.NEED_ROWS
        source = thread.source
        if is_skipped(shared, thread) != 0:
            noted = 0
        elif shared.target_steps == 0:
            noted = contains(shared.targets, shared.target_slots, source.fingerprint)
        else:
            out = thread.out.address
            successors = call_three(shared.expand, row_of(source), out, thread.out.words)
            if successors == f.OUT_TOO_SMALL:
                if SHARDED != 0:
                    judge_again(thread)
                return f.NEED_OUT
            noted = leads_to_target(shared, successors, StateRecord(out))
        if noted != 0:
            add_finding(thread, r.TARGET, thread.ordinal, source.fingerprint, 0)
        leave_row(thread)
    return f.PAUSED
