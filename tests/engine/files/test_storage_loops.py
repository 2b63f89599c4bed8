"""What loops between memory and files compute: checksums, the fingerprints of a level, and a table filled again."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.frontier import signed
from kmc.engine.layout.packed_rows import DEAD
from kmc.engine.loops.checksums import checksum, run_storing
from kmc.engine.loops.compiled_loops import storing_loop
from kmc.engine.loops.storage import StorageTask
from kmc.engine.native.memory import Memory
from kmc.engine.native.threads import WorkerPool
from kmc.engine.stores.fingerprint_table import FingerprintTable

MASK = (1 << 64) - 1


def memory_of(words: list[int]) -> Memory:
    """Memory that holds these words."""
    memory = Memory(len(words))
    memory.array[:] = np.array([signed(word & MASK) for word in words], np.int64)
    return memory


def sum_of_mixed(words: list[int], place: int) -> int:
    """The checksum that files hold, in Python."""
    found = 0
    for index, word in enumerate(words, place):
        stirred = ((word & MASK) ^ (index + 1) * -7046029254386353131 & MASK) * -4658895280553007687 & MASK
        found += stirred ^ stirred >> 32
    return found & MASK


WORDS = [0, 1, -1, 1 << 62, -(1 << 63), 12345, 0]


@pytest.mark.parametrize("place", [0, 1, 1 << 40])
def test_a_checksum_is_the_one_that_saved_files_hold(place: int) -> None:
    memory = memory_of(WORDS)
    assert checksum(memory.address, len(WORDS), place) == sum_of_mixed(WORDS, place)
    assert checksum(memory.address, 0, place) == 0


def test_checksums_of_parts_add_up() -> None:
    memory = memory_of(WORDS)
    parts = checksum(memory.address, 3, 5) + checksum(memory.address + 3 * 8, 4, 8)
    assert parts & MASK == checksum(memory.address, 7, 5)


def test_a_loop_adds_to_the_result_of_its_task() -> None:
    memory, table = memory_of([4, 5]), FingerprintTable(64)
    task = StorageTask.of(Memory(StorageTask.WORDS))
    task.source, task.count, task.target, task.slots, task.result = memory.address, 2, table.address, table.slots, 100
    storing_loop("admit")(task, 0)
    assert task.result == 102
    storing_loop("total")(task, 0)
    assert task.result & MASK == 102 + sum_of_mixed([4, 5], 0) & MASK


def packed_rows(rows: list[tuple[int, list[int], bool]]) -> Memory:
    """A chunk of rows, all of whose words are plain; each is a fingerprint, words and whether it is dead."""
    packed = b"".join(
        struct.pack(f"<BQ{len(words)}q", len(words) | DEAD * dead, fingerprint, *words)
        for fingerprint, words, dead in rows
    )
    memory = Memory(-(-len(packed) // 8))
    memory.array.view(np.uint8)[: len(packed)] = np.frombuffer(packed, np.uint8)
    return memory


@pytest.mark.parametrize("wide", [False, True])
def test_the_fingerprints_of_a_level_stand_at_the_ordinals_of_their_rows(wide: bool) -> None:
    chunks = [
        packed_rows([(MASK, [21, 7], False), (12, [22], True), (13, [23, 7, 7], False)]),
        packed_rows([(14, [24, 7, 7], True), (15, [-25], False)]),
    ]
    starts = [[chunks[0].address, 3, 100], [chunks[1].address, 2, 103], [0, 1, 105]]
    table = memory_of([word for start in starts for word in start])
    shared = Shared.of(Memory(Shared.WORDS))
    shared.plain_words = 3
    target = Memory(12)
    target.array[:] = -9
    run_storing(
        "collect_wide" if wide else "collect",
        source=table.address,
        count=2,
        first=100,
        target=target.address,
        shared=shared,
    )
    pairs = [[-1, 21], [0, 0], [13, 23], [0, 0], [15, -25]]
    found = target.array.tolist()
    if wide:
        assert found == [*(word for pair in pairs for word in pair), -9, -9]
    else:
        assert found == [*(first for first, _ in pairs), *[-9] * 7]


@pytest.mark.parametrize("wide", [False, True])
def test_fingerprints_that_are_admitted_are_in_the_table_and_counted_once(wide: bool) -> None:
    pairs = [(5, 1), (0, 0), (MASK, 2), (5, 1), (0, 0), (5, 3), (6, 9)]
    table = FingerprintTable(64, wide=wide)
    memory = memory_of([word for pair in pairs for word in (pair if wide else pair[:1])])

    def admit(count: int) -> int:
        name = "admit_wide" if wide else "admit"
        return run_storing(name, source=memory.address, count=count, target=table.address, slots=table.slots)

    # The last one is behind the count. With one word, the third that begins with 5 is the first one again.
    expected = [[5, 1], [5, 3], [-1, 2]] if wide else [[5], [-1]]
    assert [admit(6), admit(6)] == [len(expected), 0]
    assert sorted(table.entries(0, table.slots).tolist()) == sorted(expected)


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True])
def test_threads_that_admit_the_same_fingerprints_count_each_once(wide: bool) -> None:
    # Whoever comes later finds the lines in the cache and catches up, so that threads meet at the same slots.
    count, chosen = 300_000, random.Random(4)
    memory = memory_of([chosen.getrandbits(64) | 1 for _ in range(count * (1 + wide))])
    table = FingerprintTable(1 << 20, wide=wide)

    def admit(_: int) -> int:
        name = "admit_wide" if wide else "admit"
        return run_storing(name, source=memory.address, count=count, target=table.address, slots=table.slots)

    assert sum(WorkerPool(4, lambda: None, lambda: None).run(admit)) == count
