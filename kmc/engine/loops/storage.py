"""Native loops between memory and files: fingerprints out of a level, into a table, and checksums of words.

Each takes the address of its control words. A checksum is a sum over words mixed with their places: parts of a file
can be summed by different threads, one wrong word is always noticed, and any other damage but for odds of 2^-64.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.packed_rows import body_of, is_dead, packed_end
from kmc.engine.loops.table_64 import insert
from kmc.engine.loops.table_128 import insert_wide
from kmc.engine.native.intrinsics import add, inlined, load, load_anywhere, store

CONTROL_WORDS = 8
FIRST = 0  # address: of words, or of chunks
COUNT = 1  # how many
PLACE = 2  # of the first in its file; of `collect`: the first ordinal
TARGET = 3  # address: where `collect` writes, or the table
SLOTS = 4
RESULT = 5
SHARED = 6  # address: the control words of the search, for `collect`

_SPREAD = -7046029254386353131
_STIR = -4658895280553007687
_LOW_HALF = (1 << 32) - 1


@inlined
def mixed(word: int, place: int) -> int:
    """A one-to-one map of words, another for each place."""
    stirred = (word ^ (place + 1) * _SPREAD) * _STIR
    return stirred ^ (stirred >> 32 & _LOW_HALF)


def total(control: int, _: int) -> int:
    """Add the checksum of COUNT words that stand from PLACE on in their file to RESULT."""
    words = load(control, FIRST)
    place = load(control, PLACE)
    found = 0
    for index in range(load(control, COUNT)):
        found += mixed(load(words, index), place + index)
    store(control, RESULT, load(control, RESULT) + found)
    return 0


def collect(control: int, _: int) -> int:
    """Write the fingerprints of COUNT chunks to TARGET by ordinal, 0 for a row that is dead."""
    chunk = load(control, FIRST)
    first = load(control, PLACE)
    target = load(control, TARGET)
    for _number in range(load(control, COUNT)):
        record = load(chunk, 0)
        ordinal = load(chunk, 2) - first
        for _row in range(load(chunk, 1)):
            store(target, ordinal, load_anywhere(body_of(record)) if is_dead(record) == 0 else 0)
            record = packed_end(load(control, SHARED), record)
            ordinal += 1
        chunk += f.CHUNK_WORDS * f.WORD_BYTES
    return 0


def collect_wide(control: int, _: int) -> int:
    """`collect` for fingerprints of two words."""
    chunk = load(control, FIRST)
    first = load(control, PLACE)
    target = load(control, TARGET)
    for _number in range(load(control, COUNT)):
        record = load(chunk, 0)
        ordinal = load(chunk, 2) - first
        for _row in range(load(chunk, 1)):
            alive = is_dead(record) == 0
            store(target, 2 * ordinal, load_anywhere(body_of(record)) if alive else 0)
            store(target, 2 * ordinal + 1, load_anywhere(body_of(record) + f.WORD_BYTES) if alive else 0)
            record = packed_end(load(control, SHARED), record)
            ordinal += 1
        chunk += f.CHUNK_WORDS * f.WORD_BYTES
    return 0


def admit(control: int, _: int) -> int:
    """Insert COUNT fingerprints into the table at TARGET, but for zeros; add how many were new to RESULT."""
    words = load(control, FIRST)
    new = 0
    for index in range(load(control, COUNT)):
        fingerprint = load(words, index)
        if fingerprint != 0:
            new += insert(load(control, TARGET), load(control, SLOTS), fingerprint, 0)
    add(control, RESULT, new)
    return 0


def admit_wide(control: int, _: int) -> int:
    """`admit` for fingerprints of two words."""
    words = load(control, FIRST)
    new = 0
    for index in range(0, 2 * load(control, COUNT), 2):
        first = load(words, index)
        if first != 0:
            new += insert_wide(load(control, TARGET), load(control, SLOTS), first, load(words, index + 1))
    add(control, RESULT, new)
    return 0
