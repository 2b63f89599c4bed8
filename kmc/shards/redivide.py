"""Divide the fingerprints that a search knows anew, for another number of shards: when it has grown, or when a person
wants another.

Rows and bits stay as they are: the bits of a level are read by the number of shards that answered it. Shards own ranges
of scattered fingerprints, so a new shard gets whole old ones and parts of others.

Invariant: a file is compared with its checksum before its fingerprints are copied. The copies have checksums of their
own, so no later check can find that a fingerprint was changed before.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmc.engine.loops.checksums import WORD_MASK, checksum
from kmc.engine.loops.outboxes import SCATTER
from kmc.engine.native.memory import WORD_BYTES, Words, address_of
from kmc.shards.files.store import FileWords, ShardStore, new_name
from kmc.shards.level.merger import Merger, check_run
from kmc.shards.level.run_state import RunState
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import SortedRun
from kmc.shards.made_level import lost

_SPACE = 1 << 64
_PIECE = 1 << 20

Sources = list[tuple[FileWords, int]]


@dataclass(frozen=True, slots=True)
class Redivision:
    """Runs of `shards` shards made of runs of others; `level` is a part of their names, and `wide` their fingerprints
    have two words.
    """

    sharding: Sharding
    shards: int
    level: int
    wide: bool

    def tasks(self, before: Sequence[Sequence[SortedRun]]) -> list[NewShard]:
        """Tasks that make the runs of all new shards, in their order."""
        return [self._task(shard, before) for shard in range(self.shards)]

    def _task(self, shard: int, before: Sequence[Sequence[SortedRun]]) -> NewShard:
        first, end = _range_of(shard, self.shards)
        whole: list[SortedRun] = []
        parts: list[SortedRun] = []
        # The old shards that own a part of the range: `shard / shards` of them come before.
        nearest = shard * len(before) // self.shards
        for old in range(nearest, len(before)):
            low, high = _range_of(old, len(before))
            if low >= end:
                break
            if high > first:
                (whole if first <= low and high <= end else parts).extend(before[old])
        return NewShard(self, shard, tuple(whole), tuple(parts))

    def of_state(self, before: RunState, runs: Sequence[tuple[SortedRun, ...]]) -> RunState:
        """The state of a search whose known fingerprints are in these new shards. Its levels keep the shards that they
        were made with.
        """
        written = before.traffic.runs_bytes + sum(run.words for shard in runs for run in shard) * WORD_BYTES
        after = replace(before, runs=tuple(runs), traffic=replace(before.traffic, runs_bytes=written))
        if after.fingerprints != before.fingerprints:
            raise lost("not all known states were divided among the new shards")
        return after


@dataclass(frozen=True, slots=True)
class NewShard:
    """A task that makes one of the new shards: of all fingerprints of the runs `whole`, and of those that it owns among
    `parts`. Its result is one run, or none.
    """

    division: Redivision
    shard: int
    whole: tuple[SortedRun, ...]
    parts: tuple[SortedRun, ...]

    def run(self, store: ShardStore) -> tuple[SortedRun, ...]:
        """See `StoreTask`."""
        return _ShardInWork(self, store).runs()


class _ShardInWork:
    """A new shard that is being made, in one thread."""

    def __init__(self, task: NewShard, store: ShardStore) -> None:
        self._task = task
        self._store = store
        division = task.division
        self._merger = Merger(division.sharding, store, wide=division.wide, ranked=False)
        self._width = 1 + division.wide
        self._temporary: list[str] = []

    def runs(self) -> tuple[SortedRun, ...]:
        """See `NewShard.run`."""
        sources: Sources = [self._opened(run) for run in self._task.whole]
        for run in self._task.parts:
            sources += self._part(*self._opened(run))
        sources.sort(key=_count)
        while len(sources) > 2:
            merged = self._merged(sources[:2])
            self._temporary.append(merged.name)
            insort(sources, self._opened(merged), 2, key=_count)
            del sources[:2]
        made = (self._merged(sources),) if sources else ()
        self._store.remove(self._temporary)
        return made

    def _opened(self, run: SortedRun) -> tuple[FileWords, int]:
        """The words of a run and the number of its fingerprints; SystemFault KMC551 if it is damaged."""
        words = self._store.read(run.name, run.words)
        check_run(run, words)
        return words, run.count

    def _new_name(self) -> str:
        return new_name("run", self._task.division.level, self._task.shard)

    def _merged(self, sources: Sources) -> SortedRun:
        count = sum(size for _, size in sources)
        runs = [(words.address, size) for words, size in sources]
        return self._merger.write_run(self._new_name(), runs, count)

    def _part(self, words: FileWords, count: int) -> Sources:
        """The shard's fingerprints of a run, in the run's order, in a file of their own, since they may exceed
        memory.
        """
        name = self._new_name()
        self._temporary.append(name)
        shards = self._task.division.shards
        written = words_written = words_sum = 0
        with self._store.writing(name) as out:
            for piece in self._pieces(words, count):
                owned = np.ascontiguousarray(piece[owners(piece[:, 0], shards) == self._task.shard])
                if len(owned):
                    out.write(owned.reshape(-1))
                    words_sum += checksum(address_of(owned), owned.size, words_written)
                written += len(owned)
                words_written += owned.size
        # It is read as a whole, so it needs no index.
        run = SortedRun(name, words_written, written, 0, words_sum & WORD_MASK)
        return [self._opened(run)] if written else []

    def _pieces(self, words: FileWords, count: int) -> Iterator[Words]:
        fingerprints = words.array[: count * self._width].reshape(-1, self._width)
        for start in range(0, count, _PIECE):
            yield fingerprints[start : start + _PIECE]


def _count(source: tuple[FileWords, int]) -> int:
    return source[1]


def _range_of(shard: int, shards: int) -> tuple[int, int]:
    """The scattered fingerprints that a shard owns, the second number not among them."""
    return -(-shard * _SPACE // shards), -(-(shard + 1) * _SPACE // shards)


def owners(fingerprints: Words, shards: int) -> NDArray[np.uint64]:
    """The shard that owns each fingerprint, as `owner_of` has it."""
    scattered = fingerprints.view(np.uint64) * np.uint64(SCATTER % _SPACE)
    half, count = np.uint64(32), np.uint64(shards)
    low = (scattered & np.uint64((1 << 32) - 1)) * count >> half
    owner: NDArray[np.uint64] = (scattered >> half) * count + low >> half
    return owner
