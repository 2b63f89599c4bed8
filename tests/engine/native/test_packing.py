"""Packed rows: read back as they were, and exactly as long as their format says.

Every row that a test packs is compared with `expected`, which says in Python what `packed_rows` says in prose.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kernels.grid import address

from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.frontier import UNSIGNED, PackedState, states_words
from kmc.engine.layout.packed_rows import (
    ESCAPED,
    bytes_at,
    codes_at,
    codes_of,
    is_dead,
    length_at,
    mark_dead,
    packed_end,
    unpacked_words,
)
from kmc.engine.layout.record_structs import StateRecord
from kmc.engine.layout.word_dictionary import ESCAPE, Dictionary
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.loops.pack import pack, write_codes
from kmc.engine.loops.unpack import records, records_of, unpack
from kmc.engine.native.memory import Memory, words_at
from kmc.engine.native.translate import llvm_text
from kmc.engine.native.words import Address
from kmc.runtime.native_module import NativeModule
from kmc.runtime.object_code import emit_object

WORDS = st.one_of(st.just(0), st.integers(-9, 9), st.integers(-(1 << 63), (1 << 63) - 1))
BEHIND = 1 << 40 | 77
"""What stands behind a record, and no packing may see."""

ROWS = st.lists(WORDS, max_size=40)
LONG = 1 << 6
"""A length that does not fit into a header."""


@NativeLoop
def packed(shared: Shared, thread: Thread, record: StateRecord, source: StateRecord, target: Address) -> int:
    """`pack`, to be called from Python."""
    return pack(shared, thread, record, source, target)


@NativeLoop
def unpacked(shared: Shared, place: Address, before: StateRecord, record: StateRecord) -> int:
    """`unpack`, to be called from Python."""
    return unpack(shared, place, before, record)


@NativeLoop
def ended(shared: Shared, place: Address) -> int:
    """`packed_end`, to be called from Python."""
    return packed_end(shared, place)


@NativeLoop
def killed(place: Address) -> int:
    """`mark_dead`, to be called from Python."""
    mark_dead(place)
    return 0


@NativeLoop
def dead(place: Address) -> int:
    """`is_dead`, to be called from Python."""
    return is_dead(place)


@NativeLoop
def wanted_words(length: int) -> int:
    """`unpacked_words`, to be called from Python."""
    return unpacked_words(length)


@NativeLoop
def codes_address(record: StateRecord) -> int:
    """`codes_of`, to be called from Python."""
    return codes_of(record)


def call(kernel: Any, *arguments: int) -> int:
    """What a kernel answers."""
    function: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))(address(kernel))
    return function(*arguments)


def memory_of(row: list[int]) -> Memory:
    """The record of a row; its fingerprint may be implied."""
    record = states_words([PackedState(row[0] & UNSIGNED if row else 77, 0, np.array(row, np.int64))], 5)
    memory = Memory(len(record) + 8)
    memory.array[:] = [*record, *[BEHIND] * 8]
    return memory


def has_code(dictionary: Dictionary, word: int) -> bool:
    """Whether a word stands among the eight places from its home on; 0 has a code without that."""
    home = min((word * -7046029254386353131 >> 48) & 0xFFFF, 0xFFFF - 8)
    return word == 0 or word in dictionary.words[home : home + 8].tolist()


def expected(dictionary: Dictionary, before: list[int], row: list[int]) -> tuple[int, int]:
    """The header of a packed row, and its bytes; `before` is the row before it in its chunk."""
    plain = min(dictionary.plain, len(row))
    coded, others = row[plain:], before[dictionary.plain :]
    escaped = [not has_code(dictionary, word) for word in coded]
    changed = [
        escape or index >= len(others) or others[index] != word
        for index, (word, escape) in enumerate(zip(coded, escaped, strict=True))
    ]
    header = min(len(row), LONG - 1) | any(escaped) * ESCAPED
    head = 1 + 4 * (len(row) >= LONG - 1) + 8 * (1 + plain - dictionary.implied)
    return header, head + -(-len(coded) // 8) + 2 * sum(changed) + 8 * sum(escaped)


class Chunk:
    """A chunk that rows are packed into, each with its source, and read back from."""

    def __init__(self, dictionary: Dictionary, words: int) -> None:
        self.dictionary = dictionary
        self._codes, self._last, self._none = Memory(words), Memory(words), Memory(2)
        for memory in (self._codes, self._last):
            memory.array[:] = BEHIND
        self.shared, self._thread = Shared.of(Memory(Shared.WORDS)), Thread.of(Memory(Thread.WORDS))
        self.shared.dictionary, self.shared.plain_words = dictionary.address, dictionary.plain
        self.shared.implied_words = dictionary.implied
        self._thread.codes, self._thread.last_codes = self._codes.address, self._last.address
        self._memory = Memory(words)
        self.places = [self._memory.address]
        self.rows: list[list[int]] = []

    def begin(self) -> None:
        """Begin another chunk behind this one, with all that the thread remembers; this one is forgotten."""
        self._thread.last_count = 0
        self.places, self.rows = self.places[-1:], []

    def add(self, row: list[int], source: Memory | None = None) -> int:
        """Pack a row as the next one, which must be as expected; the bytes that it takes."""
        record, beside = memory_of(row), source or self._none
        end = call(packed, self.shared, self._thread, record.address, beside.address, self.end)
        header, size = expected(self.dictionary, self.rows[-1] if self.rows else [], row)
        if source is not None and any(not has_code(self.dictionary, word) for word in row_of(source)):
            # Codes are copied from it before those of other words are found.
            header |= int(bytes_at(self.end, 1)[0]) & ESCAPED
        assert (int(bytes_at(self.end, 1)[0]), end - self.end) == (header, size)
        self.places.append(Address(end))
        self.rows.append(row)
        return size

    @property
    def end(self) -> int:
        """Where the next row goes."""
        return self.places[-1]

    def awake(self) -> list[Memory]:
        """All records as native loops read them, each from the one before."""
        found, before = [], self._none
        for place, end, length in zip(self.places, self.places[1:], map(len, self.rows), strict=False):
            record = Memory(call(wanted_words, length))
            record.array[:] = BEHIND
            assert call(unpacked, self.shared, place, before.address, record.address) == end
            assert call(ended, self.shared, place) == end
            assert length_at(place) == length
            found.append(record)
            before = record
        return found

    def check(self, rows: list[list[int]]) -> None:
        """Every row comes back, from native loops and from Python."""
        awake = self.awake()
        told = list(records(self.dictionary, self.places[0], len(rows)))
        assert len(awake) == len(told) == len(rows)
        for row, record, other in zip(rows, awake, told, strict=True):
            fingerprint = row[0] & UNSIGNED if row else 77
            assert row_of(record) == row
            assert int(record.array[1]) & UNSIGNED == fingerprint
            self._check_codes(row[self.dictionary.plain :], record)
            assert other is not None
            assert (other.fingerprint, other.action, other.row.tolist()) == (fingerprint, 0, row)

    def _check_codes(self, words: list[int], record: Memory) -> None:
        """An unpacked record has the codes of its words, which a successor is packed by."""
        codes = codes_at(call(codes_address, record.address), len(words))
        coded = [self.dictionary.words[code] if code != ESCAPE else None for code in codes]
        assert coded == [word if has_code(self.dictionary, word) else None for word in words]


def row_of(record: Memory) -> list[int]:
    """The words of an unpacked record."""
    row: list[int] = record.array[2 : 2 + int(record.array[0])].tolist()
    return row


def chunk_of(dictionary: Dictionary, rows: list[list[int]]) -> Chunk:
    """Rows packed one after another, as initial states are."""
    chunk = Chunk(dictionary, 64 + sum(2 * len(row) + 8 for row in rows))
    for row in rows:
        chunk.add(row)
    return chunk


@pytest.mark.slow
@given(st.lists(ROWS, min_size=1, max_size=5), st.integers(0, 3), st.booleans())
def test_rows_come_back_as_they_were(rows: list[list[int]], plain: int, implied: bool) -> None:
    kept = [row for row in rows if row or not implied]
    chunk_of(Dictionary(max(plain, implied), implied), kept).check(kept)


def test_a_first_word_that_is_the_fingerprint_takes_no_place() -> None:
    row = [1 << 60 | number for number in range(25)]
    assert Chunk(Dictionary(1, 1), 99).add(row) == Chunk(Dictionary(1), 99).add(row) - 8


@pytest.mark.slow
def test_rows_come_back_when_the_dictionary_is_full() -> None:
    dictionary = Dictionary(0)
    rows = [list(range(start, start + 500)) for start in range(1, 100_000, 500)]
    chunk = Chunk(dictionary, 200 * 700)
    sizes = [chunk.add(row) for row in rows]
    assert sizes[-1] > 500 * 8 > sizes[0]
    chunk.check(rows)


@pytest.mark.parametrize("plain", [0, 1, 4])
def test_words_that_are_known_take_two_bytes(plain: int) -> None:
    row = [1 << 60 | number for number in range(24)]
    coded = 24 - plain
    assert Chunk(Dictionary(plain), 99).add(row) == 1 + 8 + 8 * plain + -(-coded // 8) + 2 * coded


def test_a_row_like_the_one_before_takes_two_bytes_for_each_word_that_differs() -> None:
    chunk = Chunk(Dictionary(1, 1), 999)
    row = [7, *range(100, 130)]
    chunk.add(row)
    assert chunk.add([8, *row[1:]]) == 1 + 8 + 4
    assert chunk.add([9, 55, *row[2:20], 56, *row[21:]]) == 1 + 8 + 4 + 2 * 2


SIZES = (1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 129)
"""Of rows: around the number of words that are copied, compared and masked at once."""


def similar(length: int, kind: int) -> list[int]:
    """A row of few different words that has most of them from rows of other kinds."""
    return [100 + index % 7 + (index + kind) % 3 for index in range(length)]


@pytest.mark.parametrize("known", [0, *SIZES])
@pytest.mark.parametrize("plain", [0, 2])
def test_rows_of_all_sizes_are_packed_beside_sources_and_behind_rows_of_all_sizes(known: int, plain: int) -> None:
    dictionary = Dictionary(plain)
    (source,) = chunk_of(dictionary, [similar(known, 0)]).awake()
    for before in SIZES:
        for length in SIZES:
            rows = [similar(before, 1), similar(length, 2)]
            chunk = Chunk(dictionary, 999)
            chunk.add(rows[0])
            chunk.add(rows[1], source)
            chunk.check(rows)


@pytest.mark.parametrize("length", SIZES)
def test_a_chunk_can_be_read_without_the_one_before(length: int) -> None:
    row = similar(length, 0)
    chunk = Chunk(Dictionary(0), 9_999)
    (source,) = chunk_of(chunk.dictionary, [row]).awake()
    for beside in (None, source):
        chunk.add(row)
        chunk.add(row)
        chunk.begin()
        # The codes of the row that was packed last are still there, and those of this one are the same.
        chunk.add(row, beside)
        chunk.check([row])
        chunk.add(row, beside)
        chunk.check([row, row])


@pytest.mark.slow
@given(ROWS)
def test_a_packed_record_takes_less_than_the_loops_make_sure_of(row: list[int]) -> None:
    record = 2 + len(row)
    assert Chunk(full_dictionary(0), 999).add(row) <= 8 * (record + record // 2 + 1)


@pytest.mark.parametrize("length", [LONG - 2, LONG - 1, LONG, 5 * LONG])
def test_rows_of_any_length_come_back(length: int) -> None:
    rows = [[1, 2, 3], list(range(length)), [5, *range(1, length)], [1, 2]]
    chunk_of(Dictionary(1, 1), rows[1:]).check(rows[1:])
    chunk_of(Dictionary(2), rows).check(rows)


def test_a_record_that_is_marked_is_left_out_and_the_next_one_comes_back() -> None:
    rows = [[number, *range(50 + number)] for number in range(1, 6)]
    chunk = chunk_of(Dictionary(1, 1), rows)
    for place in (0, 3):
        call(killed, chunk.places[place])
    assert [call(dead, place) != 0 for place in chunk.places[:5]] == [True, False, False, True, False]
    assert [row_of(record) for record in chunk.awake()] == rows
    told = list(records(chunk.dictionary, chunk.places[0], 5))
    assert [record and record.row.tolist() for record in told] == [None, rows[1], rows[2], None, rows[4]]


def test_rows_of_a_level_are_found_by_their_ordinals() -> None:
    dictionary = Dictionary(1, 1)
    rows = [[number + 1, *range(number)] for number in range(12)]
    chunks = [chunk_of(dictionary, rows[first : first + 4]) for first in (0, 4, 8)]
    call(killed, chunks[1].places[1])
    table = np.array([[chunk.places[0], 4, 4 * number] for number, chunk in enumerate(chunks)])
    found = records_of(dictionary, table, [9, 5, 0, 7, 9])
    assert [record.row.tolist() for record in found] == [rows[0], rows[7], rows[9]]
    assert len(records_of(dictionary, table, range(12))) == 11


@cache
def writer(compresses: int) -> NativeModule:
    """`write_codes` for processors with an instruction for it, or without."""
    return NativeModule(emit_object(llvm_text(written, "written", {"COMPRESSES": compresses})), ["written"])


def written(codes: Address, count: int, changed: int, out: Address) -> int:
    """`write_codes`, to be called from Python."""
    write_codes(codes, count, changed, out)
    return 0


@pytest.mark.parametrize("compresses", [0, 1])
@given(count=st.integers(1, 64), mask=st.integers(0, (1 << 64) - 1), shift=st.integers(0, 7))
def test_selected_codes_are_written_one_behind_another_on_all_processors(
    compresses: int, count: int, mask: int, shift: int
) -> None:
    codes, out = Memory(16), Memory(32)
    codes.array.view(np.uint16)[:] = np.arange(900, 964)
    chosen = mask & (1 << count) - 1
    target = out.address + shift
    writer(compresses).call_at("written", [], [codes.address, count, chosen, target])
    wanted = [900 + index for index in range(count) if chosen >> index & 1]
    assert codes_at(target, len(wanted)).tolist() == wanted
    assert bytes_at(out.address, shift).tolist() == [0] * shift
    behind = shift + 2 * len(wanted) + 8 * 8
    assert bytes_at(out.address + behind, 8 * 32 - behind).tolist() == [0] * (8 * 32 - behind)


@cache
def full_dictionary(plain: int) -> Dictionary:
    """A dictionary with hardly a place left."""
    dictionary = Dictionary(plain)
    Chunk(dictionary, 300_000).add(list(range(10, 400_000, 3)))
    return dictionary


@st.composite
def steps(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A row, and one that differs from it in a few words and in its length."""
    source = draw(ROWS)
    kept = source[: draw(st.integers(0, len(source)))] if draw(st.booleans()) else source
    # Beyond 64 words too, which are compared together.
    if draw(st.booleans()):
        source, kept = [[*part, *range(90), *part] for part in (source, kept)]
    changed = {index: draw(WORDS) for index in draw(st.sets(st.integers(0, len(kept)), max_size=4))}
    return source, [changed.get(index, word) for index, word in enumerate(kept)] + draw(st.lists(WORDS, max_size=9))


@pytest.mark.slow
@given(st.lists(steps(), min_size=1, max_size=4), st.integers(0, 3), st.sampled_from(("empty", "crowded", "implied")))
def test_a_successor_rests_as_any_row(pairs: list[tuple[list[int], list[int]]], plain: int, kind: str) -> None:
    dictionary = (
        full_dictionary(plain) if kind == "crowded" else Dictionary(max(plain, kind == "implied"), kind == "implied")
    )
    pairs = [(source, row) for source, row in pairs if kind != "implied" or (source and row)]
    sources = chunk_of(dictionary, [source for source, _ in pairs]).awake()
    beside, alone = Chunk(dictionary, 4000), Chunk(dictionary, 4000)
    for source, (_, row) in zip(sources, pairs, strict=True):
        assert beside.add(row, source) == alone.add(row)
    beside.check([row for _, row in pairs])
    alone.check([row for _, row in pairs])
    assert BEHIND not in words_at(dictionary.address, 1 << 16)
