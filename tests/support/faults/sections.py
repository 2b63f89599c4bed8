"""A file of sections whose words are damaged one by one: which reader does not notice what concerns it."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from support.runs.shards import store_in

from kmc.engine.native.memory import WORD_BYTES, Words
from kmc.errors import SystemFault
from kmc.shards.files.section_files import FingerprintRange, SectionFile, read_range, write_in_ranges
from kmc.shards.files.store import FolderStore
from kmc.shards.level.fingerprint_rows import order_of

WIDTH = 3


def some_rows(count: int, seed: int = 0) -> Words:
    """Rows in the order of their fingerprints of one word, with the least and the greatest ones among them."""
    rng = random.Random(seed)
    words = [[rng.getrandbits(64) for _ in range(WIDTH)] for _ in range(count)]
    for row, word in zip(words, (0, (1 << 64) - 1, 1 << 63, (1 << 63) - 1), strict=False):
        row[0] = word
    rows = np.array(words, np.uint64).reshape(count, WIDTH).view(np.int64)
    return rows[order_of(rows, 1)]


def in_range(rows: Words, wanted: FingerprintRange) -> list[list[int]]:
    """The rows whose first words have the number of the range as their highest bits."""
    return [row for row in rows.tolist() if (row[0] % (1 << 64)) >> (64 - wanted.bits) == wanted.number]


def unnoticed_damage(folder: Path) -> str | None:
    """A damaged word and a range that is read as if it were whole, or is refused although the damage is elsewhere."""
    store, rows = store_in(folder), some_rows(20)
    file = write_in_ranges(store, "found-1-0-0123456789abcdef", rows)
    bits = file.sections.bit_length() - 1
    assert bits > 1, "sections are short"
    path = folder / file.name
    whole = path.read_bytes()
    assert len(whole) == file.words * WORD_BYTES
    for word in range(file.words):
        data = bytearray(whole)
        data[word * WORD_BYTES] ^= 1
        path.write_bytes(bytes(data))
        for wanted in (FingerprintRange(0, 0), *(FingerprintRange(bits, number) for number in range(1 << bits))):
            here = in_range(rows, wanted)
            concerns = word >= rows.size or rows[word // WIDTH].tolist() in here
            if _read(store, file, wanted) != (None if concerns else here):
                return f"word {word}, {wanted}"
    return None


def _read(store: FolderStore, file: SectionFile, wanted: FingerprintRange) -> list[list[int]] | None:
    """The rows of a range; None where the damage is noticed."""
    try:
        rows: list[list[int]] = read_range(store, file, wanted).tolist()
    except SystemFault as fault:
        if fault.code != "KMC551":
            raise
        return None
    return rows
