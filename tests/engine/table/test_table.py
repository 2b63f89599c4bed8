"""The fingerprint table keeps what it holds while it grows in place, on any number of threads."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kernels.grid import address

from kmc.checking.level_trend import TABLE_BYTES
from kmc.engine.layout.frontier import signed
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.loops.fingerprint_table_64 import best_rank, contains, insert, lower_rank, ranked_slot
from kmc.engine.loops.fingerprint_table_128 import insert_wide
from kmc.engine.native.intrinsics import inlined, load
from kmc.engine.native.memory import Memory
from kmc.engine.native.threads import WorkerPool
from kmc.engine.native.words import Address, Fingerprint, Slot
from kmc.engine.stores import fingerprint_table as tables
from kmc.engine.stores.fingerprint_table import FingerprintTable, target_table

FINGERPRINTS = st.integers(1, (1 << 64) - 1)
CROWDED = st.integers((1 << 64) - 5_000, (1 << 64) - 1)


@NativeLoop
def insert_all(table: Address, slots: int, words: int, count: int) -> int:
    """Insert words; how many were new."""
    new = 0
    for index in range(count):
        new += insert(table, slots, Fingerprint(load(words, index)), 0)
    return new


@NativeLoop
def insert_all_wide(table: Address, slots: int, words: int, count: int) -> int:
    """Insert fingerprints of two words; how many were new."""
    new = 0
    for index in range(0, 2 * count, 2):
        new += insert_wide(table, slots, Fingerprint(load(words, index)), load(words, index + 1))
    return new


@NativeLoop
def contained(table: Address, slots: int, words: int, count: int) -> int:
    """How many of the words the table holds."""
    found = 0
    for index in range(count):
        found += contains(table, slots, Fingerprint(load(words, index)))
    return found


@NativeLoop
def rank_all(table: Address, slots: int, words: int, count: int) -> int:
    """Insert words into the table of a level, each with itself as its rank; how many were new."""
    new = 0
    for index in range(count):
        slot = ranked_slot(table, slots, Fingerprint(load(words, index)), 0)
        new += 1 if slot < 0 else 0
        lower_rank(table, Slot(-1 - slot if slot < 0 else slot), load(words, index), 0)
    return new


@inlined
def lowered_ranks(table: Address, slots: int, words: int, count: int, alone: int) -> int:
    """Lower the rank of the fingerprint 7 to each of the words; the answers as digits of base 3."""
    answers = 0
    for index in range(count):
        slot = ranked_slot(table, slots, Fingerprint(7), alone)
        answers = 3 * answers + lower_rank(table, Slot(-1 - slot if slot < 0 else slot), load(words, index), alone)
    return answers


@NativeLoop
def lowered(table: Address, slots: int, words: int, count: int) -> int:
    """`lowered_ranks` where other threads may write to the table."""
    return lowered_ranks(table, slots, words, count, 0)


@NativeLoop
def lowered_alone(table: Address, slots: int, words: int, count: int) -> int:
    """`lowered_ranks` where no other thread writes to the table."""
    return lowered_ranks(table, slots, words, count, 1)


@NativeLoop
def well_ranked(table: Address, slots: int, words: int, count: int) -> int:
    """How many words have themselves as their best rank."""
    found = 0
    for index in range(count):
        found += 1 if best_rank(table, slots, Fingerprint(load(words, index))) == load(words, index) else 0
    return found


def call(kernel: Any, table: FingerprintTable, words: Sequence[int]) -> int:
    """Run a kernel on a table and words."""
    memory = Memory(len(words))
    memory.array[:] = np.array([signed(word) for word in words], np.int64)
    function: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(address(kernel))
    return function(table.address, table.slots, memory.address, len(words))


def grow(table: FingerprintTable, count: int, threads: int = 1) -> None:
    """Let a table grow."""
    table.grow(count, WorkerPool(threads, lambda: None, lambda: None))


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(("put", "there"), [(insert_all, contained), (rank_all, well_ranked)])
def test_nothing_is_lost_by_growing(monkeypatch: pytest.MonkeyPatch, threads: int, put: Any, there: Any) -> None:
    monkeypatch.setattr(tables, "_SMALL_SLOTS", 64)
    chosen = random.Random(threads)
    table = FingerprintTable(64, ranked=put is rank_all)
    words: list[int] = []
    for count in (40, 1_000, 30_000, 200_000):
        grow(table, count, threads)
        more = [chosen.getrandbits(64) | 1 for _ in range(count - len(words))]
        assert call(put, table, more) == len(more)
        words += more
        assert call(there, table, words) == call(there, table, words[::-1]) == count
    grow(table, 300_000, threads)
    assert call(there, table, words) == len(words)
    assert call(put, table, words) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("put", "wide"), [(insert_all, False), (insert_all_wide, True)])
def test_threads_that_insert_the_same_fingerprints_count_each_once(put: Any, wide: bool) -> None:
    # Whoever comes later finds the lines in the cache and catches up, so that threads meet at the same slots.
    count = 300_000
    chosen = random.Random(3)
    table = FingerprintTable(1 << 20, wide=wide)
    memory = Memory(count * (1 + wide))
    memory.array[:] = np.array([signed(chosen.getrandbits(64) | 1) for _ in range(memory.words)], np.int64)
    pool = WorkerPool(4, lambda: None, lambda: None)
    assert sum(pool.run(lambda _: put(table.address, table.slots, memory.address, count))) == count


@pytest.mark.parametrize(("put", "most"), [(insert_all, 3_900), (rank_all, 2_100)])
def test_growing_puts_little_aside(monkeypatch: pytest.MonkeyPatch, put: Any, most: int) -> None:
    plans: list[Any] = []
    run: Callable[..., None] = FingerprintTable._run

    def recorded(*given: Any) -> None:
        plans.append(given[3])
        run(*given)

    monkeypatch.setattr(FingerprintTable, "_run", recorded)
    chosen = random.Random(5)
    table = FingerprintTable(1 << 19, ranked=put is rank_all)
    words = [chosen.getrandbits(64) | 1 for _ in range(300_000)]
    assert call(put, table, words) == len(words)
    grow(table, 400_000)
    # About one in a hundred; a thousandth more already means that lines are given up which a thread could fill.
    assert 0 < plans[-1].aside_count < most


@pytest.mark.slow
@given(st.sets(st.one_of(CROWDED, FINGERPRINTS, st.integers(1, 5_000)), min_size=1, max_size=300))
def test_crowded_fingerprints_survive_growing(words: set[int]) -> None:
    # The largest and the smallest have one home each: long clusters, one of which goes on at the first slot.
    table = FingerprintTable(2)
    put: list[int] = []
    for word in sorted(words, key=lambda word: word * 0x9E3779B97F4A7C15 % (1 << 64)):
        grow(table, len(put) + 1)
        assert call(insert_all, table, [word]) == 1
        put.append(word)
    assert call(contained, table, put) == len(put)
    assert call(insert_all, table, put) == 0


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("put", "there"), [(insert_all, contained), (rank_all, well_ranked)])
def test_a_cluster_that_goes_on_at_the_first_slot_survives_growing(
    monkeypatch: pytest.MonkeyPatch, threads: int, put: Any, there: Any
) -> None:
    # The table is moved in many ranges, so that the lines where these belong are filled before their slots are read.
    monkeypatch.setattr(tables, "_SMALL_SLOTS", 64)
    chosen = random.Random(threads)
    table = FingerprintTable(1 << 16, ranked=put is rank_all)
    words = [chosen.getrandbits(64) | 1 for _ in range(30_000)]
    words += [(1 << 64) - 1 - chosen.getrandbits(44) for _ in range(3_000)]
    assert call(put, table, words) == len(words)
    for count in (45_000, 80_000):
        grow(table, count, threads)
        assert call(there, table, words) == len(words)
    assert call(put, table, words) == 0


@pytest.mark.parametrize("loop", [lowered, lowered_alone], ids=["shared", "alone"])
def test_a_rank_is_the_least_so_far_or_equal_to_it_or_neither(loop: NativeLoop) -> None:
    answers = call(loop, FingerprintTable(64, ranked=True), [9, 9, 12, 4, (1 << 64) - 2, 4, 9])
    assert np.base_repr(answers, 3) == "1201020"  # 1 is LEAST, 2 is EQUAL


def test_a_table_is_at_most_five_eighths_full() -> None:
    table = FingerprintTable(2)
    for count in (1, 2, 10, 1_000, 100_000, 700_000):
        grow(table, count)
        assert count <= table.limit <= 5 / 8 * table.slots < table.slots


def test_a_table_that_has_just_grown_takes_the_bytes_that_forecasts_assume() -> None:
    table = FingerprintTable(1 << 20)
    count = table.limit + 1
    grow(table, count)
    assert table.bytes / count == pytest.approx(TABLE_BYTES, rel=1e-3)


@pytest.mark.slow
@given(st.sets(st.one_of(CROWDED, FINGERPRINTS), max_size=50), st.sets(FINGERPRINTS, max_size=50))
def test_targets_are_found_and_nothing_else(targets: set[int], others: set[int]) -> None:
    memory = target_table(targets)
    table = FingerprintTable(memory.words)
    ctypes.memmove(table.address, memory.address, 8 * memory.words)
    assert call(contained, table, sorted(targets)) == len(targets)
    assert call(contained, table, sorted(others - targets)) == 0
