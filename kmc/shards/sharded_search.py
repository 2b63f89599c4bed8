"""The breadth-first search with its states in files: its levels are made by tasks, and saved where they lie.

A level is made in two steps. Tasks expand the rows of the level before it; each writes its new rows to one file and
sends their fingerprints to the shards that own them. Then each shard answers which are new, and adds them to its known
ones.

Invariants: counts, levels and findings are those of `kmc.engine.search.breadth_first`, for any number of shards, tasks
and executors. Sums are compared at every level: all states of a level are expanded, and all entries that were sent are
received.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.files.durable_folder import is_unsaved
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.files.run_manifest import Snapshot, restoring
from kmc.engine.lassos.choice import LassoAnswers
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.layout.word_dictionary import Dictionary
from kmc.engine.loops.checksums import run_storing
from kmc.engine.native.memory import WORD_BYTES, address_of
from kmc.engine.search.level_search import LevelSearch
from kmc.errors import SystemFault
from kmc.liveness.lasso_queries import FairnessCondition, TemporalCheck
from kmc.process import memory_bytes
from kmc.result import Counters, Limits, LookingBack
from kmc.shards.executors.executor import Executor
from kmc.shards.files.store import ShardStore, new_name
from kmc.shards.files.word_files import WordFile, read_words, write_words
from kmc.shards.graph.graph_maker import GraphMaker, Levels
from kmc.shards.graph.noted_levels import noted_states, noted_steps, with_level
from kmc.shards.kept_states import require_kept
from kmc.shards.known_runs import KnownRuns
from kmc.shards.level.expander import Stopped
from kmc.shards.level.level_watch import LevelWatch, next_level_bytes, shard_figures, shard_progress
from kmc.shards.level.noted_steps import NotedSteps
from kmc.shards.level.run_state import LevelFiles, RunState, restored_state
from kmc.shards.level.segment_groups import segment_groups, segments_of
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import Expanded, ExpandTask, LevelSource, Merged, MergeTask, RowsTask, this_process
from kmc.shards.looking_back import KeptLevels, ShardedLookup
from kmc.shards.made_level import MadeLevel, Reading, compare_sums, seek_rows
from kmc.shards.redivide import Redivision
from kmc.shards.search_counts import SearchCounts

_LOST = ("KMC530", "KMC531", "KMC532", "KMC560", "KMC561", "KMC562", "KMC564", "KMC565", "KMC570", "KMC573")
"""The faults of memory, of executors and of a storage, which say nothing against the files of whole levels."""

UNCODED_MAX = 1 << 16
"""The number of words without a code that the tasks of a level report together, about; no more words have codes."""


class ShardedSearch(LevelSearch):
    """One run of a model from `initial` states, with files in `store`.

    `executor_of` makes the executor from the function that it calls while tasks run. With `borrows`, the executor and
    the store are those of another search, and closing this one removes its files. With a `directory` the run can be
    resumed. `predecessors` answers, after `run`, which states a level has and which steps lead to them.
    """

    def __init__(
        self,
        kernels: KernelTable,
        initial: Sequence[PackedState],
        settings: Settings,
        sharding: Sharding,
        store: ShardStore,
        executor_of: Callable[[Callable[[], None]], Executor],
        progress: Callable[[Counters], None] | None = None,
        directory: RunDirectory | None = None,
        noting: Noting | None = None,
        *,
        borrows: bool = False,
    ) -> None:
        super().__init__(settings, progress)
        self._kernels = kernels
        self._initial = tuple(initial)
        self._borrows = borrows
        self._sharding = sharding
        self._store = store
        self._directory = directory
        self._saved = time.monotonic()
        self._beyond = self._ended = False
        self._counts = SearchCounts(kernels)
        self._dictionary = Dictionary(kernels.plain_words, kernels.implied_words)
        self._standing = self._snapshot()
        self._garbage: list[str] = []
        self._watch = LevelWatch()
        self.state = RunState(
            sharding.shards, self._written_dictionary(), self._written_met(), runs=((),) * sharding.shards_for(0, 1)
        )
        self._executor = executor_of(self._poll)
        self._files = KnownRuns(self._executor, self._store, self._watch)
        self._again: ShardedSearch | None = None
        self._noting = noting
        self._last_steps: tuple[NotedSteps, ...] = ()
        self._graph: GraphMaker | None = None
        self.predecessors = ShardedLookup(kernels, self, self._search_again)

    ends_when_refuted = False

    @property
    def levels(self) -> Mapping[int, LevelFiles]:
        """The files of the levels whose rows are kept, by number."""
        return self.state.levels

    @property
    def depth(self) -> int:
        """The number of levels that have states, whether their rows are kept or not."""
        return len(self._counts.levels)

    @property
    def executor(self) -> Executor:
        """The executor of its tasks."""
        return self._executor

    @property
    def _distinct(self) -> int:
        return self._counts.distinct

    @property
    def _has_failed(self) -> bool:
        return self._counts.found_any

    @property
    def _has_successors_beyond(self) -> bool:
        return self._beyond

    def _stop_making(self) -> None:
        self._executor.stop()

    def _save_at_the_end(self, *, cut_short: bool) -> None:
        if not self._interrupted:
            # A limit that ended the search does not end the check of its states. Ctrl-C does, and then there is no
            # result.
            self._limits = Limits()
            if self._stopping:
                self._executor.restart()
            with suppress(Stopped):
                self._files.check(self.state.runs)
            cut_short |= self._interrupted
        goes_on = self._counts.found_any and 1 not in self.state.levels
        goes_on |= self._noting is not None and self._is_save_due
        if cut_short or self._settings.keep_states or goes_on:
            self._save()

    def _save_after(self, fault: SystemFault) -> None:
        if is_unsaved(fault):
            self._save_on_a_full_disk()
        elif fault.code in _LOST:
            # The files of whole levels are there. Tasks that remove others may fail as the level did.
            with suppress(SystemFault, Stopped):
                self._save()

    def _finish(self) -> None:
        self._ended = True
        self._executor.restart()

    def close(self) -> None:
        """Give back the resources of the executor; nothing can be looked up afterwards."""
        if self._borrows:
            self._store.remove([*self.state.names, *self._garbage])
            return
        self.predecessors.close()
        if self._graph is not None:
            self._graph.close()
        self._executor.close()

    @property
    def behaviours(self) -> GraphMaker | None:
        """The maker of the behaviour graph, after `run`; None if no steps were recorded."""
        if self._graph is None and self._noting is not None:
            levels = Levels.of(self.state.noted, self._last_steps, self._counts.levels, bounded=self._beyond)
            memory = self._settings.limits.memory_bytes
            self._graph = GraphMaker(self._kernels, self._noting, levels, self._executor, self._store, memory)
        return self._graph

    def lassos(self, fairness: Sequence[FairnessCondition], checks: Sequence[TemporalCheck], /) -> LassoAnswers:
        """See `ModelSearch`."""
        assert self.behaviours is not None, "the search has recorded steps"
        return self.behaviours.lassos(fairness, checks)

    def _first_level(self) -> bool:
        return self._resumed() or self._make_level(*self._first_tasks(), store=True)

    def _next_level(self, *, store: bool) -> bool:
        return self._make_level(*self._tasks(), store=store)

    def _end_level(self) -> None:
        self._warn_of_disk()
        if self._is_save_due:
            self._save()

    @property
    def _is_save_due(self) -> bool:
        return time.monotonic() - self._saved >= self._settings.save_seconds

    def _warn_of_disk(self) -> None:
        """Tell of the progress where the disk is probably too small for the next level."""
        need = self._next_level_bytes
        free = self._store.free_bytes() if need is not None and self._progress is not None else None
        if self._progress is not None and need is not None and free is not None and need > free:
            self._progress(self.counters())

    @property
    def _next_level_bytes(self) -> int | None:
        """The bytes that the next level probably writes; None if no level follows, or it is in work."""
        if self._ended or self._watch.in_work:
            return None
        return next_level_bytes(self.state, self._counts.levels, wide=self._kernels.wide)

    def _first_tasks(self) -> tuple[LevelSource, list[ExpandTask]]:
        source = LevelSource((), self.state.dictionary, self._counts.wanted)
        return source, [ExpandTask(RowsTask(1, 0, ()), len(self.state.runs), self._initial, self._noting is not None)]

    def _tasks(self) -> tuple[LevelSource, list[ExpandTask]]:
        shards, noted = len(self.state.runs), self._noting is not None
        source, rows_tasks = self.reading(self.depth, self._counts.wanted)
        return source, [ExpandTask(rows, shards, noted=noted) for rows in rows_tasks]

    def reading(self, level: int, wanted: int = 0, files: LevelFiles | None = None) -> Reading:
        """Tasks that together read all rows of a level: of one whose files are kept, or of these files."""
        level_files = files or self.state.levels[level]
        segments = segments_of(level_files.rows)
        rows = sum(segment.rows for segment in segments)
        groups = segment_groups(segments, self._sharding.rows_of_task(rows, self._executor.slots))
        uncoded_max = -(-UNCODED_MAX // max(1, len(groups)))
        listing = not self._counts.found_any
        source = LevelSource(level_files.bits, self.state.dictionary, wanted, listing, uncoded_max)
        return source, [RowsTask(level + 1, index, group) for index, group in enumerate(groups)]

    def _make_level(self, source: LevelSource, tasks: Sequence[ExpandTask], *, store: bool) -> bool:
        """Make the next level; False if it has no states, or was stopped. Without `store`, states are only checked."""
        depth = self.depth + 1
        noted = store and self._noting is not None
        merges = [MergeTask(depth, shard, runs, store, noted) for shard, runs in enumerate(self.state.runs)]
        self._watch.begin(depth, len(tasks), len(merges))
        try:
            expanded, merged = self._executor.level(source, tasks, merges, self._watch.ended)
            compare_sums(self._counts.levels, expanded, merged)
            files = LevelFiles(
                tuple(answer.file for answer in expanded if answer.file), tuple(answer.bits for answer in merged)
            )
            new = sum(answer.new for answer in merged)
            reading = partial(self.reading, depth, self._counts.wanted, files)
            checked = MadeLevel(self._kernels, expanded, reading, new, stored=store).checked(self._executor)
        except Stopped:
            return False
        finally:
            self._watch.end()
        self._counts.add(depth, expanded, checked)
        efforts = [*(answer.effort for answer in expanded), *(answer.effort for answer in merged)]
        self._cpu_elsewhere += sum(effort.cpu_seconds for effort in efforts if effort.process != this_process())
        if not store or not new:
            self._beyond = not store and new > 0
            self._store.remove((*files.names, *(file.name for file in noted_states(expanded))))
            self._last_steps = noted_steps(expanded)
            return False
        self._counts.levels.append(new)
        self._take(depth, files, expanded, merged)
        return True

    def seek(self, level: int, fingerprints: Collection[int], *, steps: bool) -> list[PackedState]:
        """See `StepLookup.seek`; KeyError if the files of the level are not kept."""
        return seek_rows(self._executor, self.reading(level), fingerprints, steps=steps)

    def _take(self, depth: int, files: LevelFiles, expanded: Sequence[Expanded], merged: Sequence[Merged]) -> None:
        """Stand at the end of a level that was made."""
        state = self.state
        rows_bytes = sum(file.words for file in files.rows) * WORD_BYTES
        digest, noted = (state.digest + sum(answer.digest for answer in merged)) % (1 << 64), state.noted
        if self._noting is not None:
            noted = with_level(noted, expanded, merged, self._snapshot(), digest)
        self.state = replace(
            state,
            levels={**state.levels, depth: files},
            runs=tuple(answer.runs for answer in merged),
            digest=digest,
            traffic=state.traffic.and_of(tuple(merged), rows_bytes, self._entry_bytes),
            noted=noted,
        )
        # A level beyond a bound adds to the counts, and a search that goes on makes it again.
        self._standing = self._snapshot()
        self._garbage += [name for answer in merged for name in answer.replaced]
        self._drop_old_levels()
        self._code_words([word for answer in expanded for word in answer.uncoded])
        self._divide()
        self._remove_garbage()

    def _drop_old_levels(self) -> None:
        """Keep so many bytes of older levels as a search in memory does; see `looking_back` for those that are dropped.

        Their pages in memory are used again for the next rows at once, and few of them ever reach the disk.
        """
        if self._settings.keep_states:
            return
        self.state, dropped = self.state.within(self._settings.history_bytes)
        self._garbage += dropped

    def _search_again(self, level: int) -> KeptLevels:
        """A search that has gone to a level, and keeps all rows of its levels."""
        self._again = ShardedSearch(
            self._kernels,
            self._initial,
            replace(self._settings, keep_states=True, limits=Limits()),
            self._sharding,
            self._store,
            lambda _: self._executor,
            borrows=True,
        )
        self._again.go_to(level)
        return self._again

    def _code_words(self, words: Sequence[int]) -> None:
        """Give codes to words that had none, for the next level."""
        before = self._dictionary.words.copy()
        more = np.unique(np.array(words, np.int64))
        run_storing("assign_codes", source=address_of(more), count=len(more), target=self._dictionary.address)
        if (before != self._dictionary.words).any():
            self._garbage.append(self.state.dictionary.name)
            self.state = replace(self.state, dictionary=self._written_dictionary())

    def _written_dictionary(self) -> WordFile:
        return write_words(self._store, new_name("words", self.depth, 0), [self._dictionary.words])

    def _written_met(self) -> WordFile:
        met = self._counts.met_words(self._standing.met)
        return write_words(self._store, new_name("words", self.depth, 1), [met])

    def _save(self) -> None:
        """Save the end of the last level in the run's folder, and remove the files that are no longer needed."""
        directory = self._directory
        if directory is None or not self.depth or self._is_saved(directory):
            return
        if self._standing.met * 2 != self.state.met.words:
            self._garbage.append(self.state.met.name)
            self.state = replace(self.state, met=self._written_met())
        needed = self.state.names
        last = {name for steps in self._last_steps for name in steps.names}
        self._store.sync(needed - directory.manifest.files)
        bits = 128 if self._kernels.wide else 64
        snapshot = replace(self._standing, seconds=self._seconds, cpu_seconds=self._cpu_seconds)
        manifest = replace(directory.manifest, snapshot=snapshot, fingerprint_bits=bits, sharded=self.state.as_json())
        directory.commit(manifest)
        self._saved = time.monotonic()
        # No task runs that counts. One that comes late may still write: its file goes with the next save, or the run.
        needed |= last
        self._files.remove(name for name in self._store.names() if name not in needed)
        self._garbage.clear()

    def _save_on_a_full_disk(self) -> None:
        """Save the last whole level, whose files are there, in the room that the level in work and the reserve leave.

        Without that room, the save before stays as it is.
        """
        if self._directory is None:
            return
        with suppress(SystemFault):
            self._directory.spend_reserve()
            needed = self.state.names | self._directory.manifest.files
            self._store.remove([name for name in self._store.names() if name not in needed])
            self._save()

    def _is_saved(self, directory: RunDirectory) -> bool:
        saved = directory.manifest.sharded
        return directory.manifest.levels == self.depth and saved is not None and saved["counted_levels"] is None

    def _remove_garbage(self) -> None:
        """Remove the files that neither the search nor the manifest on the disk needs."""
        needed = self._directory.manifest.files if self._directory is not None else frozenset()
        self._files.remove(name for name in self._garbage if name not in needed)
        self._garbage = [name for name in self._garbage if name in needed]

    def _snapshot(self) -> Snapshot:
        return self._counts.snapshot(self._seconds, self._cpu_seconds)

    def _resumed(self) -> bool:
        """Restore the state of a saved search; False if there is none."""
        directory = self._directory
        if directory is None or (manifest := directory.manifest).snapshot is None or manifest.sharded is None:
            return False
        snapshot = manifest.snapshot
        with restoring(directory.folder):
            state = restored_state(manifest.sharded, snapshot)
        if self._settings.keep_states:
            require_kept(state, len(snapshot.levels), directory.path)
        self._garbage += [self.state.dictionary.name, self.state.met.name]
        self.state = replace(state, counted_levels=None)
        with restoring(directory.folder):
            self._dictionary.words[:] = read_words(self._store, state.dictionary).array
            met = read_words(self._store, state.met).array if state.met.words else np.zeros(0, np.int64)
            self._counts.restore(snapshot, met)
            self._standing = snapshot
            self._seconds_before, self._cpu_before = snapshot.seconds, snapshot.cpu_seconds
        # Outside of `restoring`: tasks raise the errors of damaged runs themselves, and a mistake of ours is none.
        with suppress(Stopped):
            self._files.check(state.runs)
        self._divide()
        return True

    def ended_at(self, levels: int) -> SearchOutcome:
        """The outcome of a search that ends when it has made so many levels, without a finding until then.

        After that `behaviours`, `counters` and the states that are kept are those of that search.
        """
        self._counts.go_back(self.state.noted[:levels])
        self.state = self.state.ended_at(levels)
        self._last_steps, self._stopped, self._beyond = (), None, False
        if self._graph is not None:
            self._graph.close()
            self._graph = None
        if self._settings.keep_states and self._directory is not None:
            # The saved run can still be resumed; only the readers of the states respect the number of levels that
            # count.
            manifest = self._directory.manifest
            assert manifest.sharded is not None, "a search that keeps its states has saved them"
            self._directory.commit(replace(manifest, sharded={**manifest.sharded, "counted_levels": levels}))
        return self._outcome()

    def _divide(self) -> None:
        """Go on with the shards that the known states fill; the levels keep the shards that they were made with."""
        sharding, before = self._sharding, self.state
        filled = sharding.shards_for(before.fingerprints, self._executor.slots)
        # A search that goes on with fewer slots keeps its shards: a division would cost more than it saves.
        wanted = min(sharding.shards, max(filled, len(before.runs)))
        self.state = replace(before, shards=sharding.shards)
        if wanted != len(before.runs):
            division = Redivision(sharding, wanted, self.depth, self._kernels.wide)
            with suppress(Stopped):
                self.state = self._files.divided(self.state, division)
                self._garbage += [run.name for runs in before.runs for run in runs]

    def counters(self) -> Counters:
        """The counters so far; while a level is made, with those of the tasks that have ended."""
        running, counts = self._watch.tasks, self._counts
        progress = shard_progress(
            self.state, self._watch, self._next_level_bytes, wide=self._kernels.wide, entry=self._entry_bytes
        )
        cluster, again = self._executor.cluster, self._again
        if cluster is not None:
            progress = replace(progress, executors=cluster.executors, is_job=cluster.is_job)
        if again is not None and again.target is not None:
            back = LookingBack(min(again.depth + 1, again.target), again.target)
            progress = replace(progress, disk_bytes=progress.disk_bytes + again.state.bytes, looking_back=back)
        return Counters(
            generated=int(counts.generated.sum()) + sum(task.generated for task in running),
            distinct=counts.distinct,
            left=counts.distinct - counts.expanded - sum(task.expanded for task in running),
            depth=max(1, self.depth),
            seconds=self._seconds,
            memory_bytes=memory_bytes(),
            shards=replace(progress, free_bytes=self._store.free_bytes()),
            levels=tuple(counts.levels),
        )

    @property
    def _entry_bytes(self) -> int:
        """The bytes that are sent for each candidate."""
        return WORD_BYTES * (1 + self._kernels.wide + (self._kernels.rank != 0))

    def _outcome(self) -> SearchOutcome:
        return self._counts.outcome(
            stopped=self._stopped,
            interrupted=self._interrupted,
            table_bytes=sum(run.words for shard in self.state.runs for run in shard) * WORD_BYTES,
            cpu_seconds_elsewhere=self._cpu_before + self._cpu_elsewhere,
            shards=shard_figures(self.state, self._watch, self._executor.cluster),
        )
