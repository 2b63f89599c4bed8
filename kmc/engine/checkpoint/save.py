"""Saving a search into its run directory, level by level.

Invariant: a checkpoint is the end of a level. When a search stops inside a level, the fingerprints of the unfinished
level are left out; a resumed search finds those states again.

The first checkpoint writes every fingerprint in the table. After that, the fingerprints of each new level are appended
when the level ends, which is cheap; the frontier is written only when a checkpoint is due. So a short run writes almost
nothing, and a long one spends at most a twentieth of its time on it. An interrupted run saves its last completed level,
unless that is already on disk.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kmc.engine.checkpoint.load import Loader
from kmc.engine.files.durable_file import DataFile
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.files.run_manifest import Extent, Frontier, RunManifest, Snapshot
from kmc.engine.files.spill_files import SpillFiles
from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.frontier import Level
from kmc.engine.layout.record_structs import Chunk
from kmc.engine.layout.word_dictionary import Dictionary
from kmc.engine.loops.checksums import WORD_MASK, checksum, run_storing
from kmc.engine.native.memory import Memory, Words, address_of
from kmc.engine.native.threads import WorkerPool
from kmc.engine.stores.finding_log import FindingLog
from kmc.engine.stores.fingerprint_table import FingerprintTable
from kmc.memory_limit import SAVE_SHARE

_KNOWN = "known"
_GRAPH = "graph"
_RANGE_SLOTS = 1 << 17
_RANGE_CHUNKS = 1 << 10
_HALF_MADE_CHUNKS = 1 << 9
_LEFT_OUT_BYTES_MIN = 1 << 21
_SHARE_MAX = 0.05
_BYTES_PER_SECOND = 5e8


class SavedGraph(Protocol):
    """A behaviour graph that is saved level by level."""

    def words_of_level(self, level: int, /) -> Iterator[Words]:
        """The words of the graph for a finished level, counted from 0, in pieces."""

    def restore(self, words: Words, levels: int, /) -> None:
        """Stand where so many levels had been made."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a search that are saved. `shared` are its control words; they say how rows are packed."""

    findings: FindingLog
    dictionary: Dictionary
    files: SpillFiles
    pool: WorkerPool
    shared: Shared
    graph: SavedGraph | None = None


