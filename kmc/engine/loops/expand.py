"""The native loops of a search: expand rows, look up their successors, keep the new ones.

Invariant: a loop returns only between two batches, with everything that it needs to continue in `Thread`. So Python can
enlarge any buffer and call it again, and a thread that pauses loses nothing. A batch is processed only when all memory
that it may need is there.

Each thread claims chunks of the frontier from a counter. The successors of `Thread.batch` states wait in its out buffer
while the cache lines of their slots are prefetched.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout import record_structs as r
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.packed_rows import is_dead, length_of, record_after, row_of, unpacked_words, words_of
from kmc.engine.layout.record_structs import (
    Candidate,
    Chunk,
    FindingEntry,
    PendingSource,
    RankedCandidate,
    StateRecord,
)
from kmc.engine.loops.behaviour_log import (
    APART,
    DROPPED,
    end_source,
    insert_candidate,
    is_apart,
    let_note_slot,
    log_shortage,
    note_source,
    note_state,
    note_step,
)
from kmc.engine.loops.check_properties import (
    add_finding,
    check_after,
    check_state,
    check_step,
    count,
    is_inside,
    known_source,
    prepare_steps,
    rank_if_any,
    rank_of,
)
from kmc.engine.loops.fingerprint_table_64 import EQUAL, LEAST
from kmc.engine.loops.outboxes import are_outboxes_short, collect_uncoded, is_refused, judge_again, send
from kmc.engine.loops.pack import pack
from kmc.engine.loops.unpack import unpack
from kmc.engine.loops.visited_set import (
    ask_for,
    ask_in_level,
    forget_recent,
    is_known,
    known_slot,
    may_be_new,
    rank_in_level,
    slot_in_level,
)
from kmc.engine.native.intrinsics import add, call_one, call_three, call_two, copy_eight, inlined, load_shared
from kmc.engine.native.specialization import EDGES, FUZZ_SCHEDULE, RANKED, SHARDED
from kmc.engine.native.words import Address, Slot, Status


@inlined
def next_row(shared: Shared, thread: Thread) -> int:
    """Step to the next record of the frontier: 1, or 0 when there is none."""
    if thread.rows_left == 0:
        # Each thread that finds no chunk adds 1 too, so the counter passes `chunk_count` by a few.
        index = add(shared, Shared.next_chunk, 1)
        if index >= shared.chunk_count:
            return 0
        chunk = Chunk(shared.chunks + index * Chunk.BYTES)
        thread.packed = chunk.first
        thread.rows_left = chunk.rows
        thread.ordinal = chunk.ordinal
        thread.before = thread.empty_record
    return 1


@inlined
def leave_row(thread: Thread) -> None:
    """Leave the source: the next record of the chunk follows it and is delta-decoded against it."""
    source = thread.source
    thread.before = source
    thread.rows.used += unpacked_words(source.header)
    thread.packed = thread.packed_end
    thread.rows_left -= 1
    thread.ordinal += 1


@inlined
def enter_row(shared: Shared, thread: Thread) -> int:
    """Unpack the next record behind the pending rows, and make it the source: 1, or 0 if there is no room."""
    words = unpacked_words(length_of(thread.packed))
    if thread.rows.used + words > thread.rows.words:
        if thread.pending != 0:
            return 0
        keep_last_row(thread)
        if thread.rows.used + words > thread.rows.words:
            return 0
    record = StateRecord(thread.rows.address + thread.rows.used * f.WORD_BYTES)
    thread.packed_end = unpack(shared, thread.packed, thread.before, record)
    thread.source = record
    return 1


@inlined
def keep_last_row(thread: Thread) -> None:
    """Reset the row buffer, keeping only the row the next one is delta-decoded against."""
    before, rows = thread.before, StateRecord(thread.rows.address)
    used = 0
    if before != thread.empty_record:
        used = unpacked_words(before.header)
        if before != rows:
            for offset in range(0, used * f.WORD_BYTES, f.LINE_WORDS * f.WORD_BYTES):
                copy_eight(rows + offset, before + offset)
            thread.before = rows
    thread.rows.used = used


@inlined
def accept(shared: Shared, thread: Thread, successors: int) -> None:
    """Accept the `successors` states that the source wrote: prefetch their slots, and record their source."""
    used = thread.out.used
    out = thread.out.address
    for _ in range(successors):
        successor = StateRecord(out + used * f.WORD_BYTES)
        ask_for(shared, successor)
        used += words_of(successor)
    sources = thread.source_count
    pending = PendingSource(thread.sources + sources * PendingSource.BYTES)
    pending.record = thread.source
    pending.successors = successors
    thread.source_count = sources + 1
    thread.pending += successors
    thread.out.used = used


@inlined
def inject_delay(shared: Shared, thread: Thread) -> None:
    """Wait for a random time, and draw the size of the next batch, to fuzz schedules."""
    chance = thread.fuzzing
    if chance == 0:
        return
    chance = chance * 6364136223846793005 + 1442695040888963407
    thread.fuzzing = chance
    for _ in range(chance >> 60 & 3):
        call_one(shared.usleep, 1)
    thread.batch = 1 + (chance >> 32 & 65535) % shared.batch


@inlined
def is_skipped(shared: Shared, thread: Thread) -> int:
    """1 if the row just entered is not a state of its level: another one represents its view, or it is not new."""
    if is_dead(thread.packed) != 0:
        return 1
    return is_refused(thread) if SHARDED != 0 else 0


@inlined
def fill(shared: Shared, thread: Thread) -> Status:
    """Expand rows until the batch or a buffer is full or no row is left (DONE); or which buffer is too small."""
    while thread.pending < thread.batch:
        if next_row(shared, thread) == 0:
            return f.DONE
        if thread.findings.used + FindingEntry.WORDS > thread.findings.words:
            return f.NEED_FINDINGS
        if enter_row(shared, thread) == 0:
            return f.DONE if thread.pending != 0 else f.NEED_ROWS
        if is_skipped(shared, thread) != 0:
            leave_row(thread)
            continue
        used = thread.out.used
        free = thread.out.address + used * f.WORD_BYTES
        successors = call_three(shared.expand, row_of(thread.source), free, thread.out.words - used)
        if successors == f.OUT_TOO_SMALL:
            if SHARDED != 0:
                judge_again(thread)
            return f.DONE if used != 0 else f.NEED_OUT
        if successors > 0:
            accept(shared, thread, successors)
        elif successors < 0:
            add_finding(thread, r.EXPAND_ERROR, successors, thread.source.fingerprint, 0)
        elif shared.deadlock != 0:
            add_finding(thread, r.NO_SUCCESSOR, 0, thread.source.fingerprint, 0)
        leave_row(thread)
        thread.expanded += 1
    return f.DONE


@inlined
def shortage(shared: Shared, thread: Thread) -> Status:
    """The status that names a buffer which may be too small for the pending batch, or DONE."""
    pending = thread.pending
    used = thread.out.used
    # Packed, a record whose words are all different needs a little more than a quarter more.
    if thread.block.used + used + used // 2 + pending > thread.block.words:
        return f.NEED_BLOCK
    if thread.findings.used + (3 + 2 * EDGES) * pending * FindingEntry.WORDS > thread.findings.words:
        return f.NEED_FINDINGS
    if thread.made.used + pending * Chunk.WORDS > thread.made.words:
        return f.NEED_MADE
    if pending * RankedCandidate.WORDS > thread.candidates.words:
        return f.NEED_CANDIDATES
    if SHARDED != 0 and are_outboxes_short(shared, thread, pending) != 0:
        return f.NEED_OUTBOXES
    return f.DONE if EDGES == 0 else log_shortage(shared, thread)


@inlined
def append(shared: Shared, thread: Thread, successor: StateRecord) -> None:
    """Put a record at the end of the next frontier."""
    source = thread.source
    chunk = enter_chunk(shared, thread)
    end = pack(shared, thread, successor, source if source != 0 else thread.empty_record, thread.block_end)
    chunk.rows += 1
    thread.block_end = end
    thread.block.used = (end - thread.block.address + f.WORD_BYTES - 1) // f.WORD_BYTES
    thread.stored_in_level += 1
    if SHARDED != 0:
        if thread.escaped != 0:
            collect_uncoded(shared, thread, successor)
        if RANKED == 0:
            send(shared, thread, successor, 0)


@inlined
def enter_chunk(shared: Shared, thread: Thread) -> Chunk:
    """The chunk that the next row belongs to. A new chunk begins at a word, and without a row to decode against."""
    made = thread.made.used
    chunk = Chunk(thread.made.address + (made - Chunk.WORDS) * f.WORD_BYTES)
    if thread.begin_chunk != 0 or chunk.rows == shared.chunk_rows:
        chunk = Chunk(chunk + Chunk.BYTES)
        thread.block_end = Address(thread.block.address + thread.block.used * f.WORD_BYTES)
        chunk.first = thread.block_end
        chunk.rows = 0
        chunk.ordinal = thread.stored_in_level
        thread.made.used = made + Chunk.WORDS
        thread.begin_chunk = 0
        thread.last_count = 0
    return chunk


@inlined
def settle(shared: Shared, successor: StateRecord) -> None:
    """Turn a new state into the representative of its orbit, see `KernelTable.settle`."""
    if shared.settle != 0:
        call_two(shared.settle, row_of(successor), successor.fingerprint)


@inlined
def take(shared: Shared, thread: Thread, successor: StateRecord, index: int) -> None:
    """Process a successor: count it, check its step, make it a candidate if it may be new."""
    header = successor.header
    times = 1 + (header >> r.TIMES_SHIFT & r.TIMES_MASK)
    action = header >> r.ACTION_SHIFT & r.ACTION_MASK
    if EDGES != 0 and is_apart(shared, action) != 0:
        note_step(shared, thread, successor, action | APART, 0, 0)
        return
    count(thread.generated, action, times)
    inside = is_inside(shared, thread, successor)
    slot = known_slot(shared, successor)
    if EDGES != 0:
        has_slot = 1 if inside > 0 and (slot >= 0 or shared.storing != 0) else 0
        note_step(shared, thread, successor, action | DROPPED if inside == 0 else action, slot, has_slot)
    if inside < 0:
        return
    # Before a new state is settled, which changes the step.
    if shared.step != 0:
        check_step(shared, thread, successor, times)
    if inside == 0:
        thread.cut += times
        check_state(shared, thread, successor, rank_if_any(shared, successor), 0)
    elif shared.storing == 0:
        if is_known(shared, successor) == 0:
            thread.beyond = 1
            check_state(shared, thread, successor, rank_if_any(shared, successor), 0)
    else:
        add_candidate(shared, thread, successor, index, slot)


@inlined
def add_candidate(shared: Shared, thread: Thread, successor: StateRecord, index: int, slot: int) -> None:
    """Make a successor a candidate if it may be new; `index` is that of its source, `slot` what `known_slot` says."""
    used = thread.candidates.used
    is_kept = may_be_new(shared, thread, successor, slot)
    if RANKED != 0:
        ranked = RankedCandidate(thread.candidates.address + used * f.WORD_BYTES)
        ranked.record = successor
        ranked.source = index
        ask_in_level(shared, successor, is_kept)
        thread.candidates.used = used + RankedCandidate.WORDS * is_kept
    else:
        candidate = Candidate(thread.candidates.address + used * f.WORD_BYTES)
        candidate.record = successor
        candidate.source = index
        let_note_slot(shared, thread, candidate)
        thread.candidates.used = used + Candidate.WORDS * is_kept


@inlined
def enter_source(thread: Thread, index: int) -> int:
    """Make a pending source the source; return the number of its successors."""
    pending = PendingSource(thread.sources + index * PendingSource.BYTES)
    thread.source = pending.record
    return pending.successors


@inlined
def insert_new_fingerprints(shared: Shared, thread: Thread) -> int:
    """Insert the fingerprints of the candidates, and keep the candidates that were new; return their number.

    A pass of its own: whether a state is new is unpredictable, and a misprediction costs as much as a lookup.
    """
    candidate = kept = Candidate(thread.candidates.address)
    end = candidate + thread.candidates.used * f.WORD_BYTES
    while candidate != end:
        successor = candidate.record
        kept.record = successor
        kept.source = candidate.source
        new = insert_candidate(shared, candidate)
        kept = Candidate(kept + Candidate.BYTES * new)
        candidate = Candidate(candidate + Candidate.BYTES)
    used = (kept - thread.candidates.address) // f.WORD_BYTES
    thread.candidates.used = used
    return used // Candidate.WORDS


@inlined
def keep(shared: Shared, thread: Thread) -> None:
    """Store and check the candidates that were new.

    A pass of its own: a compare-and-swap waits for all writes before it, and writes to new memory are slow. No other
    thread has these candidates, so the order of the two passes does not matter to it.
    """
    candidate = Candidate(thread.candidates.address)
    end = candidate + thread.candidates.used * f.WORD_BYTES
    while candidate != end:
        successor = candidate.record
        enter_source(thread, candidate.source)
        settle(shared, successor)
        append(shared, thread, successor)
        if EDGES != 0:
            note_state(shared, thread, successor)
        check_after(shared, thread, successor, 0, 1, known_source(shared, thread))
        candidate = Candidate(candidate + Candidate.BYTES)
    thread.candidates.used = 0


@inlined
def insert_ranks(shared: Shared, thread: Thread) -> int:
    """Note the ranks of the candidates in the table of the level; return how many views are new in it.

    Of a model with ranks, keeps the candidates that may be the first of their view, or have another rank.
    """
    new = 0
    candidate = kept = RankedCandidate(thread.candidates.address)
    end = candidate + thread.candidates.used * f.WORD_BYTES
    while candidate != end:
        successor = candidate.record
        kept.record = successor
        kept.source = candidate.source
        candidate = RankedCandidate(candidate + RankedCandidate.BYTES)
        if is_known(shared, successor) == 0:
            rank = rank_of(shared, row_of(successor))
            slot = slot_in_level(shared, successor)
            if FUZZ_SCHEDULE != 0:
                inject_delay(shared, thread)
            new += 1 if slot < 0 else 0
            order = rank_in_level(shared, Slot(-1 - slot if slot < 0 else slot), rank)
            kept.rank = rank
            kept.order = order
            kept = RankedCandidate(kept + RankedCandidate.BYTES * (1 if order != EQUAL else 0))
    thread.candidates.used = (kept - thread.candidates.address) // f.WORD_BYTES
    return new


@inlined
def keep_ranked(shared: Shared, thread: Thread) -> None:
    """Check the candidates that are left, and store those whose rank was the least of their view; see `keep`.

    Several rows of one view may be stored, each the least so far: `view_representatives.select` keeps one.
    """
    candidate = RankedCandidate(thread.candidates.address)
    end = candidate + thread.candidates.used * f.WORD_BYTES
    while candidate != end:
        successor = candidate.record
        enter_source(thread, candidate.source)
        if candidate.order == LEAST:
            settle(shared, successor)
            append(shared, thread, successor)
        check_state(shared, thread, successor, candidate.rank, 1)
        candidate = RankedCandidate(candidate + RankedCandidate.BYTES)
    thread.candidates.used = 0


@inlined
def flush(shared: Shared, thread: Thread) -> Status:
    """Process the whole pending batch: DONE, or which buffer is too small for it."""
    status = shortage(shared, thread)
    pending = thread.pending
    if status != f.DONE:
        return status
    # Reserve a slot for every successor before the first is inserted: so the table never fills, and every probe ends.
    # Two threads may refuse each other's last slots; then the table grows though one of them had room.
    if add(shared, Shared.count, pending) + pending > shared.limit:
        add(shared, Shared.count, -pending)
        return f.NEED_TABLE
    forget_recent(thread)
    successor = StateRecord(thread.out.address)
    for index in range(thread.source_count):
        successors = enter_source(thread, index)
        prepare_steps(shared, thread)
        begin = thread.steps.used
        if EDGES != 0:
            note_source(shared, thread, successors, successor)
        for _ in range(successors):
            take(shared, thread, successor, index)
            successor = record_after(successor)
        if EDGES != 0:
            end_source(thread, begin)
    if FUZZ_SCHEDULE != 0:
        inject_delay(shared, thread)
    new = 0
    if thread.candidates.used != 0:
        if RANKED != 0:
            new = insert_ranks(shared, thread)
            keep_ranked(shared, thread)
        else:
            new = insert_new_fingerprints(shared, thread)
            keep(shared, thread)
    # Of what was reserved, only what was new stays.
    add(shared, Shared.count, new - pending)
    thread.stored += new
    empty(thread)
    return f.DONE


@inlined
def empty(thread: Thread) -> None:
    """Empty the batch."""
    thread.pending = 0
    thread.source_count = 0
    thread.out.used = 0
    keep_last_row(thread)


def work(shared: Shared, thread: Thread) -> Status:
    """Expand the frontier together with the other threads: DONE, PAUSED, or which buffer is too small.

    `pause` is read only here, between two batches: a thread that was stopped holds no reserved slot, and the table may
    be moved. A batch that found a buffer too small stays pending, and is processed by the next call.
    """
    while load_shared(shared, Shared.pause) == 0:
        status = fill(shared, thread)
        if FUZZ_SCHEDULE != 0:
            inject_delay(shared, thread)
        if status == f.DONE:
            if thread.pending == 0:
                return f.DONE
            status = flush(shared, thread)
        if status != f.DONE:
            return status
    return f.PAUSED


def check_accepted(shared: Shared, thread: Thread) -> Status:
    """Evaluate all properties of states for the rows of a level that their owners accepted.

    Beyond the bound no state is stored: then `Shared.storing` is 0. DONE, PAUSED, or which buffer is too small.
    """
    while load_shared(shared, Shared.pause) == 0:
        if next_row(shared, thread) == 0:
            return f.DONE
        if thread.findings.used + 3 * FindingEntry.WORDS > thread.findings.words:
            return f.NEED_FINDINGS
        if enter_row(shared, thread) == 0:
            return f.NEED_ROWS
        if is_skipped(shared, thread) == 0:
            check_state(shared, thread, thread.source, 0, shared.storing)
        leave_row(thread)
    return f.PAUSED
