"""The numbers that Python and the native loops share: control words, statuses, record and entry layouts.

Invariant: the words of `shared` that threads write (`COUNT`, `NEXT_CHUNK`) lie 128 bytes or more from every other, so
that a thread that only reads does not wait for one that writes. Times of native loops depend on it, results do not.
"""

from __future__ import annotations

from typing import Final

from kmc.engine.native import memory

WORD_BYTES: Final = memory.WORD_BYTES
UNIT_BYTES: Final = 2  # a unit is 16 bits
SLACK_WORDS: Final = memory.SLACK_WORDS
LINE_WORDS: Final = 8  # of the cache

# Control words of a search, read by all threads.
PAUSE: Final = 0  # not 0: every loop returns as soon as its batch is done
EXPAND: Final = 1  # addresses of kernels, 0 where a model has none
CHECK: Final = 2
OUTSIDE: Final = 3
STEP: Final = 4
RANK: Final = 5
STORING: Final = 6  # 0 behind the bound: successors are checked, not stored
DEADLOCK: Final = 7  # 1: a state without successor is a finding
LOGGING: Final = 8  # 0: findings in stored states and steps are counted only
INVARIANTS: Final = 9
BATCH: Final = 10
CHUNK_ROWS: Final = 11
CHUNKS: Final = 12
CHUNK_COUNT: Final = 13
TABLE: Final = 14  # the table that takes what this level finds
SLOTS: Final = 15
LIMIT: Final = 16  # how many fingerprints it may hold
KNOWN: Final = 17  # with ranks: the table of all earlier levels
KNOWN_SLOTS: Final = 18
TARGETS: Final = 19  # the table of what `seek` looks for
TARGET_SLOTS: Final = 20
TARGET_STEPS: Final = 21  # 1: it looks for steps to a target, 0: for the target
STEP_OUTSIDE: Final = 22
REACH: Final = 23
ASKED: Final = 24  # the mask of the goals that are asked for: those that no level has ended with
LEXICON: Final = 25  # the words that have codes
PLAIN: Final = 26  # words of a row that are not coded
IMPLIED: Final = 27  # 1: the first of them is the fingerprint, and not stored
YIELD: Final = 28  # with delays: the address of usleep, so that other threads run meanwhile
SETTLE: Final = 29  # the address of `settle`, 0 without symmetry
TOUCHED: Final = 30  # the address of `touched`, 0 for none: properties are asked of every new state
REPEATED: Final = 31  # 1: of invariants all are told, since the ledger counts those
ALONE: Final = 32  # 1: there is one thread
COUNT: Final = 64
NEXT_CHUNK: Final = 96
SHARED_WORDS: Final = 128

# Control words of a thread. First the memory it owns: address, size and use, in words.
OUT: Final = 0
OUT_WORDS: Final = 1
OUT_USED: Final = 2
BLOCK: Final = 3
BLOCK_WORDS: Final = 4
BLOCK_USED: Final = 5
LOG: Final = 9
LOG_WORDS: Final = 10
LOG_USED: Final = 11
MADE: Final = 12  # the chunks of the next frontier
MADE_WORDS: Final = 13
MADE_USED: Final = 14
ROWS: Final = 15  # unpacked rows whose successors are pending
ROWS_WORDS: Final = 16
ROWS_USED: Final = 17
# Where it stands.
SOURCES: Final = 18  # the expanded states whose successors are pending
SOURCE_COUNT: Final = 19
PENDING: Final = 20  # successors in the out buffer
RECORD: Final = 21  # address of the packed record to expand next
ROWS_LEFT: Final = 22  # in the chunk
ORDINAL: Final = 23
FRESH_CHUNK: Final = 24  # 1: the next row begins a chunk
SOURCE: Final = 25  # the unpacked record whose successors are being taken; 0 for initial states
BATCH_NOW: Final = 28  # states of the batch at hand: BATCH, or less with delays
CHANCE: Final = 29  # what chance says next of delays; 0 for none
# What it counted.
GENERATED: Final = 32  # address of one counter per action
FAILED: Final = 34  # one counter per invariant, then one per transition invariant
EXPANDED: Final = 35
STORED: Final = 36  # over the whole run
STORED_IN_LEVEL: Final = 37
CUT: Final = 38  # generated states that lie outside of the constraints: checked, not expanded
GOALS: Final = 39  # bit mask of reached goals
BEYOND: Final = 40  # 1: the bound cut off a state
FRESH: Final = 41  # the new states among those that are pending: address, size and use of their list, in words
FRESH_WORDS: Final = 42
FRESH_USED: Final = 43
# Packing.
NO_RECORD: Final = 44  # a record of no words
BEFORE: Final = 45  # the unpacked record before RECORD in its chunk, or NO_RECORD
RECORD_END: Final = 46  # address where RECORD ends
BLOCK_END: Final = 47  # address where the next record is packed to
LAST_CODES: Final = 48  # address of the codes of the row packed last
LAST_COUNT: Final = 49  # how many they are; 0 at the beginning of a chunk
CODES: Final = 50  # address where the codes of the next one are gathered
ESCAPED: Final = 51  # 1: some of its source or its own are ESCAPE
MINE_WORDS: Final = 64

# Control words of a table that grows: threads write the last two.
MOVE_TABLE: Final = 0
MOVE_SLOTS: Final = 1  # after growing
MOVE_HIGH: Final = 2
MOVE_ASIDE: Final = 3
MOVE_FROM: Final = 4  # slots before growing
MOVE_CURSOR: Final = 32
MOVE_ASIDE_COUNT: Final = 64
MOVE_WORDS: Final = 96

# What a loop answers.
DONE: Final = 0
PAUSED: Final = 1
NEED_TABLE: Final = 2
NEED_OUT: Final = 3
NEED_BLOCK: Final = 4
NEED_LOG: Final = 6
NEED_MADE: Final = 7
NEED_ROWS: Final = 8
NEED_FRESH: Final = 9

# What `expand` answers besides a number of successors; errors are <= ERROR_MAX.
OUT_TOO_SMALL: Final = -1
ERROR_MAX: Final = -16

# A record, as `expand` writes it: [header][fingerprint][row ...].
RECORD_HEAD_WORDS: Final = 2
LENGTH_MASK: Final = (1 << 32) - 1
ACTION_SHIFT: Final = 32
ACTION_MASK: Final = (1 << 16) - 1
TIMES_SHIFT: Final = 48
TIMES_MASK: Final = (1 << 15) - 1

# A chunk of a frontier: [address of its first record][rows][ordinal of the first row]. See packed_rows.py for the rows.
CHUNK_WORDS: Final = 3

# What `touched` answers of a step: a bit for the invariants, then one for each goal.
TOUCHED_INVARIANTS: Final = 1
TOUCHED_GOALS_SHIFT: Final = 1
TOUCHED_ALL: Final = -1

# A source: [unpacked record][number of successors].
SOURCE_WORDS: Final = 2

# A new state among those that are pending: [record][number of its source].
NOVELTY_WORDS: Final = 2

# An entry of the log of findings.
ENTRY_KIND: Final = 0
ENTRY_VALUE: Final = 1
ENTRY_FINGERPRINT: Final = 2
ENTRY_RANK: Final = 3
ENTRY_SOURCE: Final = 4
ENTRY_WORDS: Final = 8

# Kinds of entries.
EXPAND_ERROR: Final = 0
CHECK_ERROR: Final = 1
NO_SUCCESSOR: Final = 2
INVARIANT: Final = 3
UNSTORED_INVARIANT: Final = 4
STEP_INVARIANT: Final = 5
FOUND: Final = 6  # a row that `seek` looked for
