"""Files of rows of words in sections, each with a checksum of its own: a task checks the sections that it reads, and no
more.

Rows that are in the order of their fingerprints have a section for each of equal ranges of fingerprints. The first word
of a fingerprint decides. A file has as many ranges as suit it, a power of two, and is read by ranges of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmc.engine.files.run_manifest import damaged
from kmc.engine.layout.frontier import signed
from kmc.engine.loops.checksums import checksum
from kmc.engine.native.memory import WORD_BYTES, Words, address_of
from kmc.shards.files.store import ShardStore

_BITS = 64
_SECTION_ROWS_BITS = 10
_SECTIONS_BITS_MAX = 12


@dataclass(frozen=True, slots=True)
class SectionFile:
    """`rows` rows of `width` words each. `checksum` is that of the table of sections, which follows them."""

    name: str
    width: int
    rows: int
    sections: int
    checksum: int

    @property
    def words(self) -> int:
        """The words of the file."""
        return self.rows * self.width + 2 * self.sections + 1


@dataclass(frozen=True, slots=True)
class FingerprintRange:
    """Range `number` of 2**bits equal ones of all fingerprints."""

    bits: int
    number: int

    def sections_of(self, bits: int) -> tuple[int, int]:
        """The first and the end of the sections that hold it, of 2**bits."""
        if bits >= self.bits:
            return self.number << bits - self.bits, self.number + 1 << bits - self.bits
        section = self.number >> self.bits - bits
        return section, section + 1

    def within(self, firsts: NDArray[np.uint64]) -> slice:
        """The slice that the range covers in sorted first words of fingerprints."""
        low = self.number << _BITS - self.bits
        high = self.number + 1 << _BITS - self.bits
        start = int(np.searchsorted(firsts, np.uint64(low)))
        return slice(start, len(firsts) if high >> _BITS else int(np.searchsorted(firsts, np.uint64(high))))


def first_words(rows: Words) -> NDArray[np.uint64]:
    """The first word of each row."""
    return np.ascontiguousarray(rows[:, 0]).view(np.uint64)


def section_bits(rows: int) -> int:
    """2**bits sections suit a file of so many rows."""
    return min(_SECTIONS_BITS_MAX, (rows >> _SECTION_ROWS_BITS).bit_length())


def range_starts(firsts: NDArray[np.uint64], bits: int) -> list[int]:
    """The index at which each of 2**bits ranges begins among sorted first words, then the number of words."""
    lows = np.arange(1, 1 << bits, dtype=np.uint64) << np.uint64(_BITS - bits if bits else 0)
    return [0, *np.searchsorted(firsts, lows).tolist(), len(firsts)]


def write_sections(store: ShardStore, name: str, width: int, sections: Sequence[Words]) -> SectionFile:
    """Write rows, section by section."""
    starts = [0, *accumulate(len(rows) for rows in sections)]
    sums = []
    with store.writing(name) as out:
        for start, rows in zip(starts, sections, strict=False):
            words = np.ascontiguousarray(rows).reshape(-1)
            sums.append(signed(checksum(address_of(words), len(words), start * width)))
            if len(words):
                out.write(words)
        table = np.array([*starts, *sums], np.int64)
        out.write(table)
    table_sum = checksum(address_of(table), len(table), starts[-1] * width)
    return SectionFile(name, width, starts[-1], len(sections), table_sum)


def write_in_ranges(store: ShardStore, name: str, rows: Words) -> SectionFile:
    """Write rows that begin with fingerprints and are in their order."""
    starts = range_starts(first_words(rows), section_bits(len(rows)))
    sections = [rows[start:end] for start, end in pairwise(starts)]
    return write_sections(store, name, rows.shape[1], sections)


def read_sections(store: ShardStore, file: SectionFile, first: int = 0, end: int | None = None) -> Words:
    """The rows of the sections from `first` to `end`; SystemFault KMC551 if they differ from those that were
    written.
    """
    words = store.read(file.name, file.words)
    offset = file.rows * file.width
    if checksum(words.address + offset * WORD_BYTES, 2 * file.sections + 1, offset) != file.checksum:
        raise damaged(Path(file.name), "its checksum is wrong")
    array = words.array
    table = array[offset:]
    end = file.sections if end is None else end
    starts = table[first : end + 1].tolist()
    sums = table[file.sections + 1 + first : file.sections + 1 + end].tolist()
    for low, high, wanted in zip(starts, starts[1:], sums, strict=False):
        at = low * file.width
        if signed(checksum(words.address + at * WORD_BYTES, (high - low) * file.width, at)) != wanted:
            raise damaged(Path(file.name), "its checksum is wrong")
    return array[starts[0] * file.width : starts[-1] * file.width].reshape(-1, file.width)


def read_range(store: ShardStore, file: SectionFile, wanted: FingerprintRange) -> Words:
    """The rows whose fingerprints lie in a range."""
    rows = read_sections(store, file, *wanted.sections_of(file.sections.bit_length() - 1))
    return rows[wanted.within(first_words(rows))]
