"""A shard answers which candidates are new, and knows them from now on: compared with a plain set."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from support.runs.shards import Entry, Fingerprint, answer, bits_of, fingerprints_in, store_in, words_of

from kmc.engine.layout.control_words import LINE_WORDS
from kmc.engine.loops.compiled_loops import run_loop
from kmc.engine.loops.sorted_runs import DIGIT_COUNTS, SPREAD_BITS, CandidateSet
from kmc.engine.native.memory import SLACK_WORDS, Memory
from kmc.errors import SystemFault
from kmc.shards.files.store import FolderStore
from kmc.shards.level.merger import Merger, check_run
from kmc.shards.level.sent_sums import received_sum
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import Merged, MergeTask, SortedRun

KINDS = [(False, False), (False, True), (True, False), (True, True)]
LAST = 2**64 - 1


@dataclass
class Shard:
    """A shard beside the set of what it should know."""

    store: FolderStore
    wide: bool = False
    ranked: bool = False
    known: set[Fingerprint] = field(default_factory=set)
    runs: tuple[SortedRun, ...] = ()
    levels: int = 0
    digest: int = 0

    def __post_init__(self) -> None:
        # So small a piece that each run is written in several.
        self._merger = Merger(Sharding(1, piece=3), self.store, wide=self.wide, ranked=self.ranked)

    @property
    def width(self) -> int:
        """The words of a fingerprint."""
        return 1 + self.wide

    def merge(self, tasks: Sequence[Sequence[Entry]], *, stored: bool = True) -> Merged:
        """Merge what tasks sent, and compare all that is answered with the set."""
        self.levels += 1
        merged = self._merger.merge(MergeTask(self.levels, 0, self.runs, stored), [words_of(task) for task in tasks])
        candidates = {entry[: self.width] for task in tasks for entry in task}
        assert bits_of(self.store, merged, [len(task) for task in tasks]) == answer(tasks, self.known, self.width)
        assert merged.received == sum(map(len, tasks))
        assert merged.received_sum == received_sum(np.array([len(task) for task in tasks]), 0)
        assert merged.distinct == len(candidates)
        assert merged.new == len(candidates - self.known)
        # Two words for each task and two that only say where the last one ends, and a bit for each entry.
        answered = 2 * (len(tasks) + 1) + sum(-(-len(task) // 64) for task in tasks) if candidates else 0
        assert (merged.bits.words if merged.bits else 0) == answered
        made = [run.words for run in merged.runs if run not in self.runs]
        assert merged.written_bytes == (answered + sum(made)) * 8
        if stored:
            assert set(merged.replaced) == {run.name for run in self.runs} - {run.name for run in merged.runs}
            self.known |= candidates
            self.runs = merged.runs
            self.digest += merged.digest
        assert merged.runs == self.runs
        self._compare_runs()
        return merged

    def _compare_runs(self) -> None:
        held = [fingerprints_in(self.store, run, self.width) for run in self.runs]
        for run, fingerprints in zip(self.runs, held, strict=True):
            assert fingerprints == sorted(set(fingerprints))
            lines = -(-run.count * self.width // LINE_WORDS) * LINE_WORDS
            assert run.buckets == max(1, run.count // 16)
            assert run.words == lines + SLACK_WORDS + run.buckets + 1
            check_run(run, self.store.read(run.name, run.words))
        assert sorted(entry for run in held for entry in run) == sorted(self.known)


def made(folder: Path, wide: bool = False, ranked: bool = False) -> Shard:
    return Shard(store_in(folder), wide, ranked)


def entries(rng: random.Random, pool: Sequence[int], count: int, words: int, ranked: bool) -> list[Entry]:
    """Entries with words of a small pool, so that many are equal, and equal in the first word only."""
    return [
        (*(rng.choice(pool) for _ in range(words)), *([rng.choice([0, 1, 5, LAST])] if ranked else []))
        for _ in range(count)
    ]


POOLS: dict[str, Callable[[random.Random], list[int]]] = {
    "any": lambda rng: [rng.getrandbits(64) | 1 for _ in range(400)],
    "equal in the high bits": lambda rng: [(7 << 60) + number for number in range(1, 40)],
    "the least and the greatest": lambda rng: [1, 2, 2**63 - 1, 2**63, 2**63 + 1, LAST - 1, LAST],
}


@pytest.mark.parametrize(("wide", "ranked"), KINDS)
@pytest.mark.parametrize("pool", POOLS)
def test_levels_of_candidates_are_answered_as_a_set_does(pool: str, wide: bool, ranked: bool, tmp_path: Path) -> None:
    rng = random.Random(f"{pool} {wide} {ranked}")
    words = POOLS[pool](rng)
    shard = made(tmp_path, wide, ranked)
    for _ in range(12):
        tasks = [entries(rng, words, rng.choice([0, 1, 63, 64, 65, 130]), 1 + wide, ranked) for _ in range(3)]
        shard.merge(tasks)


@pytest.mark.parametrize(("wide", "ranked"), KINDS)
def test_nothing_is_answered_with_nothing(wide: bool, ranked: bool, tmp_path: Path) -> None:
    shard = made(tmp_path, wide, ranked)
    nothing: list[list[list[Entry]]] = [[], [[]], [[], []]]
    for tasks in nothing:
        merged = shard.merge(tasks)
        assert (merged.new, merged.digest, merged.runs) == (0, 0, ())


@pytest.mark.parametrize("wide", [False, True])
def test_runs_are_merged_when_a_newer_one_has_half_their_size(wide: bool, tmp_path: Path) -> None:
    rng = random.Random(7)
    shard = made(tmp_path, wide)

    def grow(count: int) -> list[int]:
        shard.merge([[tuple(rng.getrandbits(64) | 1 for _ in range(1 + wide)) for _ in range(count)]])
        return [run.count for run in shard.runs]

    counts = [640, 320, 160, 80, 40, 20, 10, 5, 2, 1]
    for number, count in enumerate(counts):
        assert grow(count) == counts[: number + 1]
    assert grow(1) == [1279], "each makes the next one due"
    assert grow(639) == [1279, 639]
    assert grow(3) == [1279, 639, 3]
    assert grow(2) == [1279, 639, 5]


def test_candidates_are_found_in_every_run(tmp_path: Path) -> None:
    rng = random.Random(9)
    shard = made(tmp_path)
    for count in (640, 320, 160, 80, 40):
        shard.merge([[(rng.getrandbits(64) | 1,) for _ in range(count)]])
    assert len(shard.runs) == 5
    again = shard.merge([sorted(shard.known), sorted(shard.known, reverse=True)])
    assert (again.new, again.distinct) == (0, len(shard.known))


def test_of_equal_candidates_the_least_rank_counts_and_then_the_first(tmp_path: Path) -> None:
    shard = made(tmp_path, ranked=True)
    merged = shard.merge([[(5, 9), (5, 3), (6, 1)], [(5, 3), (5, LAST), (6, 0)]])
    assert bits_of(shard.store, merged, [3, 3]) == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("count", [0, 1, 5, 700, 5000])
def test_keys_are_sorted_so_far_that_few_are_out_of_order(count: int) -> None:
    # Keys left as they came would give the same answers, in a time that grows with the square of their number.
    keys, spare, counts = Memory(count), Memory(count), Memory(DIGIT_COUNTS)
    rng = random.Random(count)
    keys.array[:count] = np.array([rng.getrandbits(64) for _ in range(count)], np.uint64).view(np.int64)
    came = keys.array[:count].view(np.uint64).tolist()
    task = CandidateSet.of(Memory(CandidateSet.WORDS))
    task.keys, task.spare_keys, task.digit_counts, task.key_count = keys.address, spare.address, counts.address, count
    run_loop("sort_keys", False, False)(task, 0)
    of_address = {keys.address: keys, spare.address: spare}
    now = of_address[task.keys].array[:count].view(np.uint64).tolist()
    assert sorted(now) == sorted(came)
    sorted_bits = 64 - count.bit_length() - SPREAD_BITS
    assert [key >> sorted_bits for key in now] == sorted(key >> sorted_bits for key in came)
    assert sum(key < before for before, key in itertools.pairwise(now)) <= count // 4


def test_candidates_that_are_not_stored_are_answered_only(tmp_path: Path) -> None:
    shard = made(tmp_path)
    shard.merge([[(1,), (2,)]])
    assert shard.merge([[(2,), (3,)]], stored=False).new == 1
    assert shard.merge([[(3,)]]).new == 1


@pytest.mark.parametrize("wide", [False, True])
def test_the_digest_is_that_of_the_set(wide: bool, tmp_path: Path) -> None:
    rng = random.Random(3)
    known = [tuple(rng.getrandbits(64) for _ in range(1 + wide)) for _ in range(200)]
    digests = []
    for number in range(4):
        rng.shuffle(known)
        shard = made(tmp_path / str(number), wide)
        cuts = sorted(rng.sample(range(200), 4))
        for low, high in zip([0, *cuts], [*cuts, 200], strict=True):
            shard.merge([known[low:high], known[:low]])
        digests.append(shard.digest % 2**64)
    assert len(set(digests)) == 1
    less = made(tmp_path / "less", wide)
    less.merge([known[1:]])
    assert less.digest % 2**64 != digests[0]


def test_a_damaged_run_is_not_merged(tmp_path: Path) -> None:
    shard = made(tmp_path)
    shard.merge([[(number,) for number in range(1, 50)]])
    path = tmp_path / shard.runs[0].name
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    with pytest.raises(SystemFault, match="its checksum is wrong"):
        shard.merge([[(number,) for number in range(50, 99)]])