class Saver:
    """Saves into `directory` at most every `seconds`, and less often where that would cost too much."""

    def __init__(self, directory: RunDirectory, parts: Parts, seconds: float) -> None:
        self._directory = directory
        self._parts = parts
        self._seconds = seconds
        self._bytes_per_second = _BYTES_PER_SECOND
        self._ended = time.monotonic()
        self._file: DataFile | None = None
        self._known = Extent(_KNOWN, 0, 0, 0)
        self._graph_file: DataFile | None = None
        self._graph = Extent(_GRAPH, 0, 0, 0)
        self._graph_levels = 0
        self._latest: tuple[Snapshot, Level] | None = None
        self.saves = 0
        self.seconds_spent = 0.0

    @property
    def levels(self) -> int:
        """The number of levels that are saved."""
        return self._directory.manifest.levels

    @property
    def snapshot(self) -> Snapshot | None:
        """The counters of the search at the last checkpoint; None before the first."""
        return self._directory.manifest.snapshot

    def resume(self, table: FingerprintTable) -> Level:
        """Read the checkpoint back; the level to expand next."""
        parts, loader = self._parts, Loader(self._directory, self._parts.pool)
        self._known = loader.known(table)
        level = loader.level()
        loader.dictionary(parts.dictionary)
        loader.findings(parts.findings)
        self._file = self._directory.file(_KNOWN)
        if parts.graph is not None:
            self._graph, words = loader.graph()
            self._graph_levels = self.levels
            parts.graph.restore(words, self.levels)
            self._graph_file = self._directory.file(_GRAPH)
        return level

    @property
    def is_due(self) -> bool:
        """Whether the last checkpoint is as long ago as it may be."""
        return time.monotonic() - self._ended >= self._seconds

    def end_level(self, snapshot: Snapshot, level: Level, table: FingerprintTable) -> None:
        """Record a level that has ended, and save it if a checkpoint is due."""
        began = time.monotonic()
        self._latest = snapshot, level
        if self._file is not None:
            self._add_level(level, table.entry_words)
        if began - self._ended >= max(self._seconds, self._cost(snapshot, level) / _SHARE_MAX if self._seconds else 0):
            self.save(table, [])
        self.seconds_spent += time.monotonic() - began

    def _cost(self, snapshot: Snapshot, level: Level) -> float:
        return self._bytes_to_write(snapshot, level) / self._bytes_per_second

    def _bytes_to_write(self, snapshot: Snapshot, level: Level) -> int:
        written = sum(block.used for block in level.blocks if block.offset is None)
        written += snapshot.stored if self._file is None else 0
        return written * f.WORD_BYTES

    @property
    def lacking_bytes(self) -> int:
        """The number of bytes that the disk lacks for saving the last level that ended; 0 if there is room."""
        if self._latest is None:
            return 0
        return max(0, self._bytes_to_write(*self._latest) - self._directory.free_bytes)

    def anew(self) -> Saver:
        """Give back the files of a failed save; return a saver that writes everything. No level may be saved yet."""
        assert not self.levels, "a save that is whole is not written over"
        for file in (self._file, self._graph_file):
            if file is not None:
                file.close()
        self._directory.clean(self._parts.files.files)
        saver = Saver(self._directory, self._parts, self._seconds)
        saver._latest = self._latest
        return saver

    def save(self, table: FingerprintTable, half_made: Sequence[Words]) -> None:
        """Save the last completed level, unless it is saved. `half_made` are the chunks of an unfinished one."""
        if self._latest is None or len(self._latest[0].levels) == self.levels:
            return
        snapshot, level = self._latest
        began = time.monotonic()
        cost = self._bytes_to_write(snapshot, level)
        if self._file is None:
            self._write_table(table, half_made)
        manifest = replace(self._written(snapshot, level), fingerprint_bits=64 * table.entry_words)
        self._directory.commit(manifest)
        self._directory.clean(self._parts.files.files)
        self._ended = time.monotonic()
        self._bytes_per_second = max(1e6, cost / max(self._ended - began, 1e-3)) if cost > 1e6 else _BYTES_PER_SECOND
        self.saves += 1

    def _written(self, snapshot: Snapshot, level: Level) -> RunManifest:
        """Write everything that the new manifest refers to; that manifest."""
        depth = len(snapshot.levels)
        parts = self._parts
        blocks = tuple(
            itertools.chain.from_iterable(
                parts.pool.run(
                    lambda thread: [
                        (index, parts.files.saved(block, depth))
                        for index, block in enumerate(level.blocks)
                        if block.used and index % parts.pool.size == thread
                    ]
                )
            )
        )
        placed = tuple(extent for _, extent in sorted(blocks, key=lambda indexed: indexed[0]))
        chunks = parts.files.put(_chunks_by_place(level), depth)
        dictionary = parts.files.put(parts.dictionary.words, depth)
        met = parts.files.put(parts.findings.met_words(snapshot.met), depth)
        assert self._file is not None, "the table was written"
        self._file.sync()
        parts.files.sync(depth)
        graph = self._written_graph(depth) if parts.graph is not None else None
        return replace(
            self._directory.manifest,
            snapshot=snapshot,
            known=self._known,
            met=met,
            frontier=Frontier(placed, chunks, dictionary),
            graph=graph,
        )

    def _written_graph(self, levels: int) -> Extent:
        """Append the levels of the behaviour graph that the file lacks, and wait until they are on the disk."""
        assert self._parts.graph is not None, "there is one"
        self._graph_file = self._graph_file or self._directory.file(_GRAPH)
        pieces = map(self._parts.graph.words_of_level, range(self._graph_levels, levels))
        for words in filter(len, itertools.chain.from_iterable(pieces)):
            added = checksum(address_of(words), len(words), self._graph.words)
            self._graph_file.write(address_of(words), len(words), self._graph.words)
            self._graph = _longer(self._graph, len(words), added)
        self._graph_levels = levels
        self._graph_file.sync()
        return self._graph

    def _write_table(self, table: FingerprintTable, half_made: Sequence[Words]) -> None:
        """Start the file of fingerprints with those in the table, except those of the unfinished level."""
        self._file = self._directory.file(_KNOWN)
        rows = sum(int(chunks[:, Chunk.rows].sum()) for chunks in half_made)
        # Memory may be used up. So the fingerprints to leave out are taken in parts that are small beside the table.
        part_bytes = max(_LEFT_OUT_BYTES_MIN, table.bytes // SAVE_SHARE)
        shares = 1 + rows * table.entry_words * f.WORD_BYTES // part_bytes
        for share in range(shares):
            left_out = _keys(self._fingerprints_of(half_made, table.entry_words, (share, shares)))
            left_out.sort()
            for low in range(0, table.slots, _RANGE_SLOTS):
                used = _of_part(table.entries(low, min(low + _RANGE_SLOTS, table.slots)), (share, shares))
                if len(left_out) and len(used):
                    keys = _keys(used)
                    positions = np.searchsorted(left_out, keys).clip(max=len(left_out) - 1)
                    used = np.ascontiguousarray(used[left_out[positions] != keys])
                self._add(used.reshape(-1))

    def _add(self, words: Words) -> None:
        if len(words):
            assert self._file is not None, "it was opened"
            added = checksum(address_of(words), len(words), self._known.words)
            self._file.write(address_of(words), len(words), self._known.words)
            self._known = _longer(self._known, len(words), added)

    def _add_level(self, level: Level, entry_words: int) -> None:
        """Append a level's fingerprints. Each thread claims ranges of chunks, whose offsets in the file are known."""
        file, before = self._file, self._known.words
        assert file is not None, "it was opened"
        ranges = itertools.count(0, _RANGE_CHUNKS)

        def take_ranges(_: int) -> tuple[int, int]:
            words = added = 0
            while (low := next(ranges)) < len(level.chunks):
                first, entries = self._collected(level.chunks[low : low + _RANGE_CHUNKS], entry_words)
                offset = before + first * entry_words
                added += checksum(entries.address, entries.words, offset)
                file.write(entries.address, entries.words, offset)
                words += entries.words
                self._parts.files.drop_pages()
            return words, added

        small = len(level.chunks) <= _RANGE_CHUNKS
        for words, added in self._parts.pool.run(take_ranges, 0 if small else None):
            self._known = _longer(self._known, words, added)

    def _collected(self, chunks: Words, entry_words: int) -> tuple[int, Memory]:
        """The ordinal of the first row in a range of chunks, and the fingerprints of all rows, 0 for a dead one."""
        first, rows = int(chunks[0, Chunk.ordinal]), int(chunks[:, Chunk.rows].sum())
        entries = Memory(rows * entry_words)
        run_storing(
            "collect" if entry_words == 1 else "collect_wide",
            source=address_of(chunks),
            count=len(chunks),
            first=first,
            target=entries.address,
            shared=self._parts.shared,
        )
        return first, entries

    def _fingerprints_of(self, half_made: Sequence[Words], entry_words: int, share: tuple[int, int]) -> Words:
        """The fingerprints of those rows of some chunks that belong to a part. Each thread numbered its rows from 0."""
        blocks = [np.zeros((0, entry_words), np.int64)]
        for chunks in half_made:
            for low in range(0, len(chunks), _HALF_MADE_CHUNKS):
                _, some = self._collected(chunks[low : low + _HALF_MADE_CHUNKS], entry_words)
                blocks.append(_of_part(some.array.reshape(-1, entry_words), share).copy())
                self._parts.files.drop_pages()
        return np.concatenate(blocks)

    def discard(self) -> None:
        """Remove the checkpoint: the search is over, so nothing is left to resume."""
        self._directory.discard()


def _longer(extent: Extent, words: int, added: int) -> Extent:
    return replace(extent, words=extent.words + words, checksum=(extent.checksum + added) & WORD_MASK)


def _of_part(entries: Words, share: tuple[int, int]) -> Words:
    """The fingerprints that belong to part `part[0]` of `part[1]`."""
    index, shares = share
    chosen = entries if shares == 1 else entries[entries[:, 0].view(np.uint64) % np.uint64(shares) == index]
    return np.ascontiguousarray(chosen)


def _keys(entries: Words) -> NDArray[Any]:
    """Fingerprints of either width as values that numpy can sort and compare."""
    if entries.shape[1] == 1:
        return entries.reshape(-1)
    return entries.view([(f"word {column}", np.int64) for column in range(entries.shape[1])]).reshape(-1)


def _chunks_by_place(level: Level) -> Words:
    """The chunks of a level, with places in the blocks' file instead of addresses."""
    blocks = sorted((block for block in level.blocks if block.used), key=lambda block: block.memory.address)
    addresses = np.array([block.memory.address for block in blocks])
    offsets = np.array([block.offset for block in blocks])
    chunks = level.chunks.copy()
    holders = np.searchsorted(addresses, chunks[:, Chunk.first], side="right") - 1
    chunks[:, Chunk.first] = offsets[holders] + (chunks[:, Chunk.first] - addresses[holders]) // f.WORD_BYTES
    return chunks.reshape(-1)
