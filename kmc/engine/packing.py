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
from kmc.engine.intrinsics import (
    compare_and_swap,
    differing,
    inlined,
    load,
    lowest,
    slot_of,
    store,
    store_code,
)
from kmc.engine.memory import Memory, Words, words_at

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
def coded_words(plain: int, record: int) -> int:
    """How many words of a row stand as codes in its packed record."""
    length = load(record, 0) & f.LENGTH_MASK
    return length - min(plain, length)


@inlined
def escapes(plain: int, packed: int) -> int:
    """Where the words without a code begin in a packed record, if it has any; else 0."""
    coded = coded_words(plain, packed)
    first = f.RECORD_HEAD_WORDS + (load(packed, 0) & f.LENGTH_MASK) - coded + (coded + 3) // 4
    return first if first != load(packed, 0) >> f.PACKED_SHIFT & f.PACKED_MASK else 0


@inlined
def pack_beside(lexicon: int, plain: int, record: int, target: int, source: int, row: int) -> int:
    """`pack` for the successor of the state that is packed at `source` and lies at `row`: most codes are the same.

    0 if one of the two has a word without a code: then `pack` has to do it, which so stands in a loop only once.
    Writes up to four words behind what it answers.
    """
    if escapes(plain, source) != 0:
        return 0
    coded = coded_words(plain, record)
    shared = min(coded, coded_words(plain, source))
    head = f.RECORD_HEAD_WORDS + (load(record, 0) & f.LENGTH_MASK) - coded
    for index in range(1, head):
        store(target, index, load(record, index))
    for index in range(0, coded, 8):
        place = head + index // 4
        store(target, place, load(source, place))
        store(target, place + 1, load(source, place + 1))
        new = differing(record, head + index, row, head - f.RECORD_HEAD_WORDS + index)
        if shared - index < 8:
            new = (new | -1 << max(0, shared - index)) & ~(-1 << min(8, coded - index))
        while new != 0:
            place = index + lowest(new)
            code = code_of(lexicon, load(record, head + place))
            if code == ESCAPE:
                return 0
            store_code(target, head * 4 + place, code)
            new &= new - 1
    words = head + (coded + 3) // 4
    store(target, 0, load(record, 0) & f.LENGTH_MASK | words << f.PACKED_SHIFT)
    return words


@inlined
def unpack(lexicon: int, plain: int, packed: int, row: int) -> None:
    """Write the row of a packed record to `row`, and up to three words behind it."""
    coded = coded_words(plain, packed)
    index = (load(packed, 0) & f.LENGTH_MASK) - coded
    place = f.RECORD_HEAD_WORDS + index
    for word in range(index):
        store(row, word, load(packed, f.RECORD_HEAD_WORDS + word))
    first = row + index * f.WORD_BYTES
    # Under ZERO and ESCAPE the lexicon holds no word, so 0 is read; what stands behind the last code is some code.
    for word in range(0, coded, 4):
        codes = load(packed, place)
        store(first, word, load(lexicon, codes & _CODE_MASK))
        store(first, word + 1, load(lexicon, codes >> 16 & _CODE_MASK))
        store(first, word + 2, load(lexicon, codes >> 32 & _CODE_MASK))
        store(first, word + 3, load(lexicon, codes >> 48 & _CODE_MASK))
        place += 1
    escaped = escapes(plain, packed)
    if escaped != 0:
        fill_escapes(packed, place - (coded + 3) // 4, escaped, first, coded)


@inlined
def fill_escapes(packed: int, codes: int, escaped: int, first: int, coded: int) -> None:
    """Write the words without a code, which stand from `escaped` on, among the `coded` words at `first`."""
    for word in range(coded):
        if load(packed, codes + word // 4) >> 16 * (word % 4) & _CODE_MASK == ESCAPE:
            store(first, word, load(packed, escaped))
            escaped += 1


class Lexicon:
    """The words that have codes. `plain` is how many words at the beginning of a row are left as they are."""

    def __init__(self, plain: int) -> None:
        self._memory = Memory(1 << 16)
        self.plain = plain

    @property
    def address(self) -> int:
        """Where the words lie, by code."""
        return self._memory.address

    @property
    def words(self) -> Words:
        """The words by code, as an array that shares them."""
        return self._memory.array

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
