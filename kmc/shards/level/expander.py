"""Expand segments of a level in one thread: rows in, new rows into a file, their fingerprints into outboxes.

Invariant: an expander starts every task with an empty table, so a task's answer depends on the task alone. Whether a
row that it writes is new is for the owner to say; here it is new if this task has not met it before.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kmc.engine.behaviour_graph.recording import Noting, NotingKernels
from kmc.engine.behaviour_graph.worker import NotingWorker, words_of
from kmc.engine.layout import control_words as f
from kmc.engine.layout import record_structs as r
from kmc.engine.layout.control_words import Buffer, Shared, Thread
from kmc.engine.layout.frontier import UNSIGNED, PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.record_structs import BitCursor, Chunk, FindingEntry
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.layout.word_dictionary import Dictionary
from kmc.engine.loops.compiled_loops import (
    check_accepted_loop,
    seek_loop,
    view_representatives_loop,
    work_loop,
)
from kmc.engine.loops.outboxes import ENTRY_WORDS_MAX
from kmc.engine.loops.unpack import records_of
from kmc.engine.native.memory import Memory, Words, address_of
from kmc.engine.native.specialization import Specialization
from kmc.engine.native.threads import WorkerPool
from kmc.engine.native.words import Mask
from kmc.engine.search.worker import Worker
from kmc.engine.stores.fingerprint_table import FingerprintTable, target_table
from kmc.engine.stores.memory_budget import MemoryBudget
from kmc.errors import InternalError
from kmc.shards.files.frontier_file import FrontierReader, Segment, SegmentStart, require_answers, write_frontier
from kmc.shards.files.range_files import BlockReader
from kmc.shards.files.section_files import write_in_ranges
from kmc.shards.files.store import ShardStore, new_name
from kmc.shards.files.word_files import read_words
from kmc.shards.level.fingerprint_rows import order_of
from kmc.shards.level.listing import Listing
from kmc.shards.level.noted_steps import StepLog, write_steps
from kmc.shards.level.sent_sums import sent_sum
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import Checked, Effort, Expanded, ExpandTask, LevelSource, RowsTask, SeekTask, clocks

_SLOTS_PER_ROW = 3
_OUTBOX_WORDS = 1 << 12
_DICTIONARY_WORDS = 1 << 16
_BITS = 64


class Stopped(Exception):
    """The task was stopped."""


class Outboxes:
    """An outbox of a worker for each shard, of so many shards as the last task had."""

    def __init__(self, worker: Worker) -> None:
        self._thread = worker.thread
        self._boxes = Memory(0)
        self._contents: list[Memory] = []

    def divide(self, shards: int) -> None:
        """Have empty outboxes for so many shards."""
        if len(self._contents) != shards:
            self._contents = self._contents[:shards]
            self._contents += [Memory(_OUTBOX_WORDS) for _ in range(shards - len(self._contents))]
            self._boxes = Memory(shards * Buffer.WORDS)
            self._thread.outboxes = Buffer(self._boxes.address)
            self._tell()
        self.take()

    def _tell(self) -> None:
        boxes = self._boxes.array.reshape(-1, Buffer.WORDS)
        boxes[:, Buffer.address] = [memory.address for memory in self._contents]
        boxes[:, Buffer.words] = [memory.words for memory in self._contents]

    @property
    def sent(self) -> Words:
        """The words in each outbox."""
        return self._boxes.array.reshape(-1, Buffer.WORDS)[:, Buffer.used].copy()

    def take(self) -> list[Words]:
        """The words for each shard, valid until the next task; empties the outboxes."""
        sent = [memory.array[:used] for memory, used in zip(self._contents, self.sent, strict=True)]
        self._boxes.array.reshape(-1, Buffer.WORDS)[:, Buffer.used] = 0
        return sent

    def make_room(self, pending: int) -> None:
        """Make room for so many entries more in each."""
        more = max(1, pending) * ENTRY_WORDS_MAX
        for shard, used in enumerate(self.sent.tolist()):
            if used + more > self._contents[shard].words:
                self._contents[shard] = self._contents[shard].enlarged(used + more, used)
        self._tell()


class Expander:
    """Reads segments of `store` for a model: to expand them, to check accepted rows, or to find rows.

    Used by one thread at a time; `stop` may come from any other.
    """

    def __init__(
        self,
        kernels: KernelTable,
        sharding: Sharding,
        store: ShardStore,
        *,
        deadlock: bool,
        noting: Noting | None = None,
    ) -> None:
        self._kernels = kernels
        self._store = store
        self._sharding = sharding
        self._entry_words = 1 + kernels.wide + (kernels.rank != 0)
        edges = noting is not None
        self._specialization = Specialization(kernels.wide, kernels.rank != 0, sharded=True, edges=edges)
        self._budget = MemoryBudget(Settings(), None)
        properties = kernels.check_count + kernels.step_count
        batch = sharding.batch
        counted = kernels.action_count + 1, properties
        self._noting = NotingKernels(kernels, noting.apart) if noting is not None else None
        self._worker: Worker = Worker(self._budget, batch, *counted)
        self._notes: NotingWorker | None = None
        if noting is not None:
            self._worker = self._notes = NotingWorker(self._budget, batch, *counted, kernels)
        self._outboxes = Outboxes(self._worker)
        self._table = FingerprintTable(sharding.slots_min, ranked=kernels.rank != 0, wide=kernels.wide)
        # With ranks, only the owner of a state can recognize it as one of an earlier level.
        self._known = FingerprintTable(1, wide=kernels.wide)
        self._dictionary = Dictionary(kernels.plain_words, kernels.implied_words)
        self._dictionary_name = ""
        self._uncoded = Memory(_DICTIONARY_WORDS)
        self._source: LevelSource | None = None
        self._bits = BlockReader(store, ())
        self._alone = WorkerPool(1, lambda: None, lambda: None)
        self._stopping = False
        self.shared = Shared.of(Memory(Shared.WORDS))
        shared = self.shared
        kernels.tell(shared)
        self._dictionary.tell(shared)
        shared.alone, shared.deadlock, shared.storing = 1, deadlock, 1
        shared.batch, shared.chunk_rows = batch, sharding.chunk_rows
        shared.uncoded = self._uncoded.address
        shared.known, shared.known_slots = self._known.address, self._known.slots

    def stop(self) -> None:
        """Make the task that runs raise Stopped soon."""
        self._stopping = True
        self.shared.pause = 1

    def restart(self) -> None:
        """After `stop`: run tasks again."""
        self._stopping = False
        self.shared.pause = 0

    def _begin(self, source: LevelSource, task: RowsTask) -> None:
        worker, shared, thread = self._worker, self.shared, self._worker.thread
        worker.abandon()
        worker.take_log()
        self._forget_notes()
        worker.begin_level()
        worker.generated.array[:] = 0
        worker.failed.array[:] = 0
        thread.expanded = thread.refused = thread.cut = thread.stored = thread.beyond = 0
        thread.reached = Mask(0)
        self._uncoded.array[:] = 0
        rows = sum(segment.rows for segment in task.segments)
        self._table.empty(max(self._sharding.slots_min, rows * _SLOTS_PER_ROW))
        self._tell_table()
        shared.count = 0
        shared.wanted, shared.listing = Mask(source.wanted), source.listing
        shared.expand = self._kernels.expand
        self._open(source)

    def _open(self, source: LevelSource) -> None:
        """Open the files that all tasks of a level read, once for all those that run here."""
        if self._dictionary_name != source.dictionary.name:
            self._dictionary.words[:] = read_words(self._store, source.dictionary).array
            self._dictionary_name = source.dictionary.name
        if self._source is None or self._source.bits != source.bits:
            self._bits = BlockReader(self._store, source.bits)
        self._source = source

    def _tell_table(self) -> None:
        shared = self.shared
        shared.table, shared.slots, shared.limit = self._table.address, self._table.slots, self._table.limit

    def expand(self, source: LevelSource, task: ExpandTask) -> tuple[Expanded, list[Words]]:
        """Expand the rows of a task: return its result, and the entries for each shard. Raises Stopped.

        The entries are valid until the next task.
        """
        began = clocks()
        self._begin(source, task.rows)
        self._outboxes.divide(task.shards)
        self.shared.shards = task.shards
        if self._noting is not None:
            self._noting.tell(self.shared)
        starts = [SegmentStart(0, (0,) * task.shards)]
        if task.initial:
            self._worker.offer(task.initial, self._kernels.action_count)
            self.shared.chunk_count = 0
            self._run(work_loop(self._specialization))
        for segment in self._segments(source, task.rows):
            for at in range(0, len(segment.chunks), self._sharding.slice_chunks):
                self._set_chunks(np.ascontiguousarray(segment.chunks[at : at + self._sharding.slice_chunks]))
                self._run(work_loop(self._specialization))
                self._end_segment(starts, self._sharding.segment_rows)
        self._end_segment(starts, 1)
        answer, outboxes = self._answer(task.rows, starts, began, source.uncoded_max)
        return (replace(answer, **self._graph_files(task.rows)) if task.noted else answer), outboxes

    def _forget_notes(self) -> None:
        if self._notes is not None:
            self._notes.give_back(self._notes.take_states())
            self._notes.give_back(self._notes.take_steps())

    def _graph_files(self, task: RowsTask) -> dict[str, Any]:
        """The files of the records for the behaviour graph."""
        assert self._notes is not None, "the expander notes steps"
        kernels, store = self._kernels, self._store
        width, noted = 1 + kernels.wide, self._notes.take_states()
        states = None
        if kernels.atoms:
            rows = np.concatenate([np.zeros(0, np.int64), *words_of(noted)]).reshape(-1, width + len(kernels.atoms))
            name = new_name("states", task.level, task.number)
            states = write_in_ranges(store, name, rows[order_of(rows, width)])
        self._notes.give_back(noted)
        blocks = self._notes.take_steps()
        log = StepLog(blocks, kernels.wide, len(kernels.step_atoms))
        steps = write_steps(store, task.level, task.number, log, self._worker.thread.expanded)
        self._notes.give_back(blocks)
        return {"steps": steps, "states": states}

    def _end_segment(self, starts: list[SegmentStart], rows_min: int) -> None:
        """End the segment that is being written if it has so many rows."""
        thread = self._worker.thread
        chunks = self._worker.made
        first = starts[-1].chunk
        if len(chunks) > first and thread.stored_in_level - int(chunks[first, Chunk.ordinal]) >= rows_min:
            starts.append(SegmentStart(len(chunks), tuple((self._outboxes.sent // self._entry_words).tolist())))
            thread.begin_chunk = 1

    def _answer(
        self, task: RowsTask, starts: list[SegmentStart], began: tuple[float, float], uncoded_max: int
    ) -> tuple[Expanded, list[Words]]:
        worker, thread, kernels = self._worker, self._worker.thread, self._kernels
        made, _, blocks = worker.end_level()
        chunks = np.ascontiguousarray(made.reshape(-1, Chunk.WORDS))
        if kernels.rank:
            starts = self._without_other_representatives(chunks, starts)
        file = None
        if len(starts) > 1:
            name = new_name("rows", task.level, task.number)
            file = write_frontier(self._store, name, task.number, blocks, chunks, starts)
        self._budget.pool.give(block.memory for block in blocks)
        failed = worker.failed.array.tolist()
        outboxes = self._outboxes.take()
        sent = np.array([len(box) // self._entry_words for box in outboxes], np.int64)
        answer = Expanded(
            number=task.number,
            file=file,
            sent=int(sent.sum()),
            sent_sum=sent_sum(sent, task.number),
            generated=tuple(worker.generated.array.tolist()),
            expanded=thread.expanded,
            refused=thread.refused,
            cut=thread.cut,
            reached=thread.reached,
            steps_failed=tuple(failed[kernels.check_count :]),
            violating=any(failed[: kernels.check_count]),
            findings=self._findings(),
            uncoded=self._uncoded_words(task.number, uncoded_max),
            effort=Effort.since(began),
        )
        return answer, outboxes

    def _uncoded_words(self, number: int, most: int) -> tuple[int, ...]:
        """So many of the words without a code. Tasks that found the same words report different ones of them."""
        words = self._uncoded.array[np.flatnonzero(self._uncoded.array)]
        return tuple(np.roll(words, -number * most % max(1, len(words)))[:most].tolist())

    def _without_other_representatives(self, chunks: Words, starts: list[SegmentStart]) -> list[SegmentStart]:
        """Keep one row of each view alive, and send these; the starts of the segments as they are now."""
        kept_starts = starts[:1]
        for start, end in itertools.pairwise(starts):
            self._worker.thread.accepted = BitCursor(0)
            self._set_chunks(np.ascontiguousarray(chunks[start.chunk : end.chunk]))
            self._run(view_representatives_loop(self._specialization))
            kept_starts.append(SegmentStart(end.chunk, tuple((self._outboxes.sent // self._entry_words).tolist())))
        return kept_starts

    def _findings(self) -> Words:
        """The findings, each once. A violation by a new row counts once its owner has accepted the row, see `check`."""
        entries = self._worker.take_log()
        if not self._kernels.rank:
            entries = entries[entries[:, FindingEntry.kind] != r.INVARIANT]
        distinct: Words = np.unique(entries[:, : FindingEntry.source + 1], axis=0)
        return distinct

    def check(self, source: LevelSource, task: RowsTask, *, stored: bool) -> Checked:
        """Evaluate the properties of the accepted rows of a task, which lie beyond the bound or are `stored`."""
        self._begin(source, task)
        self.shared.storing = stored
        try:
            for segment in self._segments(source, task):
                self._set_chunks(segment.chunks)
                self._run(check_accepted_loop())
        finally:
            self.shared.storing = 1
        failed = self._worker.failed.array[: self._kernels.check_count]
        entries = self._worker.take_log()[:, : FindingEntry.source + 1]
        return Checked(task.number, tuple(failed.tolist()), self._worker.thread.reached, np.unique(entries, axis=0))

    def seek(self, source: LevelSource, task: SeekTask) -> list[PackedState]:
        """The accepted rows of a task that are targets, or that have a step to one, in their order."""
        self._begin(source, task.rows)
        targets = target_table([target & UNSIGNED for target in task.targets])
        shared = self.shared
        shared.targets, shared.target_slots, shared.target_steps = targets.address, targets.words, task.steps
        states: list[PackedState] = []
        for segment in self._segments(source, task.rows):
            self._set_chunks(segment.chunks)
            self._run(seek_loop(sharded=True))
            ordinals = self._worker.take_log()[:, FindingEntry.value].tolist()
            states += records_of(self._dictionary, segment.chunks, ordinals)
        return states

    def listings(self, source: LevelSource, task: RowsTask, listing: Listing) -> Iterator[Listing]:
        """The states of a task's segments, one segment after another; each time it is in `listing`."""
        self._begin(source, task)
        for segment in self._segments(source, task):
            listing.empty()
            self._set_chunks(segment.chunks)
            self._run(listing.fill)
            yield listing

    def _segments(self, source: LevelSource, task: RowsTask) -> Iterator[Segment]:
        """The segments of a task, one after another; while one is in use, the answers of its rows' owners are read."""
        # A level has the shards that it was made with, which a resumed search need not have.
        shards = len(source.bits)
        answered = [block is not None for block in source.bits]
        memory = Memory(max(1, shards) * BitCursor.WORDS)
        cursors = memory.array.reshape(-1, BitCursor.WORDS)
        thread = self._worker.thread
        thread.accepted_shards = shards
        name, reader = "", None
        for reference in task.segments:
            if reader is None or name != reference.file.name:
                name, reader = reference.file.name, FrontierReader(self._store, reference.file)
            segment = reader.segment(reference.number)
            require_answers(segment, name, answered)
            thread.accepted = BitCursor(memory.address if shards else 0)
            if shards:
                cursors[:, BitCursor.bits] = self._bits.addresses(reference.file.task, -(-segment.sent // _BITS))
                cursors[:, BitCursor.index] = segment.sent_before
            yield segment
            if shards and not np.array_equal(cursors[:, BitCursor.index], segment.sent_until):
                raise InternalError("KMC927", "the rows of a segment are not those that were sent to their owners")

    def _set_chunks(self, chunks: Words) -> None:
        # Kept alive, since they are read by address.
        self._chunks = chunks
        shared, thread = self.shared, self._worker.thread
        shared.chunks, shared.chunk_count, shared.next_chunk = Chunk(address_of(chunks)), len(chunks), 0
        thread.rows_left = 0

    def _run(self, loop: Callable[[Shared, Thread], int]) -> None:
        while True:
            status = loop(self.shared, self._worker.thread)
            if status == f.DONE:
                return
            if status == f.PAUSED or self._stopping:
                raise Stopped
            if status == f.NEED_TABLE:
                self._table.grow(self.shared.count + self._worker.pending, self._alone)
                self._tell_table()
            elif status == f.NEED_OUTBOXES:
                self._outboxes.make_room(self._worker.pending)
            else:
                self._worker.provide(status)
