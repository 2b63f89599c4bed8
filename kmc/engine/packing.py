"""Rows at rest: every word as a 16-bit code, for the words of all rows of a search are few.

Invariant: a code never changes its word, so a packed row stays readable while threads add words. A word that finds no
place near its home in the lexicon is stored as it is; so packing never fails, and a model whose words are all
different costs a quarter more than its rows. Codes belong to one search in one process and never leave it.

A packed record: `[header][fingerprint][plain words ...][codes, four to a word ...][words that have no code ...]`, the
header being the length of the row and, << 32, that of the record. Words that differ in every row, such as a hash sum,
stand first in a row and are left plain; if the first of them is `implied` (1, else 0), it is the fingerprint itself and
left out.
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
    store,
    store_code,
)
from kmc.engine.memory import Memory, Words, words_at

ESCAPE = (1 << 16) - 1
_PROBES = 8
_LAST = ESCAPE - _PROBES
_CODE_MASK = (1 << 16) - 1
_SCATTER = -7046029254386353131


@inlined
def code_of(lexicon: int, word: int) -> int:
    """The code of a word, given to it now if it is new; ESCAPE if there is no place for it. That of 0 is 0."""
    slot = min(word * _SCATTER >> 48 & _CODE_MASK, _LAST)
    for _ in range(_PROBES):
        found = load(lexicon, slot)
        if found == word:
            return slot
        if slot == 0:
            slot = 1
        elif found == 0:
            found = compare_and_swap(lexicon, slot, 0, word)
            if found == 0 or found == word:
                return slot
        else:
            slot += 1
    return ESCAPE


@inlined
def pack(lexicon: int, plain: int, implied: int, record: int, target: int) -> int:
    """Write a record packed to `target`; the words it takes."""
    length = load(record, 0) & f.LENGTH_MASK
    index = f.RECORD_HEAD_WORDS + min(plain, length)
    place = index - implied
    copy_head(implied, place, record, target)
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
def copy_head(implied: int, words: int, record: int, target: int) -> None:
    """Write the fingerprint and the plain words of a packed record, which are `words` with the header."""
    store(target, 1, load(record, 1))
    for index in range(f.RECORD_HEAD_WORDS, words):
        store(target, index, load(record, index + implied))


@inlined
def coded_words(plain: int, record: int) -> int:
    """How many words of a row stand as codes in its packed record."""
    length = load(record, 0) & f.LENGTH_MASK
    return length - min(plain, length)


@inlined
def escapes(plain: int, implied: int, packed: int) -> int:
    """Where the words without a code begin in a packed record, if it has any; else 0."""
    coded = coded_words(plain, packed)
    first = f.RECORD_HEAD_WORDS + (load(packed, 0) & f.LENGTH_MASK) - implied - coded + (coded + 3) // 4
    return first if first != load(packed, 0) >> f.PACKED_SHIFT & f.PACKED_MASK else 0


@inlined
def pack_beside(lexicon: int, plain: int, implied: int, record: int, target: int, source: int, row: int) -> int:
    """`pack` for the successor of the state that is packed at `source` and lies at `row`: most codes are the same.

    0 if one of the two has a word without a code: then `pack` has to do it, which so stands in a loop only once.
    Writes up to four words behind what it answers.
    """
    if escapes(plain, implied, source) != 0:
        return 0
    coded = coded_words(plain, record)
    shared = min(coded, coded_words(plain, source))
    head = f.RECORD_HEAD_WORDS + (load(record, 0) & f.LENGTH_MASK) - coded
    rest = head - implied
    copy_head(implied, rest, record, target)
    for start in range(0, coded, 64):
        # All that is new among 64 words is looked up in one loop, whose end the processor mostly foresees.
        new = 0
        end = min(coded, start + 64)
        for index in range(start, end, 8):
            place = rest + index // 4
            store(target, place, load(source, place))
            store(target, place + 1, load(source, place + 1))
            new |= differing(record, head + index, row, head - f.RECORD_HEAD_WORDS + index) << index - start
        if shared < end:
            new |= -1 << max(0, shared - start)
        if end < start + 64:
            new &= ~(-1 << end - start)
        while new != 0:
            place = start + lowest(new)
            code = code_of(lexicon, load(record, head + place))
            if code == ESCAPE:
                return 0
            store_code(target, rest * 4 + place, code)
            new &= new - 1
    words = rest + (coded + 3) // 4
    store(target, 0, load(record, 0) & f.LENGTH_MASK | words << f.PACKED_SHIFT)
    return words


@inlined
def unpack(lexicon: int, plain: int, implied: int, packed: int, row: int) -> None:
    """Write the row of a packed record to `row`, and up to three words behind it."""
    coded = coded_words(plain, packed)
    index = (load(packed, 0) & f.LENGTH_MASK) - coded
    place = f.RECORD_HEAD_WORDS + index - implied
    for word in range(index):
        store(row, word, load(packed, f.RECORD_HEAD_WORDS + word - implied))
    first = row + index * f.WORD_BYTES
    # Under ESCAPE the lexicon holds no word, so 0 is read; what stands behind the last code is some code.
    for word in range(0, coded, 4):
        codes = load(packed, place)
        store(first, word, load(lexicon, codes & _CODE_MASK))
        store(first, word + 1, load(lexicon, codes >> 16 & _CODE_MASK))
        store(first, word + 2, load(lexicon, codes >> 32 & _CODE_MASK))
        store(first, word + 3, load(lexicon, codes >> 48 & _CODE_MASK))
        place += 1
    escaped = escapes(plain, implied, packed)
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
    """The words that have codes.

    `plain` is how many words at the beginning of a row are left as they are, `implied` how many of them are left out.
    """

    def __init__(self, plain: int, implied: int = 0) -> None:
        self._memory = Memory(1 << 16)
        self.plain = plain
        self.implied = implied

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
        first = f.RECORD_HEAD_WORDS - self.implied
        plain = first + min(self.plain, length)
        coded = length + first - plain
        codes = packed[plain : plain + (coded + 3) // 4].view(np.uint16)[:coded]
        row = self._memory.array[codes]
        row[codes == ESCAPE] = packed[plain + (coded + 3) // 4 :]
        return Record(fingerprint & UNSIGNED, 0, np.concatenate([packed[first:plain], row]))
