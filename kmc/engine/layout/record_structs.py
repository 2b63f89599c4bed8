"""The records in the buffers of a search: states, chunks of a frontier, pending sources, candidates, findings."""

from __future__ import annotations

from typing import Final

from kmc.engine.native.structs import Struct
from kmc.engine.native.words import Address, Fingerprint

LENGTH_MASK: Final = (1 << 32) - 1
ACTION_SHIFT: Final = 32
ACTION_MASK: Final = (1 << 16) - 1
TIMES_SHIFT: Final = 48
TIMES_MASK: Final = (1 << 15) - 1


class StateRecord(Struct):
    """A state as `expand` writes it, or unpacked; its row begins with `first_word` and has any length."""

    header: int  # the length of the row; of a successor also its action, and how many times more TLC counts its step
    fingerprint: Fingerprint
    first_word: int  # with fingerprints of 128 bits, their second word


RECORD_HEAD_WORDS: Final = StateRecord.first_word


class Chunk(Struct):
    """Some rows of a frontier, packed one behind another; see packed_rows.py for their format."""

    first: Address  # of the first row
    rows: int  # how many
    ordinal: int  # of the first row in its level


class PendingSource(Struct):
    """An expanded state whose successors are pending."""

    record: StateRecord  # unpacked; 0 for the source of the initial states
    successors: int  # how many


class Candidate(Struct):
    """A successor that may be new."""

    record: StateRecord
    source: int  # the number of its source among the pending ones
    note: Address  # if slots are recorded: of the label of its step, see behaviour_log.py; 0 without a step


class RankedCandidate(Struct):
    """A successor, in a search with ranks, that may be new in its level, or have the least rank of its view."""

    record: StateRecord
    source: int  # the number of its source among the pending ones
    rank: int
    order: int  # what `lower_rank` says of its rank


class UnpackedRow(Struct):
    """A row of a finished level that waits for its slots."""

    record: StateRecord  # unpacked
    packed: Address  # where it lies in the level


class BitCursor(Struct):
    """A place in the bits by which one shard says, row by row, whether it accepted the entry sent to it."""

    bits: Address  # of the first bit
    index: int  # of the bit of the next row


class FindingEntry(Struct, words=8):
    """An entry of a thread's buffer of findings."""

    kind: int
    value: int
    fingerprint: Fingerprint
    rank: int
    source: Fingerprint


# Kinds of entries.
EXPAND_ERROR: Final = 0
CHECK_ERROR: Final = 1
NO_SUCCESSOR: Final = 2
INVARIANT: Final = 3
UNSTORED_INVARIANT: Final = 4
ACTION_PROPERTY: Final = 5
TARGET: Final = 6  # a row that `seek` looked for
# Of a sharded search with ranks, where only the owner of a view knows whether it is new in this level.
STORED_CHECK_ERROR: Final = 7
REACHED: Final = 8
