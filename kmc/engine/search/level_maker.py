"""From one level of the search to the next, on all threads: expand its rows, look up successors, keep the new ones.

Invariant: between two calls no thread runs, and everything that depends on the order of threads is inside a level: the
ordinal of a state, and the block that holds its row. Counts, levels as sets and findings depend on the model alone.

A level maker knows kernels, tables and threads. The search above it handles limits, saving and the meaning of findings.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from kmc.engine.files.run_manifest import Snapshot
from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.frontier import Level, PackedState, RowBlock, all_chunks
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.record_structs import Chunk, FindingEntry
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.layout.word_dictionary import Dictionary
from kmc.engine.loops.compiled_loops import NativeLoop, seek_loop, view_representatives_loop, work_loop, yield_address
from kmc.engine.loops.unpack import records_of
from kmc.engine.native.memory import Memory, Words, address_of
from kmc.engine.native.specialization import Specialization
from kmc.engine.native.threads import WorkerPool
from kmc.engine.native.words import Address, Mask
from kmc.engine.search import counters
from kmc.engine.search.worker import Worker
from kmc.engine.stores.fingerprint_table import FingerprintTable, target_table
from kmc.engine.stores.memory_budget import MemoryBudget
from kmc.liveness.behaviour_graph import BehaviourSource
from kmc.process import give_back_heap


class LevelRecorder(BehaviourSource, Protocol):
    """A recorder that builds the behaviour graph of a search."""

    def worker(self, budget: MemoryBudget, batch: int, actions: int, properties: int, /) -> Worker:
        """A worker that has room for the records of its loops."""

    def tell(self, shared: Shared, /) -> None:
        """Let loops call the kernels of atoms."""

    def change_kernels(self, kernels: KernelTable, /) -> None:
        """Use other kernels of the same model from the next `tell` on."""

    @property
    def more_bytes(self) -> int:
        """The memory that `level_made` will need, and then the reader of the graph."""

    @property
    def bytes_to_grow(self) -> int:
        """The memory that `before_growth` will need."""

    def before_growth(self, known: FingerprintTable, threads: WorkerPool, /) -> None:
        """Record the slots of the table that are needed later, since states get other slots. No thread runs."""

    def level_made(self, known: FingerprintTable, threads: WorkerPool, /) -> None:
        """Take over the workers' records of a level; no thread runs."""

    def words_of_level(self, level: int, /) -> Iterator[Words]:
        """The words of the graph for a finished level, counted from 0: its states, and the steps that lead there."""

    def restore(self, words: Words, levels: int, /) -> None:
        """Stand where so many levels had been made, with what `words_of_level` gave of each."""

    @property
    def is_refuted(self) -> bool:
        """Whether the levels that were expanded refute a property for certain, so that the search may end."""


_AHEAD_FROM_ROWS = 1 << 14
_SAMPLED_ROWS = 4
_GROWTH_MAX = 4
_SPARE = 8


def specialization_of(kernels: KernelTable, settings: Settings, *, edges: bool) -> Specialization:
    """The code that the loops of a search need; with `edges`, they record steps."""
    return Specialization(kernels.wide, kernels.rank != 0, settings.schedule_seed is not None, edges=edges)


