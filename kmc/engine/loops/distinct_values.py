"""Native loops over values in a block of rows: number the distinct ones, and sort the entries of rows."""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.native.intrinsics import inlined, is_less, load, slot_of, store
from kmc.engine.native.structs import Struct

_SPREAD = -7046029254386353131
_STIR = -4658895280553007687


class DistinctValues(Struct):
    """The values of `width` words that were met, each under a number, and those to be numbered next.

    `table` has a slot for each value, with its number + 1, and 0 where it is free; `keys` are the values by number.
    """

    width: int
    table: int
    slots: int
    keys: int
    used: int  # how many values there are
    words: int  # the address of a block of words
    first: int  # the address of the places of values in it
    count: int
    numbers: int  # the address where the numbers of these values are written
    done: int  # how many have theirs


@inlined
def home_of(values: DistinctValues, value: int) -> int:
    """The slot where the search for a value begins."""
    mixed = load(value, 0) * _SPREAD
    for word in range(1, values.width):
        mixed = ((mixed ^ (mixed >> 32)) + load(value, word)) * _STIR
    return slot_of((mixed ^ (mixed >> 32)) * _SPREAD, values.slots)


@inlined
def are_equal(width: int, left: int, right: int) -> int:
    """1 if two values have the same words, else 0."""
    for word in range(width):
        if load(left, word) != load(right, word):
            return 0
    return 1


@inlined
def slot_with(values: DistinctValues, value: int) -> int:
    """The slot of a value, or the free one where it belongs."""
    size = values.width * f.WORD_BYTES
    slot = home_of(values, value)
    while True:
        ordinal = load(values.table, slot)
        if ordinal == 0 or are_equal(values.width, value, values.keys + (ordinal - 1) * size) != 0:
            return slot
        slot += 1
        if slot == values.slots:
            slot = 0


def number_values(values: DistinctValues, _: int) -> int:
    """Number the values from `done` on: DONE, or NEED_TABLE when half of the slots are used."""
    width = values.width
    for index in range(values.done, values.count):
        value = values.words + load(values.first, index) * f.WORD_BYTES
        slot = slot_with(values, value)
        ordinal = load(values.table, slot)
        if ordinal == 0:
            ordinal = values.used + 1
            if 2 * ordinal > values.slots:
                values.done = index
                return f.NEED_TABLE
            for word in range(width):
                store(values.keys, values.used * width + word, load(value, word))
            store(values.table, slot, ordinal)
            values.used = ordinal
        store(values.numbers, index, ordinal - 1)
    values.done = values.count
    return f.DONE


class RowEntries(Struct):
    """Rows whose entries are to be sorted: row k ends where `ends[k]` says, and the first one begins at word 0.

    `counts` is the word of a row with the size of its first network, `widths` the words of an entry of each network.
    """

    words: int
    ends: int
    rows: int
    counts: int
    networks: int
    widths: int


@inlined
def is_before(width: int, left: int, right: int) -> int:
    """1 if an entry is less than another, word by word, else 0."""
    for word in range(width):
        one, other = load(left, word), load(right, word)
        if one != other:
            return is_less(one, other)
    return 0


@inlined
def exchange(width: int, left: int, right: int) -> None:
    """Exchange two entries."""
    for word in range(width):
        one = load(left, word)
        store(left, word, load(right, word))
        store(right, word, one)


def sort_entries(entries: RowEntries, _: int) -> int:
    """Sort the entries of each network of all rows, which are few and mostly in order already."""
    row = entries.words
    for row_index in range(entries.rows):
        start = row + (entries.counts + entries.networks) * f.WORD_BYTES
        for network in range(entries.networks):
            width = load(entries.widths, network)
            size = width * f.WORD_BYTES
            count = load(row, entries.counts + network)
            for index in range(1, count):
                entry = start + index * size
                while entry != start and is_before(width, entry, entry - size) != 0:
                    exchange(width, entry, entry - size)
                    entry -= size
            start += count * size
        row = entries.words + load(entries.ends, row_index) * f.WORD_BYTES
    return f.DONE
