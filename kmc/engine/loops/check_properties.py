"""Check a state in native loops: whether the constraints hold, which properties fail, which are reached.

Findings are appended to the buffer of the thread.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout import record_structs as r
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.packed_rows import row_of
from kmc.engine.layout.record_structs import FindingEntry, StateRecord
from kmc.engine.native.intrinsics import call_one, call_three, call_two, inlined, load, store
from kmc.engine.native.specialization import RANKED, SHARDED
from kmc.engine.native.words import NULL, Address, Fingerprint, Mask


@inlined
def count(counters: Address, index: int, amount: int) -> None:
    """Add to one of the counters at an address, which belong to this thread."""
    store(counters, index, load(counters, index) + amount)


@inlined
def add_finding(thread: Thread, kind: int, value: int, fingerprint: Fingerprint, rank: int) -> None:
    """Append a finding about the current source to the buffer; the caller has made sure that there is room."""
    used = thread.findings.used
    entry = FindingEntry(thread.findings.address + used * f.WORD_BYTES)
    source = thread.source
    entry.kind = kind
    entry.value = value
    entry.fingerprint = fingerprint
    entry.rank = rank
    entry.source = source.fingerprint if source != 0 else Fingerprint(0)
    thread.findings.used = used + FindingEntry.WORDS


@inlined
def rank_of(shared: Shared, row: Address) -> int:
    """The order of a row among those of its view; -1 would read as "no rank yet"."""
    rank = call_one(shared.rank, row)
    return rank if rank != -1 else -2


@inlined
def rank_if_any(shared: Shared, successor: StateRecord) -> int:
    """The rank of a successor; 0 for a model without ranks."""
    return rank_of(shared, row_of(successor)) if RANKED != 0 else 0


@inlined
def check_state(shared: Shared, thread: Thread, successor: StateRecord, rank: int, stored: int) -> None:
    """Evaluate the invariants of a state, and the reachable properties that are not reached yet."""
    check_after(shared, thread, successor, rank, stored, NULL)


@inlined
def known_source(shared: Shared, thread: Thread) -> Address:
    """The address of the source, if no invariant fails in it and it has no reachable property that is still wanted, or
    0.

    It was checked when it was stored, so that holds as long as there is no finding, but initial states have no source.
    """
    return Address(thread.source if shared.listing != 0 else 0)


@inlined
def check_after(
    shared: Shared, thread: Thread, successor: StateRecord, rank: int, stored: int, source: Address
) -> None:
    """`check_state`, without properties that have not changed since the source: `known_source`, or 0 to
    evaluate all.
    """
    reached = reached_now(shared, successor, source)
    if reached < 0:
        add_check_error(thread, reached, successor, rank, stored)
        return
    if SHARDED == 0 or RANKED == 0 or stored == 0:
        thread.reached = Mask(thread.reached | reached)
    elif reached != 0:
        add_finding(thread, r.REACHED, reached, successor.fingerprint, rank)
    failed = failed_now(shared, successor, source)
    if failed == 0:
        return
    if failed < 0:
        add_check_error(thread, failed, successor, rank, stored)
    elif stored == 0:
        add_finding(thread, r.UNSTORED_INVARIANT, failed, successor.fingerprint, rank)
    else:
        count_violations(thread, failed, 0, 1)
        if shared.listing != 0 or shared.list_repeated != 0:
            add_finding(thread, r.INVARIANT, failed, successor.fingerprint, rank)


@inlined
def reached_now(shared: Shared, successor: StateRecord, source: Address) -> Mask:
    """The mask of the wanted reachable properties that a state satisfies and its source does not; < 0 for an error."""
    if shared.wanted == 0:
        return Mask(0)
    if source == 0 or shared.reachable_changed == 0:
        return Mask(call_two(shared.reachable, row_of(successor), shared.wanted))
    return Mask(call_three(shared.reachable_changed, row_of(StateRecord(source)), row_of(successor), shared.wanted))


@inlined
def failed_now(shared: Shared, successor: StateRecord, source: Address) -> Mask:
    """The mask of the invariants that fail in a state and not in its source; < 0 for an error."""
    if shared.check == 0:
        return Mask(0)
    if source == 0 or shared.check_changed == 0:
        return Mask(call_one(shared.check, row_of(successor)))
    return Mask(call_two(shared.check_changed, row_of(StateRecord(source)), row_of(successor)))


@inlined
def add_check_error(thread: Thread, error: int, successor: StateRecord, rank: int, stored: int) -> None:
    """Note that a property of a successor fails to evaluate."""
    kind = r.STORED_CHECK_ERROR if SHARDED != 0 and RANKED != 0 and stored != 0 else r.CHECK_ERROR
    add_finding(thread, kind, error, successor.fingerprint, rank)


@inlined
def count_violations(thread: Thread, failed: Mask, first: int, times: int) -> None:
    """Count every property whose bit is set, from counter `first` on."""
    index = first
    while failed != 0:
        if failed & 1:
            count(thread.failed, index, times)
        failed = Mask(failed >> 1)
        index += 1


@inlined
def prepare_steps(shared: Shared, thread: Thread) -> None:
    """Evaluate the action properties for steps of the source that change nothing that they read."""
    if shared.step_kept != 0 and thread.source != 0:
        thread.is_kept = 1 if call_one(shared.step_kept, row_of(thread.source)) == 0 else 0


@inlined
def failed_step(shared: Shared, thread: Thread, successor: StateRecord) -> Mask:
    """The mask of the action properties that fail in a step; < 0 for an error."""
    kernel = shared.step_changed if shared.step_kept != 0 and thread.is_kept != 0 else shared.step
    return Mask(call_two(kernel, row_of(thread.source), row_of(successor)))


@inlined
def check_step(shared: Shared, thread: Thread, successor: StateRecord, times: int) -> None:
    """Evaluate the action properties of a step; initial states have none."""
    if thread.source == 0:
        return
    failed = failed_step(shared, thread, successor)
    if failed < 0:
        add_finding(thread, r.EXPAND_ERROR, failed, thread.source.fingerprint, 0)
    elif failed != 0:
        count_violations(thread, failed, shared.invariant_count, times)
        if shared.listing != 0:
            add_finding(thread, r.ACTION_PROPERTY, failed, successor.fingerprint, rank_if_any(shared, successor))


@inlined
def outside_mask(shared: Shared, thread: Thread, successor: StateRecord) -> Mask:
    """Return the mask of constraints that a state breaks, or else of action constraints that the step to it breaks; < 0
    for an error.
    """
    mask = 0
    if shared.outside != 0:
        mask = call_one(shared.outside, row_of(successor))
    if mask == 0 and thread.source != 0 and shared.step_outside != 0:
        mask = call_two(shared.step_outside, row_of(thread.source), row_of(successor))
    return Mask(mask)


@inlined
def is_inside(shared: Shared, thread: Thread, successor: StateRecord) -> int:
    """1 if the constraints hold, 0 if one does not, -1 if evaluating one failed (the error is recorded)."""
    mask = outside_mask(shared, thread, successor)
    if mask < 0:
        source = thread.source
        add_finding(thread, r.EXPAND_ERROR, mask, (source if source != 0 else successor).fingerprint, 0)
        return -1
    return 1 if mask == 0 else 0
