"""Merge the entries sent to a shard with its known fingerprints: which candidates are new, and a run of those that are.

Invariants: the answer depends on the entries, their order and the set of known fingerprints, not on the number of runs
that hold them. A run is written once. Runs are merged when a newer one has grown to half their size, so each
fingerprint is written a few times, however many levels there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kmc.engine.files.run_manifest import damaged
from kmc.engine.layout import control_words as f
from kmc.engine.loops.checksums import WORD_MASK, checksum
from kmc.engine.loops.compiled_loops import run_loop
from kmc.engine.loops.sorted_runs import DIGIT_COUNTS, CandidateSet, RunCursor, RunMerge
from kmc.engine.native.memory import SLACK_WORDS, Memory, Words, address_of
from kmc.shards.files.range_files import UnwrittenBlock, write_blocks
from kmc.shards.files.section_files import SectionFile, write_in_ranges
from kmc.shards.files.store import FileWords, ShardStore, new_name
from kmc.shards.level.sent_sums import received_sum
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import Effort, Merged, MergeTask, SortedRun, clocks

_BITS = 64
_BUCKET = 16
"""The average number of fingerprints of a run in one part of its index: two cache lines."""

_RATIO = 2


class Merger:
    """Merges shards of one store, one after another, in one thread; its buffers are used again."""

    def __init__(self, sharding: Sharding, store: ShardStore, *, wide: bool, ranked: bool) -> None:
        self._piece = sharding.piece
        self._store = store
        self._wide, self._ranked = wide, ranked
        self._width = 1 + wide
        self._entry_words = 1 + wide + ranked
        self._buffers: dict[str, Memory] = {}

    def _buffer(self, name: str, words: int) -> Memory:
        held = self._buffers.get(name)
        if held is None or held.words < words:
            held = self._buffers[name] = Memory(words + words // 4 + 1)
        return held

    def merge(self, task: MergeTask, sent: Sequence[Words]) -> Merged:
        """Merge the entries that each task sent to a shard, in the order of the tasks, and write the answer."""
        merged, answers = self.answer(task, sent)
        return with_answers(self._store, task.level, [(merged, answers)])[0]

    def answer(self, task: MergeTask, sent: Sequence[Words]) -> tuple[Merged, UnwrittenBlock | None]:
        """Merge the entries that each task sent to a shard; the bits for each task are left to be written."""
        began = clocks()
        if not any(map(len, sent)):
            return Merged(task.shard, None, 0, 0, 0, 0, 0, task.runs, (), 0, Effort.since(began)), None
        candidates, starts, counts = self._candidates(sent)
        distinct = candidates.fingerprint_count
        runs = {run.name: self._opened(run) for run in task.runs}
        for run in sorted(task.runs, key=lambda run: -run.count):
            self._look_up(candidates, run, runs[run.name])
        bits = Memory(max(1, int(starts[-1])))
        candidates.bits = bits.address
        run_loop("accept", self._wide, self._ranked)(candidates, 0)
        answers = UnwrittenBlock(task.shard, starts, bits.array[: starts[-1]])
        kept, replaced, written = self._kept(task, candidates, runs)
        new_states = self._file_of_new(task, candidates) if task.noted and candidates.fingerprint_count else None
        merged = Merged(
            shard=task.shard,
            bits=None,
            new=candidates.fingerprint_count,
            received=int(counts.sum()),
            received_sum=received_sum(counts, task.shard),
            distinct=distinct,
            digest=candidates.digest & WORD_MASK,
            runs=kept,
            replaced=replaced,
            written_bytes=(written + answers.size) * f.WORD_BYTES,
            effort=Effort.since(began),
            found=new_states,
        )
        return merged, answers

    def _file_of_new(self, task: MergeTask, candidates: CandidateSet) -> SectionFile:
        """The new fingerprints, in a file of their own."""
        words = self._buffer("found", 0).array[: candidates.fingerprint_count * self._width]
        return write_in_ranges(self._store, new_name("found", task.level, task.shard), words.reshape(-1, self._width))

    def _candidates(self, sent: Sequence[Words]) -> tuple[CandidateSet, Words, Words]:
        """The distinct candidates, in order; the first word of the bits of each task; the entries of each task.

        The entries of a task begin at an index that is a multiple of 64, so their bits begin at a word.
        """
        counts = np.array([len(entries) // self._entry_words for entries in sent], np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(-(-counts // _BITS))])
        indices, received = int(starts[-1]) * _BITS, int(counts.sum())
        entries = self._buffer("entries", indices * self._entry_words)
        keys = self._buffer("keys", received)
        candidates = CandidateSet.of(Memory(CandidateSet.WORDS))
        candidates.entries, candidates.keys = entries.address, keys.address
        candidates.spare_keys = self._buffer("spare keys", received).address
        candidates.digit_counts = self._buffer("digit counts", DIGIT_COUNTS).address
        candidates.index_mask = (1 << max(1, indices.bit_length())) - 1
        candidates.fingerprints = self._buffer("found", received * self._width).address
        candidates.chosen = self._buffer("chosen", received).address
        for start, entries_of_task in zip(starts.tolist(), sent, strict=False):
            offset = start * _BITS * self._entry_words
            entries.array[offset : offset + len(entries_of_task)] = entries_of_task
            candidates.first, candidates.count = start * _BITS, len(entries_of_task) // self._entry_words
            run_loop("make_keys", self._wide, self._ranked)(candidates, 0)
        run_loop("sort_keys", self._wide, self._ranked)(candidates, 0)
        run_loop("distinct", self._wide, self._ranked)(candidates, 0)
        return candidates, starts, counts

    def _opened(self, run: SortedRun) -> FileWords:
        return self._store.read(run.name, run.words)

    def _look_up(self, candidates: CandidateSet, run: SortedRun, words: FileWords) -> None:
        candidates.run, candidates.run_count, candidates.buckets = words.address, run.count, run.buckets
        candidates.run_index = words.address + _run_words(run.count * self._width) * f.WORD_BYTES
        run_loop("look_up", self._wide, self._ranked)(candidates, 0)

    def _kept(
        self, task: MergeTask, candidates: CandidateSet, opened: dict[str, FileWords]
    ) -> tuple[tuple[SortedRun, ...], tuple[str, ...], int]:
        """The runs of the shard from now on, those that were replaced, and the words that were written."""
        if not task.store or candidates.fingerprint_count == 0:
            return task.runs, (), 0
        runs, due, count = list(task.runs), [], candidates.fingerprint_count
        while runs and runs[-1].count < _RATIO * count:
            due.append(runs.pop())
            count += due[-1].count
        for run in due:
            check_run(run, opened[run.name])
        # The smaller come first.
        parts = [(candidates.fingerprints, candidates.fingerprint_count)]
        parts += [(opened[run.name].address, run.count) for run in due]
        for index, run_part in enumerate(parts[1:-1]):
            parts[index + 1] = self._merged(parts[index], run_part, index % 2)
        merged = self.write_run(new_name("run", task.level, task.shard), parts[-2:], count)
        return (*runs, merged), tuple(run.name for run in due), merged.words

    def _merging(self, runs: Sequence[tuple[int, int]]) -> RunMerge:
        """One or two runs to be merged, each an address and a number of fingerprints."""
        task = RunMerge.of(Memory(RunMerge.WORDS))
        cursors = self._buffer("cursors", 2 * RunCursor.WORDS)
        cursors.array[:] = 0
        for index, (address, count) in enumerate(runs):
            cursors.array[index * RunCursor.WORDS :][: RunCursor.WORDS] = address, 0, count
        task.cursors = RunCursor(cursors.address)
        return task

    def _merged(self, left: tuple[int, int], right: tuple[int, int], buffer: int) -> tuple[int, int]:
        """Two runs merged in memory; the answer is valid until `buffer` (0 or 1) is used again."""
        count = left[1] + right[1]
        task = self._merging([left, right])
        task.out, task.room = self._buffer(f"merged {buffer}", count * self._width).address, count
        run_loop("merge", self._wide)(task, 0)
        return task.out, count

    def write_run(self, name: str, runs: Sequence[tuple[int, int]], count: int) -> SortedRun:
        """Write one run made of one or two, each an address and a number of fingerprints."""
        task = self._merging(runs)
        task.buckets = max(1, count // _BUCKET)
        index = self._buffer("index", task.buckets + 1)
        out = self._buffer("out", self._piece * self._width)
        task.out, task.index = out.address, index.address
        offset = run_sum = 0
        with self._store.writing(name) as output:

            def write(words: Words) -> None:
                nonlocal offset, run_sum
                output.write(words)
                run_sum += checksum(address_of(words), len(words), offset)
                offset += len(words)

            task.room = self._piece
            while (merged := run_loop("merge", self._wide)(task, 0)) > 0:
                task.room = merged
                run_loop("extend_index", self._wide)(task, 0)
                write(out.array[: merged * self._width])
                task.room = self._piece
            task.room = 0
            run_loop("extend_index", self._wide)(task, 0)
            write(np.zeros(_run_words(offset) - offset, np.int64))
            write(index.array[: task.buckets + 1])
        return SortedRun(name, offset, count, task.buckets, run_sum & WORD_MASK)


def with_answers(store: ShardStore, level: int, merged: Sequence[tuple[Merged, UnwrittenBlock | None]]) -> list[Merged]:
    """The results of shards, with their bits in one file, if there are any."""
    blocks = [block for _, block in merged if block is not None]
    if not blocks:
        return [one for one, _ in merged]
    written = iter(write_blocks(store, new_name("bits", level, blocks[0].owner), blocks))
    return [one if block is None else replace(one, bits=next(written)) for one, block in merged]


def _run_words(words: int) -> int:
    """The offset of the index of a run: behind its fingerprints, the rest of their last cache line, and zeros."""
    return -(-words // f.LINE_WORDS) * f.LINE_WORDS + SLACK_WORDS


def check_run(run: SortedRun, words: FileWords) -> None:
    """Raise SystemFault KMC551 if a run differs from the one that was written."""
    if checksum(words.address, run.words, 0) != run.checksum:
        raise damaged(Path(run.name), "its checksum is wrong")
