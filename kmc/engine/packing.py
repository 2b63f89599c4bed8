"""Rows at rest: every word as a 16-bit code, for the words of all rows of a search are few.

Invariant: a code never changes its word, so a packed row stays readable while threads add words. A word that finds no
place near its home in the lexicon is stored as it is; so packing never fails, and a model whose words are all
different costs a quarter more than its rows. Codes belong to one search in one process and never leave it.

A packed record: `[header][fingerprint][plain words ...][codes, four to a word ...][words that have no code ...]`, the
header being the length of the row and, << 32, that of the record. Words that differ in every row, such as a hash sum,
stand first in a row and are left plain.
"""

from __future__ import annotations

import numpy as np

from kmc.engine import fields as f
from kmc.engine.frontier import UNSIGNED, Record
from kmc.engine.intrinsics import compare_and_swap, inlined, load, slot_of, store
from kmc.engine.memory import Memory, words_at

ZERO = (1 << 16) - 1
ESCAPE = ZERO - 1
_PROBES = 8
_CODES = ESCAPE - _PROBES
_CODE_MASK = (1 << 16) - 1
_SCATTER = -7046029254386353131


@inlined
def code_of(lexicon: int, word: int) -> int:
    """The code of a word, given to it now if it is new; ESCAPE if there is no place for it."""
    if word == 0:
        return ZERO
    slot = slot_of(word * _SCATTER, _CODES)
    for _ in range(_PROBES):
        found = load(lexicon, slot)
        if found == 0:
            found = compare_and_swap(lexicon, slot, 0, word)
            if found == 0:
                return slot
        if found == word:
            return slot
        slot += 1
    return ESCAPE


@inlined
def pack(lexicon: int, plain: int, record: int, target: int) -> int:
    """Write a record packed to `target`; the words it takes."""
    length = load(record, 0) & f.LENGTH_MASK
    place = f.RECORD_HEAD_WORDS + min(plain, length)
    for index in range(1, place):
        store(target, index, load(record, index))
    index = place
    end = f.RECORD_HEAD_WORDS + length
    escaped = place + (end - index + 3) // 4
    while index < end:
        codes = 0
        for shift in range(0, 16 * min(4, end - index), 16):
            word = load(record, index)
            code = code_of(lexicon, word)
            if code == ESCAPE:
                store(target, escaped, word)
                escaped += 1
            codes |= code << shift
            index += 1
        store(target, place, codes)
        place += 1
    store(target, 0, length | escaped << f.PACKED_SHIFT)
    return escaped


@inlined
def unpack(lexicon: int, plain: int, packed: int, row: int) -> None:
    """Write the row of a packed record to `row`."""
    length = load(packed, 0) & f.LENGTH_MASK
    index = min(plain, length)
    place = f.RECORD_HEAD_WORDS + index
    for word in range(index):
        store(row, word, load(packed, f.RECORD_HEAD_WORDS + word))
    escaped = place + (length - index + 3) // 4
    while index < length:
        codes = load(packed, place)
        for _ in range(min(4, length - index)):
            code = codes & _CODE_MASK
            if code == ZERO:
                store(row, index, 0)
            elif code == ESCAPE:
                store(row, index, load(packed, escaped))
                escaped += 1
            else:
                store(row, index, load(lexicon, code))
            codes >>= 16
            index += 1
        place += 1


class Lexicon:
    """The words that have codes. `plain` is how many words at the beginning of a row are left as they are."""

    def __init__(self, plain: int) -> None:
        self._memory = Memory(1 << 16)
        self.plain = plain

    @property
    def address(self) -> int:
        """Where the words lie, by code."""
        return self._memory.address

    def record_at(self, address: int) -> Record:
        """A copy of the packed record at `address`, unpacked; its action is 0."""
        header, fingerprint = words_at(address, f.RECORD_HEAD_WORDS).tolist()
        length, words = header & f.LENGTH_MASK, header >> f.PACKED_SHIFT & f.PACKED_MASK
        packed = words_at(address, words)
        plain = f.RECORD_HEAD_WORDS + min(self.plain, length)
        coded = length + f.RECORD_HEAD_WORDS - plain
        codes = packed[plain : plain + (coded + 3) // 4].view(np.uint16)[:coded]
        row = np.where(codes == ZERO, 0, self._memory.array[codes])
        row[codes == ESCAPE] = packed[plain + (coded + 3) // 4 :]
        return Record(fingerprint & UNSIGNED, 0, np.concatenate([packed[f.RECORD_HEAD_WORDS : plain], row]))
