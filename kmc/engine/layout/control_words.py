"""The words through which Python controls the native loops, and through which the loops report how far they came.

Invariant: the words that all threads write (`Shared.count`, `Shared.next_chunk`) lie 128 bytes or more from every
other, so that a thread that only reads does not wait for one that writes. The speed of the loops depends on this,
results do not.
"""

from __future__ import annotations

from typing import Final

from kmc.engine.layout.record_structs import BitCursor, Chunk, PendingSource, StateRecord
from kmc.engine.native import memory
from kmc.engine.native.structs import Struct, at, embedded
from kmc.engine.native.words import Address, Mask, Slot, Status

WORD_BYTES: Final = memory.WORD_BYTES
UNIT_BYTES: Final = 2  # a unit is 16 bits
SLACK_WORDS: Final = memory.SLACK_WORDS
LINE_WORDS: Final = 8  # of the cache
RECENT: Final = 512  # fingerprints of a batch that a thread remembers


class Shared(Struct, words=128):
    """The words that all threads of a search read."""

    pause: int  # not 0: every loop returns as soon as its batch is done
    # The addresses of kernels, 0 where a model has none.
    expand: Address
    check: Address
    outside: Address
    step: Address
    rank: Address
    storing: int  # 0 beyond the bound: successors are checked, not stored
    deadlock: int  # 1: a state without successor is a finding
    listing: int  # 0: findings in stored states and steps are counted only
    invariant_count: int
    batch: int  # how many states are expanded before their successors are looked up
    chunk_rows: int
    chunks: Chunk  # the first chunk of the frontier
    chunk_count: int
    table: Address  # the table that takes what this level finds
    slots: int
    limit: int  # how many fingerprints it may hold
    known: Address  # with ranks: the table of all earlier levels
    known_slots: int
    targets: Address  # the table of what `seek` looks for
    target_slots: int
    target_steps: int  # 1: it looks for steps to a target, 0: for the target
    step_outside: Address
    reachable: Address
    wanted: Mask  # the mask of the reachable properties that no level has ended with
    dictionary: Address  # the words that have codes
    plain_words: int  # how many words of a row are not coded
    implied_words: int  # 1: the first of them is the fingerprint, and not stored
    usleep: Address  # with schedule fuzzing: the address of usleep, so that other threads run meanwhile
    settle: Address
    # Kernels that evaluate only what a step changes, or 0.
    check_changed: Address
    reachable_changed: Address
    step_changed: Address
    step_kept: Address
    list_repeated: int  # 1: violations of invariants are listed even where `listing` is 0, since Python counts them
    alone: int  # 1: there is one thread
    shards: int  # how many own fingerprints
    uncoded: Address  # a dictionary of the words that had no code
    # The behaviour graph.
    atom_kernels: Address  # of the addresses of kernels that answer which atoms hold in a state
    atom_words: int  # how many they are
    step_atom_kernels: Address  # the same for the atoms of a step
    step_atom_words: int
    apart: Address  # a word per action: 1 if it is not part of the next-state relation; or 0 if all of them are
    count: int = at(64)  # fingerprints in the table, and as many more as threads may be adding
    next_chunk: int = at(96)


class Buffer(Struct):
    """Memory of one thread; size and use in words."""

    address: Address
    words: int
    used: int


