"""The format of packed rows, in chunks of a frontier.

A row is delta-coded against the row before it in its chunk. A packed record is a sequence of bytes, at any address:

- A header: 6 bits of the length of the row, whether it may have words without a code, and whether it is dead. If all
  6 bits are set, the length follows in 32 bits.
- The fingerprint, then the plain words. Words that differ in every row, such as a hash sum, come first in a row and
  have no code. With `implied_words`, the first of them is the fingerprint itself and is left out.
- For every 64 words that follow: a mask, in whole bytes, of the words whose code differs from the row before, then
  these codes, of 16 bits. A word beyond the end of the row before always counts as different, and so does a word
  without a code.
- The words without a code.

Unpacked, a record is what `expand` writes, followed by its codes: see `codes_of`.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.record_structs import LENGTH_MASK, RECORD_HEAD_WORDS, StateRecord
from kmc.engine.layout.word_dictionary import ESCAPE
from kmc.engine.native.intrinsics import inlined, load_anywhere, load_byte, load_code, ones, store_byte
from kmc.engine.native.words import Address, Mask

HEADER_BYTES = 1
SHORT_LENGTH = (1 << 6) - 1
ESCAPED = 1 << 6
DEAD = 1 << 7
LONG_BYTES = 4
GROUP = 64
STEP = 8
"""Words that are copied or compared at once."""

_GROUP_WORDS = GROUP * f.UNIT_BYTES // f.WORD_BYTES

Codes = NDArray[np.uint16]
Bytes = NDArray[np.uint8]


@inlined
def length_of(packed: Address) -> int:
    """The length of a packed row."""
    short = load_byte(packed, 0) & SHORT_LENGTH
    return short if short != SHORT_LENGTH else load_anywhere(packed + HEADER_BYTES) & LENGTH_MASK


@inlined
def body_of(packed: Address) -> Address:
    """The address of a packed record's fingerprint; the plain words follow."""
    long = load_byte(packed, 0) & SHORT_LENGTH == SHORT_LENGTH
    return Address(packed + (HEADER_BYTES + LONG_BYTES if long else HEADER_BYTES))


@inlined
def is_dead(packed: Address) -> int:
    """Not 0 if a packed record was marked."""
    return load_byte(packed, 0) & DEAD


@inlined
def mark_dead(packed: Address) -> None:
    """Mark a packed record as dead: another state represents its view."""
    store_byte(packed, 0, load_byte(packed, 0) | DEAD)


@inlined
def row_of(record: StateRecord) -> Address:
    """The address of the row of an unpacked record."""
    return Address(record + RECORD_HEAD_WORDS * f.WORD_BYTES)


@inlined
def words_of(record: StateRecord) -> int:
    """The words of a record that `expand` wrote, head included."""
    return (record.header & LENGTH_MASK) + RECORD_HEAD_WORDS


@inlined
def record_after(record: StateRecord) -> StateRecord:
    """The next of the records that `expand` wrote one after another."""
    return StateRecord(record + words_of(record) * f.WORD_BYTES)


@inlined
def codes_of(record: StateRecord) -> Address:
    """The address of the codes of an unpacked record, one for each word that is not plain."""
    return Address(row_of(record) + ((record.header & LENGTH_MASK) + STEP) * f.WORD_BYTES)


@inlined
def unpacked_words(length: int) -> int:
    """The size of an unpacked record with its codes, and with room to copy in steps."""
    return RECORD_HEAD_WORDS + length + STEP + (length + GROUP - 1) // GROUP * _GROUP_WORDS


@inlined
def lowest_bits(count: int) -> Mask:
    """A mask of so many bits, from 1 to 64."""
    return Mask(~(-2 << count - 1))


@inlined
def mask_bytes(count: int) -> int:
    """The number of bytes of a mask of so many bits."""
    return count + 7 >> 3


@inlined
def packed_end(shared: Shared, packed: Address) -> Address:
    """Return the address just behind a packed record."""
    length = length_of(packed)
    plain = min(shared.plain_words, length)
    address = body_of(packed) + (1 + plain - shared.implied_words) * f.WORD_BYTES
    escaped = 0
    for start in range(0, length - plain, GROUP):
        count = min(length - plain - start, GROUP)
        changed = ones(load_anywhere(address) & lowest_bits(count))
        address += mask_bytes(count)
        if load_byte(packed, 0) & ESCAPED:
            for index in range(changed):
                escaped += 1 if load_code(address, index) == ESCAPE else 0
        address += changed * f.UNIT_BYTES
    return Address(address + escaped * f.WORD_BYTES)


def length_at(address: int) -> int:
    """The length of the row of the packed record at `address`."""
    head = ctypes.string_at(address, HEADER_BYTES + LONG_BYTES)
    short = head[0] & SHORT_LENGTH
    return short if short != SHORT_LENGTH else int.from_bytes(head[HEADER_BYTES:], "little")


def bytes_at(address: int, count: int) -> Bytes:
    """A copy of `count` bytes at `address`."""
    return np.frombuffer(ctypes.string_at(address, count), np.uint8)


def codes_at(address: int, count: int) -> Codes:
    """A copy of `count` codes at `address`."""
    return bytes_at(address, count * f.UNIT_BYTES).view(np.uint16)
