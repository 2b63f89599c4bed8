"""The breadth-first search over compiled kernels: level by level, on all threads, counting as TLC does.

Invariant: counts, levels and the set of findings depend on the model alone, not on threads, chunks or the sizes of
tables. So a level with a finding is finished. Who found a state first depends on threads and is not noted: a trace
takes the least of all predecessors, which are found again by fingerprint (`predecessors`).

The semantics are those of `kmc.reference.search`. What is at rest between levels is a `Level` and nothing else: rows
compacted at rest, on disk, or from another process enter and leave there.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from kmc.engine.checkpoint.memory_pressure import Relief, used_bytes
from kmc.engine.checkpoint.save import Parts, Saver
from kmc.engine.checkpoint.spill_files import Shelf
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout import control_words as f
from kmc.engine.layout.dictionary import Lexicon
from kmc.engine.layout.frontier import Level, Record, joined
from kmc.engine.layout.kernel_interface import Kernels
from kmc.engine.layout.search_outcome import Edge, Outcome, Settings
from kmc.engine.loops.compiled_loops import Loop, crown_loop, seek_loop, work_loop, yield_address
from kmc.engine.loops.unpack import records_of
from kmc.engine.native.memory import Memory
from kmc.engine.native.signals import heard
from kmc.engine.native.specialization import Traits
from kmc.engine.native.threads import Crew
from kmc.engine.run_state.finding_log import Ledger
from kmc.engine.run_state.fingerprint_table import FingerprintTable, target_table
from kmc.engine.search.counters import generated, give, goals, taken, total
from kmc.engine.search.worker import Worker
from kmc.errors import SystemFault
from kmc.process import cpu_seconds
from kmc.result import Bound, Counters, Limits

_PROGRESS_SECONDS = 1.0
_MEMORY_CODES = ("KMC530", "KMC531")
_NO_CHUNKS = np.zeros((0, f.CHUNK_WORDS), np.int64)


class Search:
    """One run of a model from `initial` states; `progress` is called about once a second, in the calling thread."""

    def __init__(
        self,
        kernels: Kernels,
        initial: Sequence[Record],
        settings: Settings | None = None,
        progress: Callable[[Counters], None] | None = None,
        directory: RunDirectory | None = None,
    ) -> None:
        self._kernels = kernels
        self._initial = list(initial)
        self._settings = settings or Settings()
        self._progress = progress
        self._limits = self._settings.limits
        self._began = self._told = time.monotonic()
        self._seconds_before, self._cpu_before, self._cpu_began = 0.0, 0.0, cpu_seconds()
        self._unfinished = _NO_CHUNKS
        self._stopped: Bound | None = None
        self._stopping = self._interrupted = False
        self._levels: list[int] = []
        self._history: dict[int, Level] = {}
        self._frontier_bytes_max = 0
        self._goals_asked = 0
        self._earlier: Search | None = None
        self._crew = Crew(self._settings.threads, self._poll, self._stop)
        self._ledger = Ledger(kernels.invariant_count, kernels.meets_again)
        self._known = FingerprintTable(self._settings.table_slots, wide=kernels.wide)
        self._found = self._level_table(self._settings.table_slots) if kernels.rank else self._known
        self._lexicon = Lexicon(kernels.plain_words, kernels.implied_words)
        self._traits = Traits(kernels.wide, kernels.rank != 0, self._settings.delays is not None)
        self._shared = Memory(f.SHARED_WORDS)
        self._words = self._shared.array
        self._tell_kernels()
        shelf = Shelf(directory, ranked=kernels.rank != 0) if directory is not None else None
        self._relief = Relief(self._settings, shelf)
        properties = kernels.invariant_count + kernels.transition_invariant_count
        self._workers = [
            Worker(self._relief, self._settings.batch, kernels.action_count + 1, properties)
            for _ in range(self._settings.threads)
        ]
        self._saver: Saver | None = None
        if directory is not None and shelf is not None:
            parts = Parts(self._ledger, self._lexicon, shelf, self._crew, self._shared)
            self._saver = Saver(directory, parts, self._settings.save_seconds)
        if self._settings.delays is not None:
            self._words[f.YIELD] = yield_address()
            for number, worker in enumerate(self._workers):
                worker.words[f.CHANCE] = random.Random(f"{self._settings.delays} {number}").getrandbits(62)

    def _tell_kernels(self) -> None:
        kernels, settings, words = self._kernels, self._settings, self._words
        words[f.EXPAND], words[f.CHECK], words[f.INVARIANTS] = kernels.expand, kernels.check, kernels.invariant_count
        words[f.OUTSIDE], words[f.STEP_OUTSIDE] = kernels.outside, kernels.step_outside
        words[f.REACH] = kernels.goals
        words[f.STEP], words[f.RANK] = kernels.step, kernels.rank
        words[f.SETTLE], words[f.TOUCHED] = kernels.settle, kernels.touched
        words[f.LEXICON], words[f.PLAIN] = self._lexicon.address, self._lexicon.plain
        words[f.IMPLIED] = self._lexicon.implied
        words[f.ALONE] = settings.threads == 1
        words[f.DEADLOCK], words[f.LOGGING], words[f.REPEATED] = settings.deadlock, 1, kernels.meets_again
        words[f.BATCH], words[f.CHUNK_ROWS] = settings.batch, settings.chunk_rows
        self._tell_tables()

    def _level_table(self, slots: int) -> FingerprintTable:
        return FingerprintTable(slots, ranked=True, wide=self._kernels.wide)

    def _tell_tables(self) -> None:
        words = self._words
        words[f.TABLE], words[f.SLOTS], words[f.LIMIT] = self._found.address, self._found.slots, self._found.limit
        words[f.KNOWN], words[f.KNOWN_SLOTS] = self._known.address, self._known.slots

    def run(self) -> Outcome:
        """Explore until done, a finding, a limit or Ctrl-C; where it was cut short, save the last level that ended.

        SystemFault when a file or memory fails; what was saved then is as good as after a crash.
        """
        self._told = time.monotonic()
        with heard(self._interrupt):
            try:
                self._explore(None)
                if self._stopped is not None or self._interrupted:
                    self._save()
            except SystemFault as fault:
                if fault.code in _MEMORY_CODES:
                    self._save()
                raise
            except KeyboardInterrupt:
                # The second: wherever it came, what was saved before is whole.
                self._interrupted = True
        return self._outcome()

    def _interrupt(self) -> None:
        self._interrupted = True
        self._stop()

    def _save(self) -> None:
        if self._saver is not None:
            self._saver.save(self._known, [self._unfinished, *(worker.made for worker in self._workers)])

    def _explore(self, until: int | None) -> None:
        """Expand level after level; with `until`, stop when that many are known, whatever they hold."""
        level = self._resumed_level() or self._first_level()
        while level is not None and level.rows:
            self._keep(len(self._levels), level)
            if until is not None and len(self._levels) >= until:
                return
            if until is None and self._ledger.found_any and not self._settings.keep_going:
                return
            self._end_level(level)
            states = self._limits.states
            if states is not None and len(self._levels) > 1 and sum(self._levels) >= states:
                self._stopped = Bound.STATES
            self._poll()
            if self._stopped is not None or self._stopping:
                return
            level = self._next_level(level)
        if self._stopped is None and any(worker.words[f.BEYOND] for worker in self._workers):
            self._stopped = Bound.DEPTH

    def _end_level(self, level: Level) -> None:
        """Note where the search stands, and save it if that is due."""
        if self._saver is not None and self._saver.levels < len(self._levels):
            seconds = self._seconds_before + time.monotonic() - self._began
            cpu = self._cpu_before + cpu_seconds() - self._cpu_began
            snapshot = taken(self._workers, self._ledger, self._levels, self._goals_asked, seconds, cpu)
            self._saver.end_level(snapshot, level, self._known)

    def _resumed_level(self) -> Level | None:
        """The level that the folder holds, if one was saved, and the search as it stood there."""
        if self._saver is None or (snapshot := self._saver.snapshot) is None:
            return None
        distinct = sum(snapshot.levels)
        self._known.grow(distinct + distinct // 4, self._crew)
        level = self._saver.resume(self._known)
        give(self._workers[0], snapshot)
        self._levels = list(snapshot.levels)
        self._words[f.COUNT] = 0 if self._kernels.rank else distinct
        self._words[f.LOGGING], self._goals_asked = not self._ledger.found_any, snapshot.goals_asked
        self._seconds_before, self._cpu_before = snapshot.seconds, snapshot.cpu_seconds
        self._tell_tables()
        return level

    def _first_level(self) -> Level | None:
        self._words[f.STORING] = 1
        actions = self._kernels.action_count
        self._workers[0].offer([replace(record, action=actions) for record in self._initial])
        self._words[f.CHUNK_COUNT] = 0
        return self._make_level(0)

    def _next_level(self, level: Level) -> Level | None:
        number, depth = len(self._levels), self._limits.depth
        self._words[f.STORING] = depth is None or number < depth
        self._set_chunks(level)
        return self._make_level(level.rows)

    def _keep(self, number: int, level: Level) -> None:
        """Level `number` is there: keep it, and forget the oldest beyond the size of the history."""
        self._history[number] = level
        size = sum(kept.bytes for kept in self._history.values())
        self._frontier_bytes_max = max(self._frontier_bytes_max, size)
        for old in sorted(self._history)[:-1]:
            if size <= self._settings.history_bytes and not self._relief.spilling:
                break
            forgotten = self._history.pop(old)
            size -= forgotten.bytes
            self._relief.forget(old, forgotten)
        self._relief.rest(number, level.blocks)

    def _set_chunks(self, level: Level) -> None:
        self._words[f.CHUNKS] = level.chunks.ctypes.data
        self._words[f.CHUNK_COUNT] = len(level.chunks)
        self._words[f.NEXT_CHUNK] = 0
        for worker in self._workers:
            worker.words[f.ROWS_LEFT] = 0

    def _make_level(self, rows: int) -> Level | None:
        """Run the loop over the chunks that are set; the level that it made, or None if it was stopped."""
        self._relief.making = len(self._levels) + 1
        self._words[f.ASKED] = ~goals(self._workers) & (1 << self._kernels.goal_count) - 1
        finished = self._run_loop(work_loop(self._traits), rows)
        self._ledger.add(len(self._levels), (worker.take_log() for worker in self._workers))
        if self._ledger.found_any and self._words[f.LOGGING]:
            self._words[f.LOGGING] = 0
            self._goals_asked = int(self._words[f.ASKED])
        if not finished:
            return None
        made = [worker.end_level() for worker in self._workers]
        starts = np.cumsum([0] + [count for _, count, _ in made]).tolist()
        chunks = joined([(part, start) for (part, _, _), start in zip(made, starts, strict=False)])
        level = Level(starts[-1], chunks, tuple(block for _, _, blocks in made for block in blocks))
        for worker in self._workers:
            worker.begin_level()
        if self._kernels.rank and level.rows:
            self._unfinished = level.chunks
            crowned = self._crowned(level)
            if crowned is None:
                return None
            self._unfinished, level = _NO_CHUNKS, crowned
        if level.rows:
            self._levels.append(level.rows)
        return level

    def _crowned(self, level: Level) -> Level | None:
        """Close a level of ranked views: one row of each view stays alive. None if it was stopped."""
        rows = int(self._words[f.COUNT])
        if not self._grow(self._known, sum(self._levels) + rows):
            return None
        self._set_chunks(level)
        if not self._run_loop(crown_loop(self._traits), level.rows):
            return None
        self._found = self._level_table(max(self._settings.table_slots, 2 * rows))
        self._words[f.COUNT] = 0
        self._tell_tables()
        return replace(level, rows=rows)

    def _run_loop(self, loop: Loop, rows: int) -> bool:
        """Run a loop on all threads, or in this one if rows are few; False if it was stopped."""
        threads = 0 if rows <= self._settings.chunk_rows else None
        while not self._stopping:
            answers = self._crew.run(lambda number: self._drive(loop, self._workers[number]), threads)
            if all(answer == f.DONE for answer in answers):
                return True
            if f.NEED_TABLE in answers and not self._stopping:
                pending = sum(worker.pending for worker in self._workers)
                self._words[f.PAUSE] = 0
                self._grow(self._found, int(self._words[f.COUNT]) + pending)
            self._words[f.PAUSE] = self._stopping
        return False

    def _grow(self, table: FingerprintTable, count: int) -> bool:
        """Make room for `count` fingerprints; False if that would take too much memory, and the search is stopped."""
        if not self._fits(table.growth_bytes(count)):
            self._stop(Bound.MEMORY)
            return False
        table.grow(count, self._crew)
        self._tell_tables()
        return True

    def _fits(self, more_bytes: int) -> bool:
        full = [block for worker in self._workers for block in worker.full_blocks]
        return self._relief.leaves_room(more_bytes, self._history, full)

    def _drive(self, loop: Loop, worker: Worker) -> int:
        while True:
            status = loop(self._shared.address, worker.address)
            if status in (f.DONE, f.PAUSED):
                return status
            if status == f.NEED_TABLE:
                self._words[f.PAUSE] = 1
                return status
            worker.provide(status)

    def _poll(self) -> None:
        now = time.monotonic()
        limits = self._limits
        if limits.seconds is not None and now - self._began >= limits.seconds:
            self._stop(Bound.TIME)
        elif limits.memory_bytes is not None and not self._fits(0):
            self._stop(Bound.MEMORY)
        elif self._progress is not None and now - self._told >= _PROGRESS_SECONDS:
            self._told = now
            self._progress(self.counters())

    def _stop(self, bound: Bound | None = None) -> None:
        self._stopped = self._stopped or bound
        self._stopping = True
        self._words[f.PAUSE] = 1

    def counters(self) -> Counters:
        """The counters so far; while threads run, those of their last full batches."""
        distinct = total(self._workers, f.STORED)
        return Counters(
            generated=generated(self._workers),
            distinct=distinct,
            left=distinct - total(self._workers, f.EXPANDED),
            depth=max(1, len(self._levels)),
            seconds=self._seconds_before + time.monotonic() - self._began,
            memory_bytes=used_bytes(),
        )

    def _outcome(self) -> Outcome:
        workers, kernels = self._workers, self._kernels
        by_action = np.sum([worker.generated.array for worker in workers], axis=0).tolist()
        failed = np.sum([worker.failed.array for worker in workers], axis=0)
        if kernels.meets_again:
            failed[: kernels.invariant_count] = 0
        failed[: kernels.invariant_count] += self._ledger.counted
        return Outcome(
            generated=generated(self._workers),
            distinct=total(self._workers, f.STORED),
            expanded=total(self._workers, f.EXPANDED),
            initial=by_action[-1],
            levels=tuple(self._levels),
            generated_by_action=tuple(by_action[:-1]),
            findings=self._ledger.findings,
            failed=tuple(failed.tolist()),
            goals=goals(self._workers),
            goals_asked=self._goals_asked,
            stopped=self._stopped,
            interrupted=self._interrupted,
            table_bytes=self._known.bytes,
            frontier_bytes_max=self._frontier_bytes_max,
            rows_bytes=sum(worker.rows_words for worker in workers) * f.WORD_BYTES,
            growths=tuple(self._known.growths),
            cpu_seconds_before=self._cpu_before,
        )

    def predecessors(self, level: int, fingerprint: int, *, rank: int | None = None, inside: bool = True) -> list[Edge]:
        """`steps_into` one state. `rank` tells states of one view apart; `inside` leaves out steps that break a
        constraint.
        """
        edges = self.steps_into(level, [fingerprint])[fingerprint]
        return [edge for edge in edges if self.counts(edge, rank=rank, inside=inside)]

    def counts(self, edge: Edge, *, rank: int | None, inside: bool) -> bool:
        """Whether `predecessors` takes a step, of those that `steps_into` gives."""
        kernels = self._kernels
        if rank is not None and kernels.rank_of(edge.successor.row) != rank:
            return False
        return not inside or kernels.is_inside(edge.source.row, edge.successor.row)

    def steps_into(self, level: int, fingerprints: Collection[int]) -> dict[int, list[Edge]]:
        """All steps from states of `level` (from 1) to each of some states, by fingerprint of the source; after `run`.

        A level that is kept is expanded again, once for all. For an older one another search, without properties,
        goes there first: when levels grow, that costs less than the search did, and it keeps the levels before it
        too, up to `history_bytes`.
        """
        if level not in self._history:
            return self._earlier_search(level).steps_into(level, fingerprints)
        steps: dict[int, list[Edge]] = {fingerprint: [] for fingerprint in fingerprints}
        for source in self._sought(level, fingerprints, steps=True):
            for successor in self._kernels.successors(source.row):
                if successor.fingerprint in steps:
                    steps[successor.fingerprint].append(Edge(source, successor))
        return steps

    def states(self, level: int, fingerprints: Collection[int]) -> dict[int, Record]:
        """The states of `level` (from 1) with these fingerprints, those that are there; after `run`."""
        if level > len(self._levels):
            # Every state of it lies outside of the constraints.
            return {}
        if level not in self._history:
            return self._earlier_search(level).states(level, fingerprints)
        return {record.fingerprint: record for record in self._sought(level, fingerprints, steps=False)}

    def _sought(self, level: int, fingerprints: Collection[int], *, steps: bool) -> list[Record]:
        """Rows of a kept level that are among `fingerprints`, or have a step to one of them; by fingerprint."""
        targets = target_table(fingerprints)
        self._words[f.TARGETS], self._words[f.TARGET_SLOTS] = targets.address, targets.words
        self._words[f.TARGET_STEPS] = steps
        self._words[f.PAUSE] = self._stopping = False
        for worker in self._workers:
            worker.abandon()
        self._set_chunks(self._history[level])
        self._limits = Limits()
        finished = self._run_loop(seek_loop(), self._history[level].rows)
        assert finished, "without limits only an exception stops a loop"
        logs = np.concatenate([worker.take_log() for worker in self._workers])
        found = records_of(self._lexicon, self._history[level].chunks, logs[:, f.ENTRY_VALUE].tolist())
        return sorted(found, key=lambda record: record.fingerprint)

    def _earlier_search(self, level: int) -> Search:
        if self._earlier is None or not self._earlier.covers(level):
            self._earlier = None
            limits = Limits()
            kernels = replace(
                self._kernels, check=0, step=0, invariant_count=0, goal_count=0, transition_invariant_count=0
            )
            settings = replace(self._settings, limits=limits, deadlock=False)
            self._earlier = Search(kernels, self._initial, settings)
            self._earlier.advance(level)
        return self._earlier

    def covers(self, level: int) -> bool:
        """Whether `predecessors` of this level costs no more than expanding a level."""
        return level in self._history or (self._earlier is not None and self._earlier.covers(level))

    def advance(self, level: int) -> None:
        """Instead of `run`: explore only as far as to hold `level`."""
        self._explore(level)

    def kept(self, level: int) -> list[Record]:
        """The states of a level (from 1), in order, if the history still holds it; KeyError if not."""
        chunks = self._history[level].chunks
        return records_of(self._lexicon, chunks, range(int(chunks[:, 1].sum())))
