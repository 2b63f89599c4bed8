"""The loops that sort a search's records of the new states of a level by their fingerprints.

Fingerprints are evenly distributed, so ranges of equal size get a few states each. States are counted by range, each is
put where its range begins, and those of a range are sorted by insertion.

Invariant: the order depends on the states alone. A task counts and places some of the states. When all are placed, it
sorts some of the ranges. A task has counts of its own for every range, so tasks share no word that one of them writes:
the counts become places that do not overlap.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import NewStates
from kmc.engine.native.intrinsics import (
    inlined,
    is_less,
    load,
    load_byte,
    load_code,
    load_half,
    slot_of,
    store,
    store_byte,
    store_code,
    store_half,
)
from kmc.engine.native.specialization import WIDE
from kmc.engine.native.words import Address

STATES_OF_RANGE = 4
"""The average number of states of a range."""


@inlined
def row_bytes(new: NewStates) -> int:
    """The number of bytes that were recorded for a state."""
    return (1 + WIDE + new.atom_words) * f.WORD_BYTES


def count_states(new: NewStates) -> int:
    """Count the states of each range; return their total."""
    row, step, count = new.noted, row_bytes(new), 0
    ranges, counters = new.ranges, new.counters
    while row != new.noted_end:
        index = slot_of(load(row, 0), ranges)
        store_half(counters, index, load_half(counters, index) + 1)
        count += 1
        row = Address(row + step)
    return count


def add_counts(new: NewStates) -> int:
    """Turn the counts of all tasks into offsets, range by range; return the number of states."""
    counters, ranges = new.counters, new.ranges
    begin = 0
    for index in range(ranges):
        for counter in range(index, new.tasks * ranges, ranges):
            count = load_half(counters, counter)
            store_half(counters, counter, begin)
            begin += count
    return begin


def place_states(new: NewStates) -> int:
    """Put each state where the next one of its range belongs; 0."""
    row, step = new.noted, row_bytes(new)
    ranges, counters = new.ranges, new.counters
    fingerprints, bits, bit_bytes = new.fingerprints, new.bits, new.bit_bytes
    while row != new.noted_end:
        index = slot_of(load(row, 0), ranges)
        row_index = load_half(counters, index)
        store_half(counters, index, row_index + 1)
        copy_words(fingerprints, row_index, row, 0, 1 + WIDE)
        masks = row + (1 + WIDE) * f.WORD_BYTES
        if bit_bytes > 4:
            copy_words(bits, row_index, masks, 0, new.atom_words)
        elif bit_bytes != 0:
            store_narrow(bits, row_index, bit_bytes, load(masks, 0))
        row = Address(row + step)
    return 0


def sort_states(new: NewStates) -> int:
    """Sort the states of each range from `first` to `end`; 0. `places` are those of the last task."""
    # When all states are placed, the next place of the last task in a range is where that range ends.
    begin = load_half(new.counters, new.first - 1) if new.first > 0 else 0
    for index in range(new.first, new.end):
        end = load_half(new.counters, index)
        for row in range(begin + 1, end):
            if is_before(new.fingerprints, row, row - 1) != 0:
                sink(new, begin, row)
        begin = end
    return 0


@inlined
def sink(new: NewStates, begin: int, row: int) -> None:
    """Exchange a state with those before it, from `begin` on, that belong behind it."""
    while row > begin and is_before(new.fingerprints, row, row - 1) != 0:
        exchange_words(new.fingerprints, row, 1 + WIDE)
        if new.bit_bytes > 4:
            exchange_words(new.bits, row, new.atom_words)
        elif new.bit_bytes != 0:
            bits = load_narrow(new.bits, row, new.bit_bytes)
            store_narrow(new.bits, row, new.bit_bytes, load_narrow(new.bits, row - 1, new.bit_bytes))
            store_narrow(new.bits, row - 1, new.bit_bytes, bits)
        row -= 1


@inlined
def is_before(fingerprints: int, left: int, right: int) -> int:
    """1 if the fingerprint at one place is less than that at another, else 0."""
    first, second = load(fingerprints, left * (1 + WIDE)), load(fingerprints, right * (1 + WIDE))
    if WIDE != 0 and first == second:
        return is_less(load(fingerprints, left * 2 + 1), load(fingerprints, right * 2 + 1))
    return is_less(first, second)


@inlined
def copy_words(target: int, to: int, source: int, row: int, words: int) -> None:
    """Copy a row of words."""
    for word in range(words):
        store(target, to * words + word, load(source, row * words + word))


@inlined
def exchange_words(rows: int, row: int, words: int) -> None:
    """Exchange a row of words with the one before it."""
    for word in range(words):
        here, before = row * words + word, (row - 1) * words + word
        kept = load(rows, here)
        store(rows, here, load(rows, before))
        store(rows, before, kept)


@inlined
def load_narrow(bits: int, index: int, width: int) -> int:
    """The number of `width` bytes at a place."""
    if width == 1:
        return load_byte(bits, index)
    return load_code(bits, index) if width == 2 else load_half(bits, index)


@inlined
def store_narrow(bits: int, index: int, width: int, value: int) -> None:
    """Write a number of `width` bytes to a place."""
    if width == 1:
        store_byte(bits, index, value)
    elif width == 2:
        store_code(bits, index, value)
    else:
        store_half(bits, index, value)
