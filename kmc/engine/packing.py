"""Rows at rest: what differs from the row before, every word as a 16-bit code, for the words of all rows are few.

Invariant: a code never changes its word, so a packed row stays readable while threads add words. A word that finds no
place near its home in the lexicon is stored as it is; so packing never fails, and a model whose words are all
different costs little more than a quarter more than its rows. Codes belong to one search in one process and never
leave it.

A packed record is a sequence of units of 16 bits, and can be read behind the one before it in its chunk only:

- a header: 14 bits of the length of the row, whether it is dead, whether it has words without a code. If all 14 bits
  are set, the length follows, in 32 bits;
- the fingerprint, then the plain words: words that differ in every row, such as a hash sum, stand first in a row and
  have no code. If the first of them is `implied` (1, else 0), it is the fingerprint itself and left out;
- for every 64 words that follow: a mask of those with another code than in the row before, then these codes. Behind
  the end of the row before everything differs, and so does a word without a code, always;
- the words that have no code.

Unpacked for the loops, a record is one as `expand` writes it with its codes behind the row, see `codes_of`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from kmc.engine import fields as f
from kmc.engine.frontier import UNSIGNED, Record
from kmc.engine.intrinsics import (
    FEW_CODES,
    compare_and_swap,
    copy_eight,
    differing,
    differing_codes,
    highest_codes,
    inlined,
    load,
    load_anywhere,
    load_code,
    lowest,
    lowest_or_64,
    ones,
    store,
    store_anywhere,
    store_code,
    store_some_codes,
)
from kmc.engine.memory import Memory, Words

ESCAPE = (1 << 16) - 1
_PROBES = 8
_LAST = ESCAPE - _PROBES
_CODE_MASK = (1 << 16) - 1
_SCATTER = -7046029254386353131

_UNIT_BITS = 16
_SHORT_LENGTH = (1 << 14) - 1
_ESCAPED = 1 << 14
_DEAD = 1 << 15
_LONG_BYTES = 4
_GROUP = 64
_GROUP_WORDS = _GROUP * f.UNIT_BYTES // f.WORD_BYTES
_STEP = 8  # words that are copied or compared at once

Codes = NDArray[np.uint16]


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
def length_of(packed: int) -> int:
    """The length of a packed row."""
    short = load_code(packed, 0) & _SHORT_LENGTH
    return short if short != _SHORT_LENGTH else load_anywhere(packed + f.UNIT_BYTES) & f.LENGTH_MASK


@inlined
def body_of(packed: int) -> int:
    """Where the fingerprint of a packed record stands, at an even address; words that are not coded follow it."""
    long = load_code(packed, 0) & _SHORT_LENGTH == _SHORT_LENGTH
    return packed + (f.UNIT_BYTES + _LONG_BYTES if long else f.UNIT_BYTES)


@inlined
def is_dead(packed: int) -> int:
    """Not 0 if a packed record was marked."""
    return load_code(packed, 0) & _DEAD


@inlined
def mark_dead(packed: int) -> None:
    """Mark a packed record: another state won the view."""
    store_code(packed, 0, load_code(packed, 0) | _DEAD)


@inlined
def row_of(record: int) -> int:
    """The address of the row of an unpacked record."""
    return record + f.RECORD_HEAD_WORDS * f.WORD_BYTES


@inlined
def codes_of(record: int) -> int:
    """Where the codes of an unpacked record stand: those of the words behind the plain ones."""
    return row_of(record) + ((load(record, 0) & f.LENGTH_MASK) + _STEP) * f.WORD_BYTES


@inlined
def unpacked_words(length: int) -> int:
    """The words of an unpacked record with its codes, and with room to copy in steps."""
    return f.RECORD_HEAD_WORDS + length + _STEP + (length + _GROUP - 1) // _GROUP * _GROUP_WORDS


@inlined
def lowest_bits(count: int) -> int:
    """A mask of so many bits, from 1 to 64."""
    return ~(-2 << count - 1)


@inlined
def units_of_mask(count: int) -> int:
    """The bytes of a mask of so many bits."""
    return (count + _UNIT_BITS - 1) // _UNIT_BITS * f.UNIT_BYTES


@inlined
def packed_end(shared: int, packed: int) -> int:
    """Where a packed record ends."""
    length = length_of(packed)
    plain = min(load(shared, f.PLAIN), length)
    place = body_of(packed) + (1 + plain - load(shared, f.IMPLIED)) * f.WORD_BYTES
    escaped = 0
    for start in range(0, length - plain, _GROUP):
        count = min(length - plain - start, _GROUP)
        changed = ones(load_anywhere(place) & lowest_bits(count))
        place += units_of_mask(count)
        if load_code(packed, 0) & _ESCAPED:
            for index in range(changed):
                escaped += 1 if load_code(place, index) == ESCAPE else 0
        place += changed * f.UNIT_BYTES
    return place + escaped * f.WORD_BYTES


@inlined
def unpack(shared: int, packed: int, before: int, record: int) -> int:
    """Write a packed record unpacked to `record`, `before` being the one before it in its chunk; where it ends.

    `before` has no row for the first of a chunk. It does not overlap `record`, which takes `unpacked_words`.
    """
    length = length_of(packed)
    plain = min(load(shared, f.PLAIN), length)
    place = body_of(packed)
    store(record, 0, length)
    store(record, 1, load_anywhere(place))
    place += (1 - load(shared, f.IMPLIED)) * f.WORD_BYTES
    for word in range(plain):
        store(row_of(record), word, load_anywhere(place + word * f.WORD_BYTES))
    place += plain * f.WORD_BYTES
    if length != plain:
        copy_coded(shared, before, record)
        place = change_coded(load(shared, f.LEXICON), record, plain, place)
        if load_code(packed, 0) & _ESCAPED:
            place = fill_escapes(record, plain, place)
    return place


@inlined
def copy_coded(shared: int, before: int, record: int) -> None:
    """Write what is coded of `before`, words and codes, into an unpacked record, as far as both go."""
    length, known = load(record, 0), load(before, 0)
    plain, skipped = min(load(shared, f.PLAIN), length), min(load(shared, f.PLAIN), known)
    count = min(length - plain, known - skipped)
    words, source = row_of(record) + plain * f.WORD_BYTES, row_of(before) + skipped * f.WORD_BYTES
    for _ in range(0, count, _STEP):
        copy_eight(words, source)
        words += _STEP * f.WORD_BYTES
        source += _STEP * f.WORD_BYTES
    codes, source = codes_of(record), codes_of(before)
    for _ in range(0, count, FEW_CODES):
        copy_eight(codes, source)
        codes += _STEP * f.WORD_BYTES
        source += _STEP * f.WORD_BYTES


@inlined
def change_coded(lexicon: int, record: int, plain: int, place: int) -> int:
    """Write the words and codes that stand from `place` on into an unpacked record; where they end.

    Under ESCAPE the lexicon holds no word, so 0 is written.
    """
    length = load(record, 0)
    for start in range(0, length - plain, _GROUP):
        count = min(length - plain - start, _GROUP)
        codes = codes_of(record) + start * f.UNIT_BYTES
        words = row_of(record) + (plain + start) * f.WORD_BYTES
        changed = load_anywhere(place) & lowest_bits(count)
        place += units_of_mask(count)
        while changed != 0:
            index = lowest(changed)
            code = load_code(place, 0)
            store_code(codes, index, code)
            store(words, index, load(lexicon, code))
            changed &= changed - 1
            place += f.UNIT_BYTES
    return place


@inlined
def fill_escapes(record: int, plain: int, place: int) -> int:
    """Write the words without a code, which stand from `place` on, into an unpacked record; where they end."""
    codes = codes_of(record)
    words = row_of(record) + plain * f.WORD_BYTES
    for index in range(load(record, 0) - plain):
        if load_code(codes, index) == ESCAPE:
            store(words, index, load_anywhere(place))
            place += f.WORD_BYTES
    return place


@inlined
def pack(shared: int, mine: int, record: int, source: int, target: int) -> int:
    """Write a record packed to `target`, an even address, behind the last row that this thread packed; where it ends.

    `source` is an unpacked record that it has most words from. Writes up to eight bytes behind its end.
    """
    length = load(record, 0) & f.LENGTH_MASK
    plain = min(load(shared, f.PLAIN), length)
    place = pack_head(shared, record, target)
    store(mine, f.ESCAPED, 0)
    for start in range(0, length - plain, _GROUP):
        codes = load(mine, f.CODES) + start * f.UNIT_BYTES
        count = min(length - plain - start, _GROUP)
        changed = find_codes(shared, mine, record, source, start) & lowest_bits(count)
        store_anywhere(place, changed)
        place += units_of_mask(count)
        store_some_codes(place, codes, changed)
        if count > FEW_CODES:
            store_some_codes(
                place + ones(changed & lowest_bits(FEW_CODES)) * f.UNIT_BYTES,
                codes + FEW_CODES * f.UNIT_BYTES,
                changed >> FEW_CODES,
            )
        place += ones(changed) * f.UNIT_BYTES
    if load(mine, f.ESCAPED) != 0:
        store_code(target, 0, load_code(target, 0) | _ESCAPED)
        place = write_escapes(record, plain, load(mine, f.CODES), place)
    codes = load(mine, f.LAST_CODES)
    store(mine, f.LAST_CODES, load(mine, f.CODES))
    store(mine, f.LAST_COUNT, length - plain)
    store(mine, f.CODES, codes)
    return place


@inlined
def pack_head(shared: int, record: int, target: int) -> int:
    """Write the header, the fingerprint and the plain words of a packed record; where they end."""
    length = load(record, 0) & f.LENGTH_MASK
    store_code(target, 0, min(length, _SHORT_LENGTH))
    if length >= _SHORT_LENGTH:
        store_anywhere(target + f.UNIT_BYTES, length)
    place = body_of(target)
    store_anywhere(place, load(record, 1))
    place += f.WORD_BYTES
    for word in range(load(shared, f.IMPLIED), min(load(shared, f.PLAIN), length)):
        store_anywhere(place, load(row_of(record), word))
        place += f.WORD_BYTES
    return place


@inlined
def find_codes(shared: int, mine: int, record: int, source: int, start: int) -> int:
    """Find the codes of 64 words of a record, from the coded word `start` on; most are those of its source.

    A mask of those that must be written: they differ from the codes of the row packed last, or say that there is none.
    Bits for words behind the end of the row mean nothing.
    """
    length, known = load(record, 0) & f.LENGTH_MASK, load(source, 0)
    plain, skipped = min(load(shared, f.PLAIN), length), min(load(shared, f.PLAIN), known)
    count, known = min(length - plain - start, _GROUP), known - skipped - start
    codes, last = load(mine, f.CODES) + start * f.UNIT_BYTES, load(mine, f.LAST_CODES) + start * f.UNIT_BYTES
    words = row_of(record) + (plain + start) * f.WORD_BYTES
    changed = new = 0
    if known > 0:
        others = row_of(source) + (skipped + start) * f.WORD_BYTES
        new = differing_words(words, others, 0)
        if count > FEW_CODES:
            new |= differing_words(words, others, FEW_CODES)
        changed = copy_codes(mine, codes_of(source) + start * f.UNIT_BYTES, min(count, known), codes, last)
    if known < count:
        new |= -1 << max(0, known)
    new &= lowest_bits(count)
    # Codes that were just written, one by one, cannot be compared at once without waiting for them.
    changed &= ~new
    # All that is new among 64 words is looked up in one loop, whose end the processor mostly foresees.
    while new != 0:
        index = lowest(new)
        code = code_of(load(shared, f.LEXICON), load(words, index))
        store_code(codes, index, code)
        if code == ESCAPE:
            store(mine, f.ESCAPED, 1)
            changed |= 1 << index
        changed |= (1 if code != load_code(last, index) else 0) << index
        new &= new - 1
    if load(mine, f.LAST_COUNT) < start + count:
        changed |= -1 << max(0, load(mine, f.LAST_COUNT) - start)
    return changed


@inlined
def differing_words(words: int, others: int, first: int) -> int:
    """A mask of 64 bits of those that differ among 32 words from number `first` on; none is skipped, nor any end seen.

    A loop that ends where the shorter of the rows does takes longer, for its end is seldom foreseen.
    """
    found = differing(words, first, others, first) | differing(words, first + 8, others, first + 8) << 8
    found |= differing(words, first + 16, others, first + 16) << 16
    found |= differing(words, first + 24, others, first + 24) << 24
    return found << first


@inlined
def copy_codes(mine: int, source: int, count: int, codes: int, last: int) -> int:
    """Copy up to 64 codes; a mask of those that differ from the codes at `last` or are ESCAPE."""
    copy_eight(codes, source)
    changed, escapes = differing_codes(source, last), highest_codes(source)
    if count > FEW_CODES:
        rest = FEW_CODES * f.UNIT_BYTES
        copy_eight(codes + rest, source + rest)
        changed |= differing_codes(source + rest, last + rest) << FEW_CODES
        escapes |= highest_codes(source + rest) << FEW_CODES
    escapes &= lowest_bits(count)
    if escapes != 0:
        store(mine, f.ESCAPED, 1)
    return changed | escapes


@inlined
def write_codes(codes: int, changed: int, place: int) -> None:
    """Write the codes that a mask tells to `place`, four at once, so that the end is foreseen more often."""
    while changed != 0:
        store_code(place, 0, load_code(codes, lowest_or_64(changed)))
        changed &= changed - 1
        store_code(place, 1, load_code(codes, lowest_or_64(changed)))
        changed &= changed - 1
        store_code(place, 2, load_code(codes, lowest_or_64(changed)))
        changed &= changed - 1
        store_code(place, 3, load_code(codes, lowest_or_64(changed)))
        changed &= changed - 1
        place += 4 * f.UNIT_BYTES


@inlined
def write_escapes(record: int, plain: int, codes: int, place: int) -> int:
    """Write the words of a record that have no code to `place`; where they end."""
    words = row_of(record) + plain * f.WORD_BYTES
    for index in range((load(record, 0) & f.LENGTH_MASK) - plain):
        if load_code(codes, index) == ESCAPE:
            store_anywhere(place, load(words, index))
            place += f.WORD_BYTES
    return place


def length_at(address: int) -> int:
    """The length of the row of the packed record at `address`."""
    units = _units(address, 3)
    short = int(units[0]) & _SHORT_LENGTH
    return short if short != _SHORT_LENGTH else int(units[1]) | int(units[2]) << _UNIT_BITS


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

    def records_of(self, chunks: Words, ordinals: Iterable[int]) -> list[Record]:
        """Copies of those among some rows of a level that are alive, unpacked, in order; their action is 0."""
        wanted = np.unique(np.fromiter(ordinals, np.int64))
        holders = np.searchsorted(chunks[:, 2], wanted, side="right") - 1
        found = []
        for holder in np.unique(holders).tolist():
            address, _, first = chunks[holder].tolist()
            places = set((wanted[holders == holder] - first).tolist())
            records = self.records(address, max(places) + 1)
            found += [record for place, record in enumerate(records) if record is not None and place in places]
        return found

    def records(self, address: int, count: int) -> Iterator[Record | None]:
        """Copies of the first `count` records of the chunk at `address`; None for one that is dead.

        Python speed, for what is told of few states.
        """
        before: Codes = np.zeros(0, np.uint16)
        for _ in range(count):
            dead = bool(_units(address, 1)[0] & _DEAD)
            record, before, address = self._record(address, before)
            yield None if dead else record

    def _record(self, address: int, before: Codes) -> tuple[Record, Codes, int]:
        """A record, its codes, and where it ends."""
        length, header = length_at(address), int(_units(address, 1)[0])
        address += f.UNIT_BYTES + _LONG_BYTES * (header & _SHORT_LENGTH == _SHORT_LENGTH)
        plain = min(self.plain, length)
        head = _words(address, 1 + plain - self.implied)
        address += len(head) * f.WORD_BYTES
        codes = np.zeros(length - plain, np.uint16)
        kept = min(len(before), len(codes))
        codes[:kept] = before[:kept]
        for start in range(0, len(codes), _GROUP):
            masks = _units(address, -(-min(len(codes) - start, _GROUP) // _UNIT_BITS))
            bits = np.unpackbits(masks.view(np.uint8), bitorder="little", count=min(len(codes) - start, _GROUP))
            changed = start + np.flatnonzero(bits)
            codes[changed] = _units(address + len(masks) * f.UNIT_BYTES, len(changed))
            address += (len(masks) + len(changed)) * f.UNIT_BYTES
        coded = self._memory.array[codes]
        escaped = codes == ESCAPE
        coded[escaped] = _words(address, int(escaped.sum()))
        address += int(escaped.sum()) * f.WORD_BYTES
        row = np.concatenate([head[1 - self.implied :], coded])
        return Record(int(head[0]) & UNSIGNED, 0, row), codes, address


def _units(address: int, count: int) -> Codes:
    return np.frombuffer(ctypes.string_at(address, count * f.UNIT_BYTES), np.uint16)


def _words(address: int, count: int) -> Words:
    return np.frombuffer(ctypes.string_at(address, count * f.WORD_BYTES), np.int64)
