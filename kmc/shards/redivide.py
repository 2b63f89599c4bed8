"""Divide the fingerprints that a search knows anew, for another number of shards: when it has grown, or when a person
wants another.

Rows and bits stay as they are: the bits of a level are read by the number of shards that answered it. Shards own ranges
of scattered fingerprints, so a new shard gets whole old ones and parts of others.
"""

from __future__ import annotations

import itertools
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kmc.engine.loops.outboxes import SCATTER
from kmc.engine.native.memory import WORD_BYTES, Words
from kmc.engine.native.threads import WorkerPool
from kmc.shards.files.store import FileWords, ShardStore, new_name
from kmc.shards.level.merger import Merger
from kmc.shards.level.run_state import RunState
from kmc.shards.level.tasks import SortedRun
from kmc.shards.made_level import lost

_SPACE = 1 << 64
_PIECE = 1 << 20

Sources = list[tuple[FileWords, int]]


class Redivision:
    """Runs of `shards` shards made of runs of others; `level` is a part of their names.

    Shards are made by as many threads as there are `mergers`. `poll` is called meanwhile, about 20 times a second.
    """

    def __init__(
        self,
        store: ShardStore,
        mergers: Sequence[Merger],
        width: int,
        shards: int,
        level: int,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        self._mergers = tuple(mergers)
        self._shards = shards
        self._shard_of = partial(_NewShard, store, width, shards, level)
        self._poll = poll
        self._stopping = False

    def of_state(self, before: RunState) -> RunState:
        """The state of a search with the requested number of shards. Its levels keep the shards that they were made
        with.
        """
        runs = self.runs(before.runs)
        written = before.traffic.runs_bytes + sum(run.words for shard in runs for run in shard) * WORD_BYTES
        after = replace(before, runs=runs, traffic=replace(before.traffic, runs_bytes=written))
        if after.fingerprints != before.fingerprints:
            raise lost("not all known states were divided among the new shards")
        return after

    def runs(self, before: Sequence[Sequence[SortedRun]]) -> tuple[tuple[SortedRun, ...], ...]:
        """For each new shard one run, or none, of the fingerprints that it owns."""
        following = itertools.count()
        made: dict[int, tuple[SortedRun, ...]] = {}

        def take_shards(thread: int) -> None:
            while not self._stopping and (shard := next(following)) < self._shards:
                made[shard] = self._shard_of(self._mergers[thread], shard).runs(before)

        threads = min(len(self._mergers), self._shards)
        WorkerPool(threads, self._poll, self._stop).run(take_shards)
        return tuple(made[shard] for shard in range(self._shards))

    def _stop(self) -> None:
        self._stopping = True


class _NewShard:
    """One of the new shards, made in one thread."""

    def __init__(self, store: ShardStore, width: int, shards: int, level: int, merger: Merger, shard: int) -> None:
        self._store = store
        self._merger = merger
        self._width = width
        self._shards = shards
        self._level = level
        self._shard = shard
        self._temporary: list[str] = []

    def runs(self, before: Sequence[Sequence[SortedRun]]) -> tuple[SortedRun, ...]:
        """See `Redivision.runs`."""
        sources: Sources = []
        first, end = _range_of(self._shard, self._shards)
        for old, runs in enumerate(before):
            low, high = _range_of(old, len(before))
            if low < end and first < high:
                is_inside = first <= low and high <= end
                for run in runs:
                    words = self._store.read(run.name, run.words)
                    sources += [(words, run.count)] if is_inside else self._part(words, run.count)
        sources.sort(key=_count)
        while len(sources) > 2:
            run = self._merged(sources[:2])
            self._temporary.append(run.name)
            insort(sources, (self._store.read(run.name, run.words), run.count), 2, key=_count)
            del sources[:2]
        made = (self._merged(sources),) if sources else ()
        self._store.remove(self._temporary)
        return made

    def _merged(self, sources: Sources) -> SortedRun:
        count = sum(size for _, size in sources)
        runs = [(words.address, size) for words, size in sources]
        return self._merger.write_run(new_name("run", self._level, self._shard), runs, count)

    def _part(self, words: FileWords, count: int) -> Sources:
        """The shard's fingerprints of a run, in the run's order, in a file of their own, since they may exceed
        memory.
        """
        name = new_name("run", self._level, self._shard)
        self._temporary.append(name)
        written = 0
        with self._store.writing(name) as out:
            for piece in self._pieces(words, count):
                owned = np.ascontiguousarray(piece[owners(piece[:, 0], self._shards) == self._shard])
                if len(owned):
                    out.write(owned.reshape(-1))
                written += len(owned)
        return [(self._store.read(name, written * self._width), written)] if written else []

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
