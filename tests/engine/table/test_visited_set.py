"""Which states a search knows, whether their fingerprints have one word or two and whether its view forgets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kmc.engine.layout.control_words import RECENT, Shared, Thread
from kmc.engine.layout.frontier import signed
from kmc.engine.layout.record_structs import StateRecord
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.loops.visited_set import (
    ask_for,
    best_in_level,
    forget_recent,
    inserted,
    is_first_of_batch,
    is_known,
    known_slot,
    may_be_new,
    rank_in_level,
    slot_in_level,
)
from kmc.engine.native.memory import Memory
from kmc.engine.native.specialization import Specialization
from kmc.engine.native.words import Slot
from kmc.engine.stores.fingerprint_table import FingerprintTable

Fingerprint = tuple[int, int]

# One first word alone, one that two share, and two whose home is the last one.
FINGERPRINTS: list[Fingerprint] = [(5, 1), (1 << 40, 1), (1 << 40, 2), ((1 << 64) - 2, 3), ((1 << 64) - 1, 3)]


def make_known(shared: Shared, record: StateRecord, _: int) -> int:
    """Put a record into the table of earlier levels."""
    return inserted(shared, shared.known, shared.known_slots, record)


def insert_in_table(shared: Shared, record: StateRecord, _: int) -> int:
    """Put a record into the table that takes what a level finds."""
    ask_for(shared, record)
    return inserted(shared, shared.table, shared.slots, record)


def known(shared: Shared, record: StateRecord, _: int) -> int:
    """`is_known`, to be called from Python."""
    return is_known(shared, record)


def possibly_new(shared: Shared, record: StateRecord, _: int) -> int:
    """`may_be_new`, to be called from Python."""
    thread = Thread(shared + Shared.BYTES)
    return may_be_new(shared, thread, record, known_slot(shared, record))


def note_rank(shared: Shared, record: StateRecord, rank: int) -> int:
    """Note a rank of a record: `rank_in_level`, and 10 more if the record was new in the level."""
    ask_for(shared, record)
    slot = slot_in_level(shared, record)
    return 10 + rank_in_level(shared, Slot(-1 - slot), rank) if slot < 0 else rank_in_level(shared, Slot(slot), rank)


def best_rank(shared: Shared, record: StateRecord, _: int) -> int:
    """`best_in_level`, to be called from Python."""
    return best_in_level(shared, record)


class Visited:
    """The tables of a search, and what its loops say about records."""

    def __init__(self, *, wide: bool, ranked: bool, alone: bool = True) -> None:
        self._specialization = Specialization(wide=wide, ranked=ranked)
        self._table = FingerprintTable(64, wide=wide, ranked=ranked)
        self._known = FingerprintTable(128, wide=wide)
        self._memory, self._recent = Memory(Shared.WORDS + Thread.WORDS), Memory(2 * RECENT)
        shared = Shared.of(self._memory)
        Thread(shared + Shared.BYTES).recent = self._recent.address
        shared.table, shared.slots, shared.alone = self._table.address, self._table.slots, alone
        shared.known, shared.known_slots = self._known.address, self._known.slots
        self._shared = shared

    def __call__(
        self, question: Callable[[Shared, StateRecord, int], int], fingerprints: list[Fingerprint], rank: int = 0
    ) -> list[int]:
        """The answers for records with these fingerprints, one after another."""
        loop, record = NativeLoop(question, self._specialization), Memory(StateRecord.WORDS)
        answers = []
        for first, second in fingerprints:
            record.array[:3] = np.array([1, signed(first), second], np.int64)
            answers.append(loop(self._shared, record.address, rank))
        return answers


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("ranked", [False, True])
def test_states_of_earlier_levels_are_known_and_no_others(wide: bool, ranked: bool) -> None:
    visited = Visited(wide=wide, ranked=ranked)
    put = FINGERPRINTS[:2] + FINGERPRINTS[3:4]
    assert visited(known, FINGERPRINTS) == [0] * 5
    assert visited(make_known, put) == [1] * 3
    # With one word, the third has the fingerprint of the second.
    assert visited(known, FINGERPRINTS) == [1, 1, 0 if wide else 1, 1, 0]


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_each_fingerprint_is_inserted_once(wide: bool, alone: bool) -> None:
    visited = Visited(wide=wide, ranked=False, alone=alone)
    assert visited(insert_in_table, FINGERPRINTS) == [1, 1, 1 if wide else 0, 1, 1]
    assert visited(insert_in_table, FINGERPRINTS) == [0] * 5


@pytest.mark.parametrize("wide", [False, True])
def test_a_state_that_is_not_in_the_table_may_be_new(wide: bool) -> None:
    visited = Visited(wide=wide, ranked=False)
    visited(insert_in_table, FINGERPRINTS[:1])
    # With two words, every record that the batch has not had is looked up by `inserted`.
    assert visited(possibly_new, FINGERPRINTS) == [1 if wide else 0, 1, 1 if wide else 0, 1, 1]
    assert visited(possibly_new, FINGERPRINTS[3:]) == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True])
def test_the_best_rank_of_a_state_is_the_least_that_was_noted(wide: bool) -> None:
    visited = Visited(wide=wide, ranked=True)
    least, equal, neither, new = 1, 2, 0, 10
    assert (
        visited(note_rank, FINGERPRINTS, 40)
        == [new + least, new + least, new + least if wide else equal] + [new + least] * 2
    )
    assert visited(note_rank, FINGERPRINTS[2:3], 30) == [least]
    assert visited(note_rank, FINGERPRINTS, 35) == [least, least if wide else neither, neither, least, least]
    assert visited(best_rank, FINGERPRINTS) == [35, 35 if wide else 30, 30, 35, 35]


def first_of_batch(thread: Thread, record: StateRecord) -> int:
    """`is_first_of_batch`, to be called from Python."""
    return is_first_of_batch(thread, record)


def forget(thread: Thread, _: StateRecord) -> int:
    """`forget_recent`, to be called from Python."""
    forget_recent(thread)
    return 0


OTHER = 7


@pytest.mark.parametrize("wide", [False, True])
def test_a_fingerprint_is_dropped_only_if_its_batch_had_all_of_it(wide: bool) -> None:
    memory, recent, record = Memory(Thread.WORDS), Memory(2 * RECENT), Memory(StateRecord.WORDS)
    Thread.of(memory).recent, recent.array[:] = recent.address, OTHER
    is_first, start = (NativeLoop(part, Specialization(wide=wide)) for part in (first_of_batch, forget))

    def answers(fingerprints: list[Fingerprint]) -> list[int]:
        given = []
        for first, second in fingerprints:
            record.array[:3] = np.array([1, signed(first), second], np.int64)
            given.append(is_first(memory.address, record.address))
        return given

    # The second and the third have one place; the last one's is the last of all.
    others: list[Fingerprint] = [(5, 1), (5 + RECENT, 1), (5 + 2 * RECENT, 1), ((1 << 64) - 1, 3)]
    assert answers(others) == [1] * 4
    assert answers([(5 + 2 * RECENT, 1), ((1 << 64) - 1, 3)]) == [0, 0]
    assert answers([(5 + 2 * RECENT, 2), ((1 << 64) - 1, 4)]) == ([1, 1] if wide else [0, 0])
    # One that was replaced is a candidate once more, and the table decides.
    assert answers(others[:1]) == [1]
    start(memory.address, record.address)
    assert recent.array.tolist() == [0] * (RECENT * (1 + wide)) + [OTHER] * (RECENT * (1 - wide))
    assert answers(others[:1] + others[3:]) == [1, 1]
