"""The words through which Python and the native loops tell each other what to do and how far it went.

Invariant: the words that all threads write (`Shared.count`, `Shared.next_chunk`) lie 128 bytes or more from every
other, so that a thread that only reads does not wait for one that writes. The speed of the loops depends on this,
results do not.
"""

from __future__ import annotations

from typing import Final

from kmc.engine.layout.record_structs import BitCursor, Chunk, PendingSource, StateRecord
from kmc.engine.native import memory
from kmc.engine.native.structs import Struct, at, embedded

WORD_BYTES: Final = memory.WORD_BYTES
UNIT_BYTES: Final = 2  # a unit is 16 bits
SLACK_WORDS: Final = memory.SLACK_WORDS
LINE_WORDS: Final = 8  # of the cache


class Shared(Struct, words=128):
    """What all threads of a search read."""

    pause: int  # not 0: every loop returns as soon as its batch is done
    # Addresses of kernels, 0 where a model has none.
    expand: int
    check: int
    outside: int
    step: int
    rank: int
    storing: int  # 0 beyond the bound: successors are checked, not stored
    deadlock: int  # 1: a state without successor is a finding
    listing: int  # 0: findings in stored states and steps are counted only
    invariant_count: int
    batch: int  # how many states are expanded before their successors are looked up
    chunk_rows: int
    chunks: Chunk  # the first chunk of the frontier
    chunk_count: int
    table: int  # the table that takes what this level finds
    slots: int
    limit: int  # how many fingerprints it may hold
    known: int  # with ranks: the table of all earlier levels
    known_slots: int
    targets: int  # the table of what `seek` looks for
    target_slots: int
    target_steps: int  # 1: it looks for steps to a target, 0: for the target
    step_outside: int
    reachable: int
    wanted: int  # the mask of the reachable properties that no level has ended with
    dictionary: int  # the words that have codes
    plain_words: int  # how many words of a row are not coded
    implied_words: int  # 1: the first of them is the fingerprint, and not stored
    usleep: int  # with schedule fuzzing: the address of usleep, so that other threads run meanwhile
    settle: int
    # Kernels that evaluate only what a step changes, or 0.
    check_changed: int
    reachable_changed: int
    step_changed: int
    step_kept: int
    list_repeated: int  # 1: violations of invariants are listed even where `listing` is 0, since Python counts them
    alone: int  # 1: there is one thread
    shards: int  # how many own fingerprints
    uncoded: int  # a dictionary of the words that had no code
    # The behaviour graph.
    atom_kernels: int  # the address of the addresses of kernels that answer which atoms hold in a state
    atom_words: int  # how many they are
    step_atom_kernels: int  # the same for the atoms of a step
    step_atom_words: int
    apart: int  # a word per action: 1 if it is not part of the next-state relation; or 0 if all of them are
    count: int = at(64)  # fingerprints in the table, and as many more as threads may be adding
    next_chunk: int = at(96)


class Buffer(Struct):
    """Memory of one thread; size and use in words."""

    address: int
    words: int
    used: int


