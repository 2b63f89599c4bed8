"""Unpack rows: in loops, and in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.frontier import UNSIGNED, PackedState
from kmc.engine.layout.packed_rows import (
    DEAD,
    ESCAPED,
    GROUP,
    HEADER_BYTES,
    LONG_BYTES,
    SHORT_LENGTH,
    STEP,
    Codes,
    body_of,
    bytes_at,
    codes_at,
    codes_of,
    length_at,
    length_of,
    lowest_bits,
    mask_bytes,
    row_of,
)
from kmc.engine.layout.record_structs import Chunk, StateRecord
from kmc.engine.layout.word_dictionary import ESCAPE, Dictionary, known_code_of
from kmc.engine.native.intrinsics import (
    FEW_CODES,
    copy_eight,
    inlined,
    load,
    load_anywhere,
    load_byte,
    load_code,
    lowest,
    store,
    store_code,
)
from kmc.engine.native.memory import Words
from kmc.engine.native.specialization import SHARDED
from kmc.engine.native.words import Address, Fingerprint


@inlined
def unpack(shared: Shared, packed: Address, before: StateRecord, record: StateRecord) -> Address:
    """Unpack a record to `record`; where the packed one ends.

    `before` is the unpacked record before it in its chunk, with an empty row for the first one. It does not overlap
    `record`, which needs `unpacked_words`.
    """
    length = length_of(packed)
    plain = min(shared.plain_words, length)
    source = body_of(packed)
    record.header = length
    record.fingerprint = Fingerprint(load_anywhere(source))
    source = Address(source + (1 - shared.implied_words) * f.WORD_BYTES)
    for word in range(plain):
        store(row_of(record), word, load_anywhere(source + word * f.WORD_BYTES))
    source = Address(source + plain * f.WORD_BYTES)
    if length != plain:
        copy_coded(shared, before, record)
        source = Address(change_coded(shared.dictionary, record, plain, source))
        if load_byte(packed, 0) & ESCAPED:
            source = Address(fill_escapes(shared.dictionary, record, plain, source))
    return source


@inlined
def copy_coded(shared: Shared, before: StateRecord, record: StateRecord) -> None:
    """Copy the coded words of `before`, and their codes, up to the end of the shorter row."""
    length, known = record.header, before.header
    plain, skipped = min(shared.plain_words, length), min(shared.plain_words, known)
    count = min(length - plain, known - skipped)
    words, source = row_of(record) + plain * f.WORD_BYTES, row_of(before) + skipped * f.WORD_BYTES
    for _ in range(0, count, STEP):
        copy_eight(words, source)
        words += STEP * f.WORD_BYTES
        source += STEP * f.WORD_BYTES
    codes, source = codes_of(record), codes_of(before)
    for _ in range(0, count, FEW_CODES):
        copy_eight(codes, source)
        codes = Address(codes + STEP * f.WORD_BYTES)
        source += STEP * f.WORD_BYTES


@inlined
def change_coded(dictionary: Address, record: StateRecord, plain: int, source: Address) -> int:
    """Apply the masks and codes from `source` on to an unpacked record; where they end.

    The dictionary has no word under ESCAPE, so 0 is written for it.
    """
    length = record.header
    for start in range(0, length - plain, GROUP):
        count = min(length - plain - start, GROUP)
        codes = codes_of(record) + start * f.UNIT_BYTES
        words = row_of(record) + (plain + start) * f.WORD_BYTES
        changed = load_anywhere(source) & lowest_bits(count)
        source = Address(source + mask_bytes(count))
        while changed != 0:
            index = lowest(changed)
            code = load_code(source, 0)
            store_code(codes, index, code)
            store(words, index, load(dictionary, code))
            changed &= changed - 1
            source = Address(source + f.UNIT_BYTES)
    return source


@inlined
def fill_escapes(dictionary: Address, record: StateRecord, plain: int, source: Address) -> int:
    """Write the words without a code, which begin at `source`, into an unpacked record; where they end.

    In a sharded search a word may have got a code since its row was packed: then its successors are packed with it.
    """
    codes = codes_of(record)
    words = row_of(record) + plain * f.WORD_BYTES
    for index in range(record.header - plain):
        if load_code(codes, index) == ESCAPE:
            store(words, index, load_anywhere(source))
            if SHARDED != 0:
                store_code(codes, index, known_code_of(dictionary, load_anywhere(source)))
            source = Address(source + f.WORD_BYTES)
    return source


def records_of(dictionary: Dictionary, chunks: Words, ordinals: Iterable[int]) -> list[PackedState]:
    """The states of some rows of a level, unpacked, by ordinal, without dead rows; their action is 0."""
    wanted = np.unique(np.fromiter(ordinals, np.int64))
    holders, starts = np.unique(np.searchsorted(chunks[:, Chunk.ordinal], wanted, side="right") - 1, return_index=True)
    states = []
    for holder, held in zip(holders.tolist(), np.split(wanted, starts[1:]), strict=False):
        address, _, first = chunks[holder].tolist()
        positions = set((held - first).tolist())
        first_ones = records(dictionary, address, max(positions) + 1)
        states += [record for index, record in enumerate(first_ones) if record is not None and index in positions]
    return states


def records(dictionary: Dictionary, address: int, count: int) -> Iterator[PackedState | None]:
    """The states of the first `count` rows of the chunk at `address`; None for a dead row.

    Slow, since it runs in Python: for a few states only.
    """
    before: Codes = np.zeros(0, np.uint16)
    for _ in range(count):
        dead = bool(bytes_at(address, 1)[0] & DEAD)
        record, before, address = _record(dictionary, address, before)
        yield None if dead else record


def _record(dictionary: Dictionary, address: int, before: Codes) -> tuple[PackedState, Codes, int]:
    """A record, its codes, and where it ends."""
    length, header = length_at(address), int(bytes_at(address, 1)[0])
    address += HEADER_BYTES + LONG_BYTES * (header & SHORT_LENGTH == SHORT_LENGTH)
    plain = min(dictionary.plain, length)
    head = bytes_at(address, (1 + plain - dictionary.implied) * f.WORD_BYTES).view(np.int64)
    address += len(head) * f.WORD_BYTES
    codes = np.zeros(length - plain, np.uint16)
    kept = min(len(before), len(codes))
    codes[:kept] = before[:kept]
    for start in range(0, len(codes), GROUP):
        count = min(len(codes) - start, GROUP)
        mask = bytes_at(address, -(-count // 8))
        changed = start + np.flatnonzero(np.unpackbits(mask, bitorder="little", count=count))
        codes[changed] = codes_at(address + len(mask), len(changed))
        address += len(mask) + len(changed) * f.UNIT_BYTES
    coded = dictionary.words[codes]
    escaped = codes == ESCAPE
    coded[escaped] = bytes_at(address, int(escaped.sum()) * f.WORD_BYTES).view(np.int64)
    address += int(escaped.sum()) * f.WORD_BYTES
    row = np.concatenate([head[1 - dictionary.implied :], coded])
    return PackedState(int(head[0]) & UNSIGNED, 0, row), codes, address