class Thread(Struct, words=64):
    """The words that one thread of a search reads and writes."""

    out: Buffer = embedded()  # successors, as `expand` writes them
    block: Buffer = embedded()  # packed rows of the next frontier
    findings: Buffer = embedded()
    made: Buffer = embedded()  # chunks of the next frontier
    rows: Buffer = embedded()  # unpacked rows whose successors are pending
    # The position in its work.
    sources: PendingSource  # the first expanded state whose successors are pending
    source_count: int
    pending: int  # successors in `out`
    packed: Address  # of the packed record to expand next
    rows_left: int  # in the chunk
    ordinal: int
    begin_chunk: int  # 1: the next row begins a chunk
    source: StateRecord  # the unpacked record whose successors are being taken; 0 for initial states
    is_kept: int  # 1: no action property fails in a step from the source that changes nothing that it reads
    batch: int  # `Shared.batch`, or less with schedule fuzzing
    fuzzing: int  # the state of the random numbers of schedule fuzzing; 0 for none
    # Its counters.
    generated: Address  # of one counter per action
    failed: Address  # of one counter per invariant, then one per action property
    expanded: int
    stored: int  # over the whole run
    stored_in_level: int
    cut: int  # generated states outside of the constraints: checked, not expanded
    reached: Mask  # the mask of the reachable properties that were reached
    beyond: int  # 1: the bound cut off a state
    candidates: Buffer = embedded()  # the pending successors that may be new
    recent: Address  # of the fingerprints met in this batch, each in the place that its last bits give; 0 for none
    # Packing.
    empty_record: StateRecord  # a record whose row has no words
    before: StateRecord  # the unpacked record before `packed` in its chunk, or `empty_record`
    packed_end: Address  # where `packed` ends
    block_end: Address  # where the next record is packed to
    last_codes: Address  # of the codes of the row packed last
    last_count: int  # how many they are; 0 at the beginning of a chunk
    codes: Address  # where the codes of the next row are gathered
    escaped: int  # 1: some code of the row, or of its source, is ESCAPE
    # Shards.
    outboxes: Buffer  # one per shard: the entries sent to it
    accepted: BitCursor  # one per shard: which rows of the frontier it accepted; 0 if every row is to be expanded
    accepted_shards: int  # how many they are; `Shared.shards` may be another number
    refused: int  # rows of the frontier that were not accepted
    # The behaviour graph, see behaviour_log.py.
    steps: Buffer = embedded()  # the steps of the expanded states
    states: Buffer = embedded()  # the new states of the level that is being made


class GraphPart(Struct):
    """A part of the behaviour graph that is written from the records of the threads, see number_steps.py."""

    table: Address  # the fingerprint table
    slots: int
    numbers: Address  # of one 32-bit number per slot: that of its state
    steps: Address  # of the records of a thread
    steps_end: Address
    places: Address  # of one word per state of the level: the address of its recorded steps, or 0
    counts: Address  # of one 32-bit number per state of the level: the number of its recorded steps
    first: int  # the number of the first state of the level
    start: int  # the first state of this part, from 0 in its level
    end: int
    step_atom_words: int
    # The output: 32 bits a target and 16 a label, `step_atom_words` words of atoms a step.
    targets: Address
    labels: Address
    atoms: Address
    written: int  # how many steps
    entries: Address  # of memory for the steps of one state


class NewStates(Struct):
    """The plan for sorting the new states of a level by their fingerprints, see sort_states.py."""

    noted: Address  # of the records of a thread
    noted_end: Address
    atom_words: int
    bit_bytes: int  # 1, 2 or 4: so many bytes of the masks of a state are kept; or all their words
    ranges: int  # the number of ranges that fingerprints are divided into
    counters: Address  # 32 bits per range: how many of the states of this task, then where the next one belongs
    tasks: int  # how many such places follow each other
    first: int  # the first range to be sorted
    end: int
    fingerprints: Address  # of the fingerprints in order
    bits: Address  # of their masks


class TableMove(Struct, words=96):
    """A table that grows. Threads write the last two."""

    table: Address
    slots: int  # after growing
    high: Slot  # the slots from here on have been moved
    aside: Address  # of the fingerprints that are put aside
    slots_before: int
    cursor: int = at(32)
    aside_count: int = at(64)


# The results of a loop.
DONE: Final = Status(0)
PAUSED: Final = Status(1)
NEED_TABLE: Final = Status(2)
NEED_OUT: Final = Status(3)
NEED_BLOCK: Final = Status(4)
NEED_OUTBOXES: Final = Status(5)
NEED_FINDINGS: Final = Status(6)
NEED_MADE: Final = Status(7)
NEED_ROWS: Final = Status(8)
NEED_CANDIDATES: Final = Status(9)
NEED_STEPS: Final = Status(10)
NEED_STATES: Final = Status(11)

# The results of `expand` besides a number of successors; errors are <= ERROR_MAX.
OUT_TOO_SMALL: Final = -1
ERROR_MAX: Final = -16
