"""Pack rows: write the words that differ from the row before, in the format of `kmc.engine.layout.packed_rows`.

Packing never fails. Rows whose words are all different need a little more than a quarter more packed than unpacked.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.packed_rows import (
    ESCAPED,
    GROUP,
    HEADER_BYTES,
    SHORT_LENGTH,
    body_of,
    codes_of,
    lowest_bits,
    mask_bytes,
    row_of,
)
from kmc.engine.layout.record_structs import LENGTH_MASK, StateRecord
from kmc.engine.layout.word_dictionary import ESCAPE, code_of, known_code_of
from kmc.engine.native.intrinsics import (
    FEW_CODES,
    copy_eight,
    differing,
    differing_codes,
    highest_codes,
    inlined,
    load,
    load_byte,
    load_code,
    lowest,
    ones,
    store_anywhere,
    store_byte,
    store_code,
    store_some_codes,
)
from kmc.engine.native.specialization import COMPRESSES, SHARDED
from kmc.engine.native.words import Address

FEW_CHANGES = 8
"""Codes that are written without a branch, which would be unpredictable."""


@inlined
def pack(shared: Shared, thread: Thread, record: StateRecord, source: StateRecord, target: Address) -> Address:
    """Pack a record to `target`, any address, as the next row after the one this thread packed last; where it ends.

    `source` is an unpacked record that shares most of its words. Up to eight words behind the end are overwritten;
    `Memory.is_overrun` allows for that.
    """
    length = record.header & LENGTH_MASK
    plain = min(shared.plain_words, length)
    out = pack_head(shared, record, target)
    thread.escaped = 0
    for start in range(0, length - plain, GROUP):
        codes = thread.codes + start * f.UNIT_BYTES
        count = min(length - plain - start, GROUP)
        changed = find_codes(shared, thread, record, source, start) & lowest_bits(count)
        store_anywhere(out, changed)
        out = Address(out + mask_bytes(count))
        write_codes(codes, count, changed, out)
        out = Address(out + ones(changed) * f.UNIT_BYTES)
    if thread.escaped != 0:
        store_byte(target, 0, load_byte(target, 0) | ESCAPED)
        out = write_escapes(record, plain, thread.codes, out)
    codes = thread.last_codes
    thread.last_codes = thread.codes
    thread.last_count = length - plain
    thread.codes = codes
    return out


@inlined
def write_codes(codes: int, count: int, changed: int, out: Address) -> None:
    """Write those of up to 64 codes that a mask selects to `out`, one behind another.

    The bytes behind them are undefined. Where the processor has no instruction for that, LLVM's code for it would write
    all codes, one after another.
    """
    if COMPRESSES != 0:
        store_some_codes(out, codes, changed)
        if count > FEW_CODES:
            rest = changed >> FEW_CODES
            behind = out + ones(changed & lowest_bits(FEW_CODES)) * f.UNIT_BYTES
            store_some_codes(behind, codes + FEW_CODES * f.UNIT_BYTES, rest)
    else:
        for _ in range(FEW_CHANGES):
            # Once no bit is left, the last code of the group is written: nothing reads it.
            store_anywhere(out, load_code(codes, lowest(changed | -1 << GROUP - 1)))
            out = Address(out + f.UNIT_BYTES)
            changed &= changed - 1
        while changed != 0:
            store_anywhere(out, load_code(codes, lowest(changed)))
            out = Address(out + f.UNIT_BYTES)
            changed &= changed - 1


@inlined
def pack_head(shared: Shared, record: StateRecord, target: Address) -> Address:
    """Write the header, the fingerprint and the plain words of a packed record; where they end."""
    length = record.header & LENGTH_MASK
    store_byte(target, 0, min(length, SHORT_LENGTH))
    if length >= SHORT_LENGTH:
        store_anywhere(target + HEADER_BYTES, length)
    out = body_of(target)
    store_anywhere(out, record.fingerprint)
    out = Address(out + f.WORD_BYTES)
    for word in range(shared.implied_words, min(shared.plain_words, length)):
        store_anywhere(out, load(row_of(record), word))
        out = Address(out + f.WORD_BYTES)
    return out


@inlined
def find_codes(shared: Shared, thread: Thread, record: StateRecord, source: StateRecord, start: int) -> int:
    """Find the codes of 64 words of a record, from the coded word `start` on; most are copied from its source.

    Returns a mask of the codes to be written: those that differ from the row packed last, and ESCAPE. Bits beyond the
    end of the row have no meaning.
    """
    length, known = record.header & LENGTH_MASK, source.header
    plain, skipped = min(shared.plain_words, length), min(shared.plain_words, known)
    count, known = min(length - plain - start, GROUP), known - skipped - start
    codes, last = thread.codes + start * f.UNIT_BYTES, thread.last_codes + start * f.UNIT_BYTES
    words = row_of(record) + (plain + start) * f.WORD_BYTES
    changed = new = 0
    if known > 0:
        others = row_of(source) + (skipped + start) * f.WORD_BYTES
        new = differing_words(words, others, 0)
        if count > FEW_CODES:
            new |= differing_words(words, others, FEW_CODES)
        changed = copy_codes(thread, codes_of(source) + start * f.UNIT_BYTES, min(count, known), Address(codes), last)
    if known < count:
        new |= -1 << max(0, known)
    new &= lowest_bits(count)
    # Codes of new words are written one by one below. Comparing them all at once would wait for these writes.
    changed &= ~new
    # One loop looks up all new words, so that its exit branch predicts well.
    while new != 0:
        index = lowest(new)
        code = find_code(shared, load(words, index))
        store_code(codes, index, code)
        if code == ESCAPE:
            thread.escaped = 1
            changed |= 1 << index
        changed |= (1 if code != load_code(last, index) else 0) << index
        new &= new - 1
    if thread.last_count < start + count:
        changed |= -1 << max(0, thread.last_count - start)
    return changed


@inlined
def find_code(shared: Shared, word: int) -> int:
    """The code of a word. Shards share one dictionary, to which only their driver adds words."""
    return known_code_of(shared.dictionary, word) if SHARDED != 0 else code_of(shared.dictionary, word)


@inlined
def differing_words(words: int, others: int, first: int) -> int:
    """A 64-bit mask of the words that differ among 32 from number `first` on, whether or not both rows go that far.

    A loop up to the end of the shorter row is slower: its exit branch is unpredictable.
    """
    mask = differing(words, first, others, first) | differing(words, first + 8, others, first + 8) << 8
    mask |= differing(words, first + 16, others, first + 16) << 16
    mask |= differing(words, first + 24, others, first + 24) << 24
    return mask << first


@inlined
def copy_codes(thread: Thread, source: int, count: int, codes: Address, last: int) -> int:
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
        thread.escaped = 1
    return changed | escapes


@inlined
def write_escapes(record: StateRecord, plain: int, codes: Address, out: Address) -> Address:
    """Write the words of a record that have no code to `out`; where they end."""
    words = row_of(record) + plain * f.WORD_BYTES
    for index in range((record.header & LENGTH_MASK) - plain):
        if load_code(codes, index) == ESCAPE:
            store_anywhere(out, load(words, index))
            out = Address(out + f.WORD_BYTES)
    return out
