"""Native loops between memory and files: fingerprints out of a level, into a table, and checksums of words.

Each loop has a `StorageTask` as its argument. A checksum is a sum over words mixed with their indices: different
threads can sum parts of a file, one wrong word is always detected, and any other damage except with odds of 2^-64.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.packed_rows import body_of, is_dead, packed_end
from kmc.engine.layout.record_structs import Chunk
from kmc.engine.layout.word_dictionary import code_of
from kmc.engine.loops.fingerprint_table_64 import insert
from kmc.engine.loops.fingerprint_table_128 import insert_wide
from kmc.engine.native.intrinsics import add, inlined, load, load_anywhere, store
from kmc.engine.native.structs import Struct
from kmc.engine.native.words import Address, Fingerprint


class StorageTask(Struct):
    """The arguments and the result of a storage loop."""

    source: Address  # of words, or of chunks
    count: int  # how many
    first: int  # the index of the first word in its file; of `collect`: the first ordinal
    target: Address  # where `collect` writes, or of a table
    slots: int
    result: int
    shared: Shared  # for `collect`


class RangeRow(Struct):
    """A block of ranges in memory, and its range for one reader; see `kmc.shards.files.range_files`."""

    address: Address
    words: int
    offset: int  # the index of its first word in its file
    tag: int  # the part of its seals that names the file and the owner
    wanted: int  # the number of words of the range
    found: Address  # of the range; 0 if no words are wanted


_SPREAD = -7046029254386353131
_STIR = -4658895280553007687
_LOW_HALF = (1 << 32) - 1


@inlined
def mixed(word: int, index: int) -> int:
    """A one-to-one map of words, another for each index."""
    stirred = (word ^ (index + 1) * _SPREAD) * _STIR
    return stirred ^ (stirred >> 32 & _LOW_HALF)


def total(task: StorageTask, _: int) -> int:
    """Add the checksum of `count` words, whose first has the index `first` in its file, to `result`."""
    words = task.source
    first = task.first
    words_sum = 0
    for index in range(task.count):
        words_sum += mixed(load(words, index), first + index)
    task.result += words_sum
    return 0


@inlined
def seal_of(range_address: Address, words: int, index: int, tag: int, reader: int) -> int:
    """The seal of a range for a reader; `index` is that of its first word in its file."""
    words_sum = 0
    for number in range(words):
        words_sum += mixed(load(range_address, number), index + number)
    return mixed(words_sum, index) + (tag ^ (reader + 1) * _STIR)


def seal(task: StorageTask, _: int) -> int:
    """Compute the seal of the `count` words at `source`, from word `first` of a file on, for reader `target`.

    `slots` is the tag of their block.
    """
    task.result = seal_of(task.source, task.count, task.first, task.slots, task.target)
    return 0


def seal_ranges(task: StorageTask, _: int) -> int:
    """Write the seals of `count` ranges of the block at `source` into its rows at `target`, which have their starts.

    `first` is the index of the block in its file, `slots` its tag.
    """
    head = 2 * (task.count + 1)
    rows = task.target
    for reader in range(task.count):
        start = load(rows, 2 * reader)
        words = load(rows, 2 * reader + 2) - start
        address = Address(task.source + (start - head) * f.WORD_BYTES)
        store(rows, 2 * reader + 1, seal_of(address, words, task.first + start, task.slots, reader))
    return 0


def find_ranges(task: StorageTask, _: int) -> int:
    """Find the range for reader `first` in each of `count` blocks, whose rows are at `source`.

    `result` is the number of the first block, from 1 on, whose range is not as long as wanted or has another seal.
    """
    row = RangeRow(task.source)
    reader = task.first
    for number in range(task.count):
        row.found = Address(0)
        if row.wanted != 0:
            is_whole = 0
            if reader >= 0 and 2 * reader + 2 < row.words:
                start = load(row.address, 2 * reader)
                end = load(row.address, 2 * reader + 2)
                if start >= 0 and start <= row.words and end <= row.words and start + row.wanted == end:
                    found = Address(row.address + start * f.WORD_BYTES)
                    row.found = found
                    seal = seal_of(found, row.wanted, row.offset + start, row.tag, reader)
                    is_whole = seal == load(row.address, 2 * reader + 1)
            if is_whole == 0:
                task.result = number + 1
                return 0
        row = RangeRow(row + RangeRow.BYTES)
    return 0


def collect(task: StorageTask, _: int) -> int:
    """Write the fingerprints of `count` chunks to `target` by ordinal, 0 for a row that is dead."""
    chunk = Chunk(task.source)
    first = task.first
    target = task.target
    for _number in range(task.count):
        record = chunk.first
        ordinal = chunk.ordinal - first
        for _row in range(chunk.rows):
            store(target, ordinal, load_anywhere(body_of(record)) if is_dead(record) == 0 else 0)
            record = packed_end(task.shared, record)
            ordinal += 1
        chunk = Chunk(chunk + Chunk.BYTES)
    return 0


def collect_wide(task: StorageTask, _: int) -> int:
    """`collect` for fingerprints of two words."""
    chunk = Chunk(task.source)
    first = task.first
    target = task.target
    for _number in range(task.count):
        record = chunk.first
        ordinal = chunk.ordinal - first
        for _row in range(chunk.rows):
            alive = is_dead(record) == 0
            store(target, 2 * ordinal, load_anywhere(body_of(record)) if alive else 0)
            store(target, 2 * ordinal + 1, load_anywhere(body_of(record) + f.WORD_BYTES) if alive else 0)
            record = packed_end(task.shared, record)
            ordinal += 1
        chunk = Chunk(chunk + Chunk.BYTES)
    return 0


def admit(task: StorageTask, _: int) -> int:
    """Insert `count` fingerprints into the table at `target`, but for zeros; add the number of new ones to `result`."""
    words = task.source
    new = 0
    for index in range(task.count):
        fingerprint = Fingerprint(load(words, index))
        if fingerprint != 0:
            # Not alone: parts of one file are admitted by several threads.
            new += insert(task.target, task.slots, fingerprint, 0)
    add(task, StorageTask.result, new)
    return 0


def assign_codes(task: StorageTask, _: int) -> int:
    """Add `count` words to the dictionary at `target`."""
    for index in range(task.count):
        code_of(task.target, load(task.source, index))
    return 0


def admit_wide(task: StorageTask, _: int) -> int:
    """`admit` for fingerprints of two words."""
    words = task.source
    new = 0
    for index in range(0, 2 * task.count, 2):
        first = Fingerprint(load(words, index))
        if first != 0:
            new += insert_wide(task.target, task.slots, first, load(words, index + 1))
    add(task, StorageTask.result, new)
    return 0