class LevelMaker:
    """Tables, workers and control words of one search.

    `fits` returns whether so many bytes more may be used; if not, it has called `stop`. `known` holds the fingerprints
    of all finished levels. A `recorder` gets all steps, for a model without view and symmetry.
    """

    def __init__(
        self,
        kernels: KernelTable,
        settings: Settings,
        threads: WorkerPool,
        budget: MemoryBudget,
        fits: Callable[[int], bool],
        recorder: LevelRecorder | None = None,
    ) -> None:
        self._kernels = kernels
        self._settings = settings
        self._threads = threads
        self._budget = budget
        self._fits = fits
        self._stopping = False
        self._kernels_to_come: KernelTable | None = None
        # A level whose rows are made, but not yet one a view. Kept whole: its blocks hold what its chunks refer to.
        self._unfinished: Level | None = None
        self._distinct = 0
        self._rows_before = self._expected = 0
        self._recorder = recorder
        self._specialization = specialization_of(kernels, settings, edges=recorder is not None)
        self.known = FingerprintTable(settings.table_slots, wide=kernels.wide)
        # With a view, ranks distinguish the states of the level that is being made, in a table of their own.
        self._found = self._level_table(settings.table_slots) if kernels.rank else self.known
        self.dictionary = Dictionary(kernels.plain_words, kernels.implied_words)
        self.shared = Shared.of(Memory(Shared.WORDS))
        properties = kernels.check_count + kernels.step_count
        maker = Worker if recorder is None else recorder.worker
        self.workers = [
            maker(budget, settings.batch, kernels.action_count + 1, properties) for _ in range(settings.threads)
        ]
        self._tell_kernels()
        self._tell_tables()
        if settings.schedule_seed is not None:
            self._tell_schedule(settings.schedule_seed)

    def _tell_kernels(self) -> None:
        settings, shared = self._settings, self.shared
        self._kernels.tell(shared)
        self.dictionary.tell(shared)
        if self._recorder is not None:
            self._recorder.tell(shared)
        shared.alone = settings.threads == 1
        shared.deadlock, shared.listing = settings.deadlock, 1
        shared.batch, shared.chunk_rows = settings.batch, settings.chunk_rows

    def change_kernels(self, kernels: KernelTable) -> None:
        """Go on with other kernels of the same model, from the next batches of all threads on."""
        self._kernels_to_come = kernels
        self.shared.pause = 1

    def _change_kernels(self) -> None:
        """Let the loops call the kernels that have come; no thread runs."""
        kernels, self._kernels_to_come = self._kernels_to_come, None
        if kernels is None:
            return
        self._kernels = kernels
        kernels.tell(self.shared)
        if self._recorder is not None:
            self._recorder.change_kernels(kernels)
            self._recorder.tell(self.shared)

    def _tell_tables(self) -> None:
        shared = self.shared
        shared.table, shared.slots, shared.limit = self._found.address, self._found.slots, self._found.limit
        shared.known, shared.known_slots = self.known.address, self.known.slots

    def _tell_schedule(self, seed: int) -> None:
        self.shared.usleep = Address(yield_address())
        for index, worker in enumerate(self.workers):
            worker.thread.fuzzing = random.Random(f"{seed} {index}").getrandbits(62)

    def _level_table(self, slots: int) -> FingerprintTable:
        return FingerprintTable(slots, ranked=True, wide=self._kernels.wide)

    def stop(self) -> None:
        """Make the threads end soon, between two batches; the level that they make is left unfinished."""
        self._stopping = True
        self.shared.pause = 1

    @property
    def is_refuted(self) -> bool:
        """Whether the recorder says that the search may end."""
        return self._recorder is not None and self._recorder.is_refuted

    @property
    def reachable_asked(self) -> int:
        """The mask of the reachables tested in the last level: those that no earlier level had reached."""
        return self.shared.wanted

    @property
    def unfinished(self) -> list[Words]:
        """The chunks of a level that was stopped before its end."""
        made = [worker.made for worker in self.workers]
        return made if self._unfinished is None else [self._unfinished.chunks, *made]

    @property
    def full_blocks(self) -> list[RowBlock]:
        """The blocks of the level that is being made that nothing more is written into."""
        return [block for worker in self.workers for block in worker.full_blocks]

    @property
    def cut_by_the_bound(self) -> bool:
        """Whether a successor of the last level was new and not stored."""
        return any(worker.thread.beyond for worker in self.workers)

    def restore(self, snapshot: Snapshot, read_back: Callable[[], Level]) -> Level:
        """Restore the state of a saved search; `read_back` fills the table and the dictionary, and gives the level."""
        self._distinct = sum(snapshot.levels)
        roomy = self._distinct + self._distinct // 4
        has_room = self._budget.has_room(self.known.growth_bytes(roomy))
        self.known.grow(roomy if has_room else self._distinct, self._threads)
        level = read_back()
        counters.restore(self.workers[0], snapshot)
        self.shared.count = 0 if self._kernels.rank else self._distinct
        self._tell_tables()
        return level

    def count_only(self) -> None:
        """Count findings without recording them, from the next level on."""
        self.shared.listing = 0

    def take_findings(self) -> list[Words]:
        """The findings of the level made last, thread by thread; they are forgotten here."""
        return [worker.take_log() for worker in self.workers]

    def first(self, initial: Sequence[PackedState]) -> Level | None:
        """The level of the initial states; None if it was stopped."""
        self.workers[0].offer(initial, self._kernels.action_count)
        self.shared.chunk_count = 0
        return self._make(0, store=True)

    def next(self, level: Level, *, store: bool) -> Level | None:
        """The level behind `level`; None if it was stopped. Without `store`, successors are checked and not kept."""
        self._set_chunks(level)
        return self._make(level.rows, store=store)

    def _set_chunks(self, level: Level) -> None:
        self.shared.chunks = Chunk(address_of(level.chunks))
        self.shared.chunk_count = len(level.chunks)
        self.shared.next_chunk = 0
        for worker in self.workers:
            worker.thread.rows_left = 0

    def _expect(self, rows: int) -> None:
        """Estimate the fingerprints that the table will hold after a level: levels grow much as the last one did.

        A search that records steps grows its table now, since growing it while the level is made costs more.
        """
        made = rows * min(rows, _GROWTH_MAX * self._rows_before) // max(1, self._rows_before)
        self._rows_before = rows
        self._expected = self.shared.count + made if rows > _AHEAD_FROM_ROWS else 0
        table, expected = self._found, self._expected
        if self._recorder is not None and table.growth_bytes(expected) and self._is_ample(table, expected):
            self._grow(table, self.shared.count, expected)

    def _is_ample(self, table: FingerprintTable, expected: int, noted: int = 0) -> bool:
        """Return whether a table may be larger than it must be, for `expected` fingerprints, where the recorder uses
        `noted` bytes meanwhile.
        """
        return table.can_hold(expected) and self._budget.is_ample(_SPARE * table.growth_bytes(expected) + noted)

    def _make(self, rows: int, *, store: bool) -> Level | None:
        self.shared.storing = store
        self._expect(rows if store else 0)
        self.shared.wanted = Mask(~counters.reached(self.workers) & (1 << self._kernels.reachable_count) - 1)
        if not self._run(work_loop(self._specialization), rows):
            return None
        if self._recorder is not None:
            if not self._fits(self._recorder.more_bytes):
                return None
            self._recorder.level_made(self.known, self._threads)
        made = [worker.end_level() for worker in self.workers]
        starts = np.cumsum([0] + [count for _, count, _ in made]).tolist()
        chunks = all_chunks([(chunks_made, start) for (chunks_made, _, _), start in zip(made, starts, strict=False)])
        level: Level | None = Level(starts[-1], chunks, tuple(block for _, _, blocks in made for block in blocks))
        for worker in self.workers:
            worker.begin_level()
        if self._kernels.rank and level is not None and level.rows:
            self._unfinished = level
            level = self._with_one_row_a_view(level)
            if level is None:
                return None
            self._unfinished = None
        self._distinct += level.rows if level is not None else 0
        return level

    def _with_one_row_a_view(self, level: Level) -> Level | None:
        """Keep one row of each view alive: that of the least rank. None if it was stopped."""
        rows = self.shared.count
        if not self._grow(self.known, self._distinct + rows):
            return None
        self._set_chunks(level)
        if not self._run(view_representatives_loop(self._specialization), level.rows):
            return None
        self._found = self._level_table(max(self._settings.table_slots, 2 * rows))
        self.shared.count = 0
        self._tell_tables()
        return replace(level, rows=rows)

    def forget_unfinished(self) -> None:
        """Give back the level that was stopped before its end, and its records."""
        self._unfinished = None
        for worker in self.workers:
            worker.forget_level()
        self._budget.pool.clear()
        give_back_heap()

    def seek(self, level: Level, fingerprints: Collection[int], *, steps: bool) -> list[PackedState]:
        """The states of `level` that are among `fingerprints`, or those with a step to one of them, by fingerprint.

        For use after the search: the unfinished work of a level that was stopped is forgotten.
        """
        targets = target_table(fingerprints)
        self.shared.targets, self.shared.target_slots = targets.address, targets.words
        self.shared.target_steps = steps
        self.shared.pause = 0
        self._stopping = False
        for worker in self.workers:
            worker.abandon()
        self._set_chunks(level)
        finished = self._run(seek_loop(), level.rows)
        assert finished, "without limits only an exception stops a loop"
        notes = np.concatenate(self.take_findings())
        records = records_of(self.dictionary, level.chunks, notes[:, FindingEntry.value].tolist())
        return sorted(records, key=lambda record: record.fingerprint)

    def records(self, level: Level) -> list[PackedState]:
        """All states of a level, in the order of their ordinals."""
        return records_of(self.dictionary, level.chunks, range(int(level.chunks[:, Chunk.rows].sum())))

    def sample(self, level: Level, count: int) -> list[PackedState]:
        """About so many states of a level: the first ones of a few chunks, since a chunk is read from its beginning."""
        chunks = level.chunks[:: max(1, math.ceil(len(level.chunks) * _SAMPLED_ROWS / count))]
        wanted = [
            first + index
            for first, rows in zip(chunks[:, Chunk.ordinal].tolist(), chunks[:, Chunk.rows].tolist(), strict=True)
            for index in range(min(_SAMPLED_ROWS, rows))
        ]
        return records_of(self.dictionary, level.chunks, wanted)

    def _run(self, loop: NativeLoop, rows: int) -> bool:
        """Run a loop on all threads, or in this one if rows are few; False if it was stopped."""
        threads = 0 if rows <= self._settings.chunk_rows else None
        while True:
            self._change_kernels()
            self.shared.pause = 0
            # After the line above, because Ctrl-C may come just before it.
            if self._stopping:
                self.shared.pause = 1
                return False
            answers = self._threads.run(lambda index: self._drive(loop, self.workers[index]), threads)
            if all(answer == f.DONE for answer in answers):
                return True
            if f.NEED_TABLE in answers and not self._stopping:
                pending = sum(worker.pending for worker in self.workers)
                self.shared.pause = 0
                count = self.shared.count + pending
                self._grow(self._found, count, min(self._expected, count + count // 2))

    def _grow(self, table: FingerprintTable, count: int, expected: int = 0) -> bool:
        """Make room for `count` fingerprints, and for `expected` ones if memory is ample; False if that would need too
        much memory, and the search is stopped.
        """
        noted = self._recorder.bytes_to_grow if self._recorder is not None else 0
        if expected and not self._is_ample(table, expected, noted):
            expected = 0
        if not self._fits(table.growth_bytes(max(count, expected)) + noted):
            return False
        if self._recorder is not None:
            self._recorder.before_growth(table, self._threads)
        table.grow(count, self._threads, expected)
        self._tell_tables()
        return True

    def _drive(self, loop: NativeLoop, worker: Worker) -> int:
        while True:
            status = loop(self.shared, worker.thread)
            if status in (f.DONE, f.PAUSED):
                return status
            if status == f.NEED_TABLE:
                self.shared.pause = 1
                return status
            worker.provide(status)
