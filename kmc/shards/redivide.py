"""Divide the fingerprints that a search knows anew, for another number of shards.

Rows and bits stay as they are: the bits of a level are read by the number of shards that answered it. Shards own
ranges of scattered fingerprints, so a new shard takes whole old ones and parts of others.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kmc.engine.loops.outboxes import SCATTER
from kmc.engine.native.memory import Words
from kmc.shards.merger import Merger
from kmc.shards.store import FileWords, ShardStore, new_name
from kmc.shards.tasks import SortedRun

_SPACE = 1 << 64
_PIECE = 1 << 20

Sources = list[tuple[FileWords, int]]


class Redivision:
    """Runs of `shards` shards made of runs of others; `level` is a part of their names."""

    def __init__(self, store: ShardStore, merger: Merger, width: int, shards: int, level: int) -> None:
        self._store = store
        self._merger = merger
        self._width = width
        self._shards = shards
        self._level = level
        self._temporary: list[str] = []

    def runs(self, before: Sequence[Sequence[SortedRun]]) -> tuple[tuple[SortedRun, ...], ...]:
        """For each new shard one run, or none, of the fingerprints that it owns."""
        return tuple(self._of_shard(shard, before) for shard in range(self._shards))

    def _of_shard(self, shard: int, before: Sequence[Sequence[SortedRun]]) -> tuple[SortedRun, ...]:
        sources: Sources = []
        first, end = _range_of(shard, self._shards)
        for old, runs in enumerate(before):
            low, high = _range_of(old, len(before))
            if low < end and first < high:
                is_inside = first <= low and high <= end
                for run in runs:
                    words = self._store.read(run.name, run.words)
                    sources += [(words, run.count)] if is_inside else self._part(words, run.count, shard)
        sources.sort(key=_count)
        while len(sources) > 2:
            run = self._merged(shard, sources[:2])
            self._temporary.append(run.name)
            insort(sources, (self._store.read(run.name, run.words), run.count), 2, key=_count)
            del sources[:2]
        made = (self._merged(shard, sources),) if sources else ()
        self._store.remove(self._temporary)
        self._temporary.clear()
        return made

    def _merged(self, shard: int, sources: Sources) -> SortedRun:
        count = sum(part for _, part in sources)
        parts = [(words.address, part) for words, part in sources]
        return self._merger.write_run(new_name("run", self._level, shard), parts, count)

    def _part(self, words: FileWords, count: int, shard: int) -> Sources:
        """What a shard owns of a run, in a file of its own, since it may be more than memory holds; in its order."""
        name = new_name("run", self._level, shard)
        self._temporary.append(name)
        written = 0
        with self._store.writing(name) as out:
            for piece in self._pieces(words, count):
                owned = np.ascontiguousarray(piece[owners(piece[:, 0], self._shards) == shard])
                if len(owned):
                    out.write(owned.reshape(-1))
                written += len(owned)
        return [(self._store.read(name, written * self._width), written)] if written else []

    def _pieces(self, words: FileWords, count: int) -> Iterator[Words]:
        fingerprints = words.array[: count * self._width].reshape(-1, self._width)
        for place in range(0, count, _PIECE):
            yield fingerprints[place : place + _PIECE]


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
    found: NDArray[np.uint64] = (scattered >> half) * count + low >> half
    return found