class Thread(Struct, words=64):
    """What one thread of a search reads and writes."""

    out: Buffer = embedded()  # successors, as `expand` writes them
    block: Buffer = embedded()  # packed rows of the next frontier
    findings: Buffer = embedded()
    made: Buffer = embedded()  # chunks of the next frontier
    rows: Buffer = embedded()  # unpacked rows whose successors are pending
    # Where it stands.
    sources: PendingSource  # the first expanded state whose successors are pending
    source_count: int
    pending: int  # successors in `out`
    packed: int  # the address of the packed record to expand next
    rows_left: int  # in the chunk
    ordinal: int
    begin_chunk: int  # 1: the next row begins a chunk
    source: StateRecord  # the unpacked record whose successors are being taken; 0 for initial states
    is_kept: int  # 1: no action property fails in a step from the source that changes nothing that it reads
    batch: int  # `Shared.batch`, or less with schedule fuzzing
    fuzzing: int  # the state of the random numbers of schedule fuzzing; 0 for none
    # What it counted.
    generated: int  # the address of one counter per action
    failed: int  # the address of one counter per invariant, then one per action property
    expanded: int
    stored: int  # over the whole run
    stored_in_level: int
    cut: int  # generated states outside of the constraints: checked, not expanded
    reached: int  # the mask of the reachable properties that were reached
    beyond: int  # 1: the bound cut off a state
    candidates: Buffer = embedded()  # the pending successors that may be new
    # Packing.
    empty_record: StateRecord  # a record whose row has no words
    before: StateRecord  # the unpacked record before `packed` in its chunk, or `empty_record`
    packed_end: int  # the address where `packed` ends
    block_end: int  # the address where the next record is packed to
    last_codes: int  # the address of the codes of the row packed last
    last_count: int  # how many they are; 0 at the beginning of a chunk
    codes: int  # the address where the codes of the next row are gathered
    escaped: int  # 1: some code of the row, or of its source, is ESCAPE
    # Shards.
    outboxes: Buffer  # one per shard: what is sent to it
    accepted: BitCursor  # one per shard: what it accepted of the frontier; 0 if every row is to be expanded
    accepted_shards: int  # how many they are; `Shared.shards` may be another number
    refused: int  # rows of the frontier that were not accepted
    # The behaviour graph, see behaviour_log.py.
    steps: Buffer = embedded()  # the steps of the expanded states
    states: Buffer = embedded()  # the new states of the level that is being made


class GraphPart(Struct):
    """A part of the behaviour graph that is written from what the threads noted, see number_steps.py."""

    table: int  # the fingerprint table
    slots: int
    numbers: int  # the address of one 32-bit number per slot: that of its state
    steps: int  # the address of what a thread noted
    steps_end: int
    places: int  # the address of one word per state of the level: where its steps were noted, or 0
    counts: int  # the address of one 32-bit number per state of the level: how many steps were noted
    first: int  # the number of the first state of the level
    start: int  # the first state of this part, from 0 in its level
    end: int
    step_atom_words: int
    # What is written: 32 bits a target and 16 a label, `step_atom_words` words of atoms a step.
    targets: int
    labels: int
    atoms: int
    written: int  # how many steps
    entries: int  # the address of memory for the steps of one state


class NewStates(Struct):
    """Where the new states of a level are sorted by their fingerprints, see sort_states.py."""

    noted: int  # the address of what a thread noted
    noted_end: int
    atom_words: int
    bit_bytes: int  # 1, 2 or 4: so many bytes of the masks of a state are kept; or all their words
    ranges: int  # the number of ranges that fingerprints are divided into
    places: int  # 32 bits per range: how many of the states of this task, then where the next one belongs
    tasks: int  # how many such places follow each other
    first: int  # the first range to be sorted
    end: int
    fingerprints: int  # the address of the fingerprints in order
    bits: int  # the address of their masks


class TableMove(Struct, words=96):
    """A table that grows. Threads write the last two."""

    table: int
    slots: int  # after growing
    high: int  # the slots from here on have been moved
    aside: int  # the address of the fingerprints that are put aside
    slots_before: int
    cursor: int = at(32)
    aside_count: int = at(64)


# What a loop answers.
DONE: Final = 0
PAUSED: Final = 1
NEED_TABLE: Final = 2
NEED_OUT: Final = 3
NEED_BLOCK: Final = 4
NEED_OUTBOXES: Final = 5
NEED_FINDINGS: Final = 6
NEED_MADE: Final = 7
NEED_ROWS: Final = 8
NEED_CANDIDATES: Final = 9
NEED_STEPS: Final = 10
NEED_STATES: Final = 11

# What `expand` answers besides a number of successors; errors are <= ERROR_MAX.
OUT_TOO_SMALL: Final = -1
ERROR_MAX: Final = -16
