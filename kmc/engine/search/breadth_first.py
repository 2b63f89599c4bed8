"""The breadth-first search in memory: levels by a level maker on all threads, kept in a history, saved in a run.

The thread that finds a state first is unpredictable and not recorded: a trace uses the least of all predecessors, which
are found again by fingerprint (`predecessors`). The semantics are those of `kmc.reference.search`. A level passes a
`Level` to the next and nothing else: packed rows, in memory, on disk, or from another process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from kmc.engine.checkpoint.save import Parts, Saver
from kmc.engine.files.durable_folder import is_unsaved
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.files.run_manifest import restoring
from kmc.engine.files.spill_files import SpillFiles
from kmc.engine.layout import control_words as f
from kmc.engine.layout.frontier import Level, PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.loops.compiled_loops import loops_of
from kmc.engine.native.threads import WorkerPool
from kmc.engine.native.words import NULL
from kmc.engine.search import counters
from kmc.engine.search.history import History
from kmc.engine.search.level_maker import LevelMaker, LevelRecorder, specialization_of
from kmc.engine.search.level_search import LevelSearch
from kmc.engine.search.predecessors import Predecessors
from kmc.engine.stores.finding_log import FindingLog
from kmc.engine.stores.fingerprint_table import slots_for
from kmc.engine.stores.memory_budget import MemoryBudget
from kmc.errors import SystemFault
from kmc.liveness.behaviour_graph import BehaviourSource
from kmc.memory_limit import refuse_low_limit
from kmc.process import memory_bytes
from kmc.result import Bound, Counters, GrowingVariable, Limits

_WORKER_BYTES = 1 << 21
_MEMORY_CODES = ("KMC530", "KMC531")


def require_memory(
    kernels: KernelTable, settings: Settings, directory: RunDirectory | None, *, has_graph: bool
) -> None:
    """Raise CommandLineError KMC636 if the limit is lower than the least memory of a search.

    The least memory is that of its tables, with the states of a run that is resumed, and of its buffers. All its loops
    are loaded then, since compiling them needs memory too.
    """
    limit = settings.limits.memory_bytes
    if limit is None:
        return
    for loop in loops_of(specialization_of(kernels, settings, edges=has_graph)):
        loop.load()
    snapshot = directory.manifest.snapshot if directory is not None else None
    slots = slots_for(sum(snapshot.levels) if snapshot is not None else 0, settings.table_slots)
    slots += 2 * settings.table_slots if kernels.rank else 0
    table_bytes = slots * (1 + kernels.wide) * f.WORD_BYTES
    refuse_low_limit(limit, table_bytes + settings.threads * _WORKER_BYTES, settings.threads)


class LevelObserver(Protocol):
    """An observer that samples a few states of each level and reports the variables that grow."""

    @property
    def growing(self) -> tuple[GrowingVariable, ...]:
        """The variables that seem to grow without bound."""

    def level_made(self, level: int, sample: Callable[[int], list[PackedState]], /) -> None:
        """Look at a level; `sample` gives so many of its states, or fewer."""


class LaterKernels(Protocol):
    """Kernels of the same model that are faster and not there yet."""

    def arrived(self) -> KernelTable | None:
        """Return the kernels at the first call after they have become ready, else None.

        They are valid as long as this object lives.
        """

    def close(self) -> None:
        """End the work on them."""


class Search(LevelSearch):
    """One run of a model from `initial` states, with all levels in memory.

    `predecessors` answers, after `run`, which states a level has and which steps lead to them. A `recorder` makes the
    behaviour graph meanwhile, and gives it away afterwards. A `watch` sees each level before it is expanded. The search
    goes on with the kernels of `later` when they arrive.
    """

    def __init__(
        self,
        kernels: KernelTable,
        initial: Sequence[PackedState],
        settings: Settings | None = None,
        progress: Callable[[Counters], None] | None = None,
        directory: RunDirectory | None = None,
        recorder: LevelRecorder | None = None,
        watch: LevelObserver | None = None,
        later: LaterKernels | None = None,
    ) -> None:
        super().__init__(settings or Settings(), progress)
        self._kernels = kernels
        self._initial = list(initial)
        self._watch = watch
        self._later = later
        self._level: Level | None = None
        self._levels: list[int] = []
        self._reachable_asked = 0
        self._findings = FindingLog(kernels.check_count, kernels.meets_again)
        files = SpillFiles(directory, ranked=kernels.rank != 0) if directory is not None else None
        self._budget = MemoryBudget(self._settings, files)
        self._history = History(self._budget, self._settings.history_bytes)
        threads = WorkerPool(self._settings.threads, self._poll, self._stop)
        self._maker = LevelMaker(kernels, self._settings, threads, self._budget, self._fits, recorder)
        self.predecessors = Predecessors(kernels, self._maker, self._history, self._search_again)
        self.behaviours: BehaviourSource | None = recorder
        self._has_graph = recorder is not None
        self._saver: Saver | None = None
        if directory is not None and files is not None:
            parts = Parts(self._findings, self._maker.dictionary, files, threads, self._maker.shared, recorder)
            self._saver = Saver(directory, parts, self._settings.save_seconds)

    @property
    def depth(self) -> int:
        """See `LevelSearch`."""
        return len(self._levels)

    @property
    def _distinct(self) -> int:
        return sum(self._levels)

    @property
    def _has_failed(self) -> bool:
        return self._findings.found_any

    @property
    def _has_successors_beyond(self) -> bool:
        return self._maker.cut_by_the_bound

    def _is_refuted(self) -> bool:
        return self._maker.is_refuted

    def _stop_making(self) -> None:
        self._maker.stop()

    def close(self) -> None:
        """End the work on later kernels; nothing else is held but memory."""
        if self._later is not None:
            self._later.close()

    def _poll(self) -> None:
        """Poll, and change to the later kernels if they are ready."""
        super()._poll()
        if self._later is None or self._stopping:
            return
        kernels = self._later.arrived()
        if kernels is not None:
            self._kernels = kernels
            self._maker.change_kernels(kernels)

    def _save_at_the_end(self, *, cut_short: bool) -> None:
        if cut_short or self._is_graph_due:
            self._save()

    def _save_after(self, fault: SystemFault) -> None:
        if fault.code in _MEMORY_CODES:
            self._save()

    def _finish(self) -> None:
        self._level = None
        self.close()
        if self._stopping:
            self._maker.forget_unfinished()

    def _save(self) -> None:
        if self._saver is not None:
            self._saver.save(self._maker.known, self._maker.unfinished)

    @property
    def _is_graph_due(self) -> bool:
        """Whether to save a whole graph, since the search for lassos that follows may be cut short."""
        saver = self._saver
        return self._has_graph and saver is not None and not self._findings.found_any and saver.is_due

    def _first_level(self) -> bool:
        return self._stands_at(self._resumed_level() or self._made(self._maker.first(self._initial)))

    def _next_level(self, *, store: bool) -> bool:
        assert self._level is not None, "the search stands at a level"
        self._budget.making = len(self._levels) + 1
        return self._stands_at(self._made(self._maker.next(self._level, store=store)))

    def _stands_at(self, level: Level | None) -> bool:
        """Keep a level that was made, if it has states."""
        self._level = level
        if level is None or not level.rows:
            return False
        self._history.keep(len(self._levels), level)
        return True

    def _made(self, level: Level | None) -> Level | None:
        """Record the findings of a level, and its size; None stays None: it was stopped."""
        had_any = self._findings.found_any
        self._findings.add(len(self._levels), self._maker.take_findings())
        if self._findings.found_any and not had_any:
            self._maker.count_only()
            self._reachable_asked = self._maker.reachable_asked
        if level is not None and level.rows:
            self._levels.append(level.rows)
        return level

    def _end_level(self) -> None:
        level = self._level
        assert level is not None, "the search stands at a level"
        self._offer_to_save(level)
        if self._watch is not None:
            self._watch.level_made(len(self._levels), partial(self._maker.sample, level))

    def _offer_to_save(self, level: Level) -> None:
        """Give the saver a snapshot of the search; the saver saves if that is due."""
        if self._saver is None or self._saver.levels >= len(self._levels):
            return
        workers = self._maker.workers
        seconds, cpu = self._seconds, self._cpu_seconds
        snapshot = counters.snapshot(workers, self._findings, self._levels, self._reachable_asked, seconds, cpu)
        try:
            self._saver.end_level(snapshot, level, self._maker.known)
        except SystemFault as fault:
            if not is_unsaved(fault) or self._saver.levels:
                raise
            # All is in memory: the search goes on, and its next save writes everything.
            self._saver = self._saver.anew()

    def _resumed_level(self) -> Level | None:
        """The level that the folder holds, if one was saved, and the state of the search there."""
        saver = self._saver
        if saver is None or (snapshot := saver.snapshot) is None:
            return None
        with restoring("the folder of the run"):
            level = self._maker.restore(snapshot, lambda: saver.resume(self._maker.known))
        if self._findings.found_any:
            self._maker.count_only()
        self._levels = list(snapshot.levels)
        self._reachable_asked = snapshot.reachable_asked
        self._seconds_before, self._cpu_before = snapshot.seconds, snapshot.cpu_seconds
        return level

    def _fits(self, more_bytes: int) -> bool:
        """Whether so much more memory may be used, after giving back what can be given back; if not, the search
        stops.
        """
        fits = self._budget.fits(more_bytes, self._give_back)
        if not fits:
            self._stop(Bound.MEMORY)
        return fits

    def _give_back(self) -> None:
        self._history.drop_all_but_the_newest()
        self._history.spill()
        self._budget.spill(self._budget.making, self._maker.full_blocks)

    def _has_memory(self) -> bool:
        return self._limits.memory_bytes is None or self._fits(0)

    def counters(self) -> Counters:
        """The counters so far; while threads run, those of their last full batches."""
        workers = self._maker.workers
        distinct = counters.stored(workers)
        return Counters(
            generated=counters.generated(workers),
            distinct=distinct,
            left=distinct - counters.expanded(workers),
            depth=max(1, len(self._levels)),
            seconds=self._seconds,
            memory_bytes=memory_bytes(),
            levels=tuple(self._levels),
            rows_bytes=sum(worker.rows_words for worker in workers) * f.WORD_BYTES,
            growing=self._watch.growing if self._watch is not None else (),
            lacking_bytes=self._saver.lacking_bytes if self._saver is not None else 0,
        )

    def _outcome(self) -> SearchOutcome:
        workers, kernels, known = self._maker.workers, self._kernels, self._maker.known
        by_action = np.sum([worker.generated.array for worker in workers], axis=0).tolist()
        failed = np.sum([worker.failed.array for worker in workers], axis=0)
        if kernels.meets_again:
            failed[: kernels.check_count] = 0
        failed[: kernels.check_count] += self._findings.counted
        return SearchOutcome(
            generated=counters.generated(workers),
            cut=counters.cut(workers),
            distinct=counters.stored(workers),
            expanded=counters.expanded(workers),
            initial=by_action[-1],
            levels=tuple(self._levels),
            generated_by_action=tuple(by_action[:-1]),
            findings=self._findings.findings,
            failed=tuple(failed.tolist()),
            reached=counters.reached(workers),
            reachable_asked=self._reachable_asked,
            stopped=self._stopped,
            interrupted=self._interrupted,
            table_bytes=known.bytes,
            frontier_bytes_max=self._history.peak_bytes,
            rows_bytes=sum(worker.rows_words for worker in workers) * f.WORD_BYTES,
            growths=tuple(known.growths),
            cpu_seconds_elsewhere=self._cpu_before,
            has_late_errors=self._findings.has_late_errors,
        )

    def _search_again(self, level: int) -> Predecessors:
        """The predecessors by a search without properties that goes as far as `level`."""
        kernels = replace(self._kernels, check=NULL, step=NULL, check_count=0, reachable_count=0, step_count=0)
        search = Search(kernels, self._initial, replace(self._settings, limits=Limits(), deadlock=False))
        search.go_to(level)
        return search.predecessors
