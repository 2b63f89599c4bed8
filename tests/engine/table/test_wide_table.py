"""The table of fingerprints of two words: each once, whatever threads and words, also while it grows in place."""

from __future__ import annotations

import ctypes
import random
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from support.kernels.grid import address

from kmc.engine.layout.frontier import signed
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.loops.fingerprint_table_128 import (
    best_rank_wide,
    contains_wide,
    insert_wide,
    lower_rank_wide,
    ranked_slot_wide,
)
from kmc.engine.native.intrinsics import load
from kmc.engine.native.memory import Memory
from kmc.engine.native.threads import WorkerPool
from kmc.engine.native.words import Address, Fingerprint, Slot
from kmc.engine.stores import fingerprint_table as tables
from kmc.engine.stores.fingerprint_table import FingerprintTable

Pairs = list[tuple[int, int]]


@NativeLoop
def insert_all(table: Address, slots: int, pairs: int, count: int) -> int:
    """Insert pairs of words; how many were new."""
    new = 0
    for index in range(0, 2 * count, 2):
        new += insert_wide(table, slots, Fingerprint(load(pairs, index)), load(pairs, index + 1))
    return new


@NativeLoop
def contained(table: Address, slots: int, pairs: int, count: int) -> int:
    """How many of the pairs the table holds."""
    found = 0
    for index in range(0, 2 * count, 2):
        found += contains_wide(table, slots, Fingerprint(load(pairs, index)), load(pairs, index + 1))
    return found


@NativeLoop
def rank_all(table: Address, slots: int, pairs: int, count: int) -> int:
    """Insert pairs into the table of a level, with the second word as their rank; how many were new."""
    new = 0
    for index in range(0, 2 * count, 2):
        slot = ranked_slot_wide(table, slots, Fingerprint(load(pairs, index)), load(pairs, index + 1))
        new += 1 if slot < 0 else 0
        lower_rank_wide(table, Slot(-1 - slot if slot < 0 else slot), load(pairs, index + 1))
    return new


@NativeLoop
def well_ranked(table: Address, slots: int, pairs: int, count: int) -> int:
    """How many pairs have their second word as their best rank."""
    found = 0
    for index in range(0, 2 * count, 2):
        second = load(pairs, index + 1)
        found += 1 if best_rank_wide(table, slots, Fingerprint(load(pairs, index)), second) == second else 0
    return found


@NativeLoop
def lowered(table: Address, slots: int, ranks: int, count: int) -> int:
    """Lower the rank of one fingerprint to each of the words; the answers as digits of base 3."""
    answers = 0
    for index in range(count):
        slot = ranked_slot_wide(table, slots, Fingerprint(7), 8)
        answers = 3 * answers + lower_rank_wide(table, Slot(-1 - slot if slot < 0 else slot), load(ranks, index))
    return answers


def call(kernel: Any, table: FingerprintTable, words: Iterable[int], count: int) -> int:
    """Run a kernel on a table and `count` items of words."""
    signed_words = [signed(word) for word in words]
    memory = Memory(len(signed_words))
    memory.array[:] = np.array(signed_words, np.int64)
    function: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(address(kernel))
    return function(table.address, table.slots, memory.address, count)


def call_pairs(kernel: Any, table: FingerprintTable, pairs: Pairs) -> int:
    """Run a kernel on a table and pairs."""
    return call(kernel, table, [word for pair in pairs for word in pair], len(pairs))


def held(table: FingerprintTable) -> Pairs:
    """All that a table holds, in order."""
    return sorted((int(first), int(second)) for first, second in table.entries(0, table.slots))


def grow(table: FingerprintTable, count: int, threads: int = 1) -> None:
    """Let a table grow."""
    table.grow(count, WorkerPool(threads, lambda: None, lambda: None))


ROUNDS = 10
"""Threads meet at a slot by chance only."""

EDGE_ROUNDS = 5


@pytest.mark.parametrize(("put", "ranked"), [(insert_all, False), (rank_all, True)])
@pytest.mark.parametrize("firsts", [1, 7, 100_000])
def test_threads_that_insert_the_same_pairs_insert_each_once(put: Any, ranked: bool, firsts: int) -> None:
    chosen = np.random.default_rng(firsts)
    count = 1_000 if firsts == 1 else 3_000
    pairs = np.stack([chosen.integers(1, firsts + 1, count), np.arange(1, count + 1)], axis=1)
    memories = [Memory(2 * count) for _ in range(4)]
    for _ in range(ROUNDS):
        for memory in memories:
            memory.array[:] = chosen.permutation(pairs).reshape(-1)
        table = FingerprintTable(4 * count, ranked=ranked, wide=True)
        assert sum(inserted_at_once(put, table, memories)) == count
        assert inserted_at_once(put, table, memories[:1]) == [0]


