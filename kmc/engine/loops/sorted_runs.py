"""Sorted runs of fingerprints: which candidates are new, and several runs merged into one.

A run is its fingerprints in ascending order, as unsigned numbers, one or two words each, behind them zeros up to a
cache line and beyond, and an index: for each of `buckets` equal parts of all fingerprints, the place of the first
fingerprint that lies in it or behind it. Two runs of one shard have no fingerprint in common.

Candidates are entries of an outbox: a fingerprint and, with ranks, the rank. Their index identifies them. Of entries
with one fingerprint, the one of the least rank wins, and among these the one with the least index, so the choice
depends only on the entries and their order.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.loops.storage import mixed
from kmc.engine.native.intrinsics import equal_in_line, inlined, is_less, load, prefetch, slot_of, store
from kmc.engine.native.specialization import RANKED, WIDE
from kmc.engine.native.structs import Struct

DIGIT_BITS = 11
"""The most bits of a digit by which keys are sorted: the places of all its values fit a cache of the first level."""

DIGIT_COUNTS = 1 << DIGIT_BITS

SPREAD_BITS = 2
"""Keys are sorted by so many bits more than there are bits in their number: most differ in these."""


AHEAD = 16
"""Entries are prefetched so many keys before they are read: they lie in the order of the tasks that sent them."""


class CandidateSet(Struct):
    """The candidates of one shard in one level, and those of them that remain."""

    entries: int  # the address of all entries, by index
    keys: int  # the address of one sortable word per entry
    spare_keys: int  # the address of as many words
    digit_counts: int  # the address of `DIGIT_COUNTS` words
    key_count: int
    index_mask: int  # the bits of a key that hold the index; the others are those of the fingerprint
    first: int  # of `make_keys`: the index of the first entry
    count: int  # of `make_keys`: how many entries
    fingerprints: int  # the address of the distinct fingerprints, in order
    chosen: int  # the address of the index of each
    fingerprint_count: int
    # The run in which they are looked up.
    run: int
    run_count: int
    run_index: int
    buckets: int
    # The accepted entries.
    bits: int  # the address of one bit per index
    digest: int  # a sum over the accepted fingerprints, which does not depend on their order


class RunCursor(Struct):
    """A run that is being merged."""

    run: int
    position: int  # of the next fingerprint in the run
    count: int


class RunMerge(Struct):
    """Two runs that are being merged into one, piece by piece."""

    cursors: RunCursor  # the first of two
    out: int  # the address of the piece
    room: int  # how many fingerprints it takes
    index: int  # the address of the index of the merged run
    buckets: int
    next_bucket: int
    position: int  # of the next fingerprint in the merged run


@inlined
def is_before(first: int, second: int, other: int) -> int:
    """1 if a fingerprint is less than the one at the address `other`, else 0; of one word, `second` means nothing."""
    if WIDE != 0 and first == load(other, 0):
        return is_less(second, load(other, 1))
    return is_less(first, load(other, 0))


@inlined
def is_equal(first: int, second: int, other: int) -> int:
    """1 if a fingerprint is the one at the address `other`, else 0."""
    if WIDE != 0 and second != load(other, 1):
        return 0
    return 1 if first == load(other, 0) else 0


@inlined
def entry_at(task: CandidateSet, index: int) -> int:
    """The address of a candidate."""
    return task.entries + index * ((1 + WIDE + RANKED) * f.WORD_BYTES)


@inlined
def fingerprint_at(fingerprints: int, index: int) -> int:
    """The address of a fingerprint of many."""
    return fingerprints + index * ((1 + WIDE) * f.WORD_BYTES)


@inlined
def copy_fingerprint(target: int, source: int) -> None:
    """Copy a fingerprint from one address to another."""
    store(target, 0, load(source, 0))
    if WIDE != 0:
        store(target, 1, load(source, 1))


def make_keys(task: CandidateSet, _: int) -> int:
    """Append the keys of `count` entries from index `first` on."""
    mask = task.index_mask
    key = task.keys + task.key_count * f.WORD_BYTES
    for index in range(task.first, task.first + task.count):
        store(key, 0, (load(entry_at(task, index), 0) & ~mask) | index)
        key += f.WORD_BYTES
    task.key_count += task.count
    return 0


def sort_keys(task: CandidateSet, _: int) -> int:
    """Sort the keys by their highest bits, by so many that few keys have the same ones; those keep their order.

    A radix sort from the least digit up, since fingerprints are spread evenly. Where a processor is slow at storing
    selected lanes, as AMD's Zen 4 is, numpy's sort takes five times as long.
    """
    bits = 1 + SPREAD_BITS
    while task.key_count >> bits - SPREAD_BITS != 0:
        bits += 1
    digits = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    width = (bits + digits - 1) // digits
    for digit in range(digits):
        place_by_digit(task, 64 - (digits - digit) * width, (1 << width) - 1)
    return 0


@inlined
def place_by_digit(task: CandidateSet, shift: int, mask: int) -> None:
    """Write the keys to the spare ones, ordered by a digit, and swap both."""
    keys, target, starts = task.keys, task.spare_keys, task.digit_counts
    for digit in range(mask + 1):
        store(starts, digit, 0)
    for index in range(task.key_count):
        digit = load(keys, index) >> shift & mask
        store(starts, digit, load(starts, digit) + 1)
    start = 0
    for digit in range(mask + 1):
        count = load(starts, digit)
        store(starts, digit, start)
        start += count
    for index in range(task.key_count):
        key = load(keys, index)
        digit = key >> shift & mask
        start = load(starts, digit)
        store(starts, digit, start + 1)
        store(target, start, key)
    task.keys, task.spare_keys = target, keys


def distinct(task: CandidateSet, _: int) -> int:
    """Find the distinct fingerprints of the sorted keys, in order, and the entry chosen for each.

    Fingerprints that differ only in bits by which keys were not sorted may be out of order: each moves down to its
    place.
    """
    kept, last = 0, task.key_count - 1
    for key_index in range(task.key_count):
        prefetch(entry_at(task, load(task.keys, min(key_index + AHEAD, last)) & task.index_mask), 0)
        index = load(task.keys, key_index) & task.index_mask
        entry = entry_at(task, index)
        first = load(entry, 0)
        second = load(entry, 1) if WIDE != 0 else 0
        position = kept
        while position > 0 and is_before(first, second, fingerprint_at(task.fingerprints, position - 1)) != 0:
            position -= 1
        if position > 0 and is_equal(first, second, fingerprint_at(task.fingerprints, position - 1)) != 0:
            if RANKED != 0:
                chosen = entry_at(task, load(task.chosen, position - 1))
                if is_less(load(entry, 1 + WIDE), load(chosen, 1 + WIDE)) != 0:
                    store(task.chosen, position - 1, index)
        else:
            moved = kept
            while moved > position:
                copy_fingerprint(fingerprint_at(task.fingerprints, moved), fingerprint_at(task.fingerprints, moved - 1))
                store(task.chosen, moved, load(task.chosen, moved - 1))
                moved -= 1
            copy_fingerprint(fingerprint_at(task.fingerprints, position), entry)
            store(task.chosen, position, index)
            kept += 1
    task.fingerprint_count = kept
    return 0


@inlined
def is_in_run(task: CandidateSet, fingerprint: int) -> int:
    """1 if the fingerprint at an address is in the run, else 0."""
    first = load(fingerprint, 0)
    bucket = slot_of(first, task.buckets)
    position, end = load(task.run_index, bucket), load(task.run_index, bucket + 1)
    if is_less(task.run_count, end) != 0 or is_less(end, position) != 0:
        # A damaged index must not lead out of the run: the search ends with that error, see `check_run`.
        return 0
    if WIDE != 0:
        second = load(fingerprint, 1)
        while position < end:
            if is_equal(first, second, fingerprint_at(task.run, position)) != 0:
                return 1
            position += 1
        return 0
    # Whole lines: beyond the bucket no fingerprint is equal, and behind the run there are zeros.
    line = position - position % f.LINE_WORDS
    while line < end:
        if equal_in_line(task.run, line, first) != 0:
            return 1
        line += f.LINE_WORDS
    return 0


def look_up(task: CandidateSet, _: int) -> int:
    """Leave of the distinct fingerprints those that the run does not hold."""
    kept = 0
    for position in range(task.fingerprint_count):
        fingerprint = fingerprint_at(task.fingerprints, position)
        known = is_in_run(task, fingerprint)
        copy_fingerprint(fingerprint_at(task.fingerprints, kept), fingerprint)
        store(task.chosen, kept, load(task.chosen, position))
        # Written over what was read: `kept` is at most `position`, so nothing is lost that is still to be looked up.
        kept += 1 - known
    task.fingerprint_count = kept
    return 0


def accept(task: CandidateSet, _: int) -> int:
    """Set the bit of each entry chosen for a fingerprint that is left, and add these fingerprints to the digest."""
    digest = 0
    for position in range(task.fingerprint_count):
        index = load(task.chosen, position)
        # Not atomic: one task at a time accepts for a shard, and the bits are its own.
        store(task.bits, index >> 6, load(task.bits, index >> 6) | 1 << (index & 63))
        fingerprint = fingerprint_at(task.fingerprints, position)
        digest += mixed(load(fingerprint, 0), load(fingerprint, 1) if WIDE != 0 else 0)
    task.digest += digest
    return 0


@inlined
def merge_some(left: RunCursor, right: RunCursor, out: int, count: int) -> None:
    """Write the next `count` fingerprints of two runs, of which neither ends before.

    The result of each comparison is unpredictable, so nothing here is a branch.
    """
    first, second = fingerprint_at(left.run, left.position), fingerprint_at(right.run, right.position)
    start, width = first, (1 + WIDE) * f.WORD_BYTES
    for index in range(count):
        one = load(first, 0)
        takes_left = is_before(one, load(first, 1) if WIDE != 0 else 0, second)
        target = fingerprint_at(out, index)
        store(target, 0, one if takes_left != 0 else load(second, 0))
        if WIDE != 0:
            store(target, 1, load(first, 1) if takes_left != 0 else load(second, 1))
        first += takes_left * width
        second += (1 - takes_left) * width
    taken = (first - start) // width
    left.position += taken
    right.position += count - taken


@inlined
def copy_some(cursor: RunCursor, out: int, count: int) -> None:
    """Write the next `count` fingerprints of one run."""
    source = fingerprint_at(cursor.run, cursor.position)
    for index in range(count):
        copy_fingerprint(fingerprint_at(out, index), fingerprint_at(source, index))
    cursor.position += count


def merge(task: RunMerge, _: int) -> int:
    """Write the next `room` fingerprints of the merged run; return their number, which is less than `room` only at its
    end.
    """
    left, right = task.cursors, RunCursor(task.cursors + RunCursor.BYTES)
    written = 0
    while written < task.room:
        ahead, other = left.count - left.position, right.count - right.position
        room, out = task.room - written, fingerprint_at(task.out, written)
        if ahead == 0 and other == 0:
            return written
        if other == 0:
            count = min(room, ahead)
            copy_some(left, out, count)
        elif ahead == 0:
            count = min(room, other)
            copy_some(right, out, count)
        else:
            count = min(room, min(ahead, other))
            merge_some(left, right, out, count)
        written += count
    return written


def extend_index(task: RunMerge, _: int) -> int:
    """Extend the index by the `room` fingerprints of a piece; with none, finish it."""
    following = task.next_bucket
    for index in range(task.room):
        bucket = slot_of(load(fingerprint_at(task.out, index), 0), task.buckets)
        while following <= bucket:
            store(task.index, following, task.position + index)
            following += 1
    task.position += task.room
    if task.room == 0:
        while following <= task.buckets:
            store(task.index, following, task.position)
            following += 1
    task.next_bucket = following
    return 0