def inserted_at_once(put: Any, table: FingerprintTable, memories: list[Memory]) -> list[int]:
    """How many of the pairs in each memory were new, when a thread for each inserts them."""
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(address(put))
    gate = threading.Barrier(len(memories))
    new: list[int] = []

    def insert(memory: Memory) -> None:
        gate.wait()
        new.append(call(table.address, table.slots, memory.address, memory.words // 2))

    threads = [threading.Thread(target=insert, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return new


def test_a_pair_that_shares_a_word_is_not_contained() -> None:
    table = FingerprintTable(64, wide=True)
    assert call_pairs(insert_all, table, [(5, 1)]) == 1
    assert [call_pairs(contained, table, [pair]) for pair in [(5, 2), (5, 1), (6, 1), (1, 5)]] == [0, 1, 0, 0]


@pytest.mark.parametrize("first", [1, 1 << 63, (1 << 64) - 1])
def test_pairs_with_one_first_word_fill_a_table_up_to_its_last_slot(first: int) -> None:
    # They have one home: the first line, one in the middle, or the last, from where they go on at the first.
    table = FingerprintTable(64, wide=True)
    pairs = [(first, second) for second in range(1, 64)]
    assert [call_pairs(insert_all, table, [pair]) for pair in pairs] == [1] * 63
    assert [call_pairs(insert_all, table, [pair]) for pair in pairs] == [0] * 63
    assert call_pairs(contained, table, pairs) == 63
    assert call_pairs(contained, table, [(first, 64), (first - 1 or 2, 1)]) == 0
    assert held(table) == [(signed(first), second) for second in range(1, 64)]


@pytest.mark.parametrize("first", [1, 1 << 63, (1 << 64) - 1])
def test_pairs_with_one_first_word_have_ranks_of_their_own(first: int) -> None:
    table = FingerprintTable(64, ranked=True, wide=True)
    pairs = [(first, second) for second in range(1, 65)]
    assert [call_pairs(rank_all, table, [pair]) for pair in pairs] == [1] * 64
    assert call_pairs(well_ranked, table, pairs) == 64
    assert call_pairs(rank_all, table, pairs) == 0


def test_a_rank_is_the_least_so_far_or_equal_to_it_or_neither() -> None:
    ranks = [9, 9, 12, 4, (1 << 64) - 2, 4, 9]
    answers = call(lowered, FingerprintTable(64, ranked=True, wide=True), ranks, len(ranks))
    assert np.base_repr(answers, 3) == "1201020"  # 1 is LEAST, 2 is EQUAL


def drawn(count: int, seed: int) -> Pairs:
    """Different pairs: most with a first word of their own, some that share it, some that belong to the last slots."""
    chosen = random.Random(seed)
    firsts = [1, 2, *(chosen.getrandbits(64) | 1 for _ in range(count * 8 // 10))]
    firsts += [chosen.choice(firsts) for _ in range(count // 10)]
    firsts += [(1 << 64) - 1 - chosen.getrandbits(44) for _ in range(count - len(firsts))]
    chosen.shuffle(firsts)
    return [(first, chosen.getrandbits(32) << 32 | number) for number, first in enumerate(firsts, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("small", [64, 1 << 18])
def test_nothing_is_lost_by_growing(monkeypatch: pytest.MonkeyPatch, threads: int, small: int) -> None:
    # A table beyond the small ones is moved in ranges of any size, each by all threads.
    monkeypatch.setattr(tables, "_SMALL_SLOTS", small)
    table, pairs = FingerprintTable(64, wide=True), drawn(60_000, threads)
    put = 0
    for count in (38, 900, 20_000, 60_000):
        grow(table, count, threads)
        assert call_pairs(insert_all, table, pairs[put:count]) == count - put
        put = count
    grow(table, 70_000, threads)
    assert held(table) == sorted((signed(first), signed(second)) for first, second in pairs)
    assert call_pairs(contained, table, pairs) == len(pairs)
    assert call_pairs(insert_all, table, pairs) == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_pairs_behind_a_full_line_at_the_edge_of_a_range_survive_growing(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    # Their home is below the range, among fingerprints that are still to be moved.
    monkeypatch.setattr(tables, "_SMALL_SLOTS", 64)
    monkeypatch.setattr(tables, "_LAST_RANGE_SLOTS", 64)
    for seed in range(EDGE_ROUNDS):
        table = FingerprintTable(3_000, wide=True)
        pairs = drawn(table.limit, seed)
        assert call_pairs(insert_all, table, pairs) == len(pairs)
        grow(table, table.limit + 1, threads)
        assert call_pairs(contained, table, pairs) == len(pairs)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("small", [64, 1 << 18])
def test_no_rank_is_lost_by_growing(monkeypatch: pytest.MonkeyPatch, threads: int, small: int) -> None:
    monkeypatch.setattr(tables, "_SMALL_SLOTS", small)
    table, pairs = FingerprintTable(64, ranked=True, wide=True), drawn(30_000, threads)
    put = 0
    for count in (38, 900, 30_000):
        grow(table, count, threads)
        assert call_pairs(rank_all, table, pairs[put:count]) == count - put
        put = count
    grow(table, 40_000, threads)
    assert call_pairs(well_ranked, table, pairs) == len(pairs)
    assert call_pairs(rank_all, table, pairs) == 0


@pytest.mark.parametrize("put", [insert_all, rank_all])
def test_growing_puts_little_aside(monkeypatch: pytest.MonkeyPatch, put: Any) -> None:
    plans: list[Any] = []
    run: Callable[..., None] = FingerprintTable._run

    def recorded(*given: Any) -> None:
        plans.append(given[3])
        run(*given)

    monkeypatch.setattr(FingerprintTable, "_run", recorded)
    chosen = random.Random(5)
    table = FingerprintTable(1 << 19, wide=True, ranked=put is rank_all)
    pairs = [(chosen.getrandbits(64) | 1, chosen.getrandbits(64) | 1) for _ in range(300_000)]
    assert call_pairs(put, table, pairs) == len(pairs)
    grow(table, 400_000)
    assert 0 < plans[-1].aside_count < 2_300
