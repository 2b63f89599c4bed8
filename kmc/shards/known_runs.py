"""Tasks on the files of a search: known fingerprints are checked and divided, and files removed.

Invariant: tasks read and write the files, and the driver holds names and sums. So the time of the driver does not grow
with the number of states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kmc.shards.executors.executor import Executor
from kmc.shards.files.store import ShardStore
from kmc.shards.files.store_task import StoreTask
from kmc.shards.level.expander import Stopped
from kmc.shards.level.level_watch import LevelWatch
from kmc.shards.level.merger import check_run
from kmc.shards.level.run_state import RunState
from kmc.shards.level.tasks import SortedRun
from kmc.shards.redivide import Redivision

Answer = TypeVar("Answer")

CHECKED_WORDS = 1 << 23
"""The least number of words that a task checks, 64 MB; the last task checks the rest."""

REMOVED_FILES = 1 << 9
"""The number of files that a task removes."""

REMOVED_HERE_MAX = 1 << 11
"""So many files are removed without tasks: a job of a cluster would take longer."""


@dataclass(frozen=True, slots=True)
class CheckedRuns:
    """A task that compares some runs with their checksums; its result is the number of their fingerprints."""

    runs: tuple[SortedRun, ...]

    def run(self, store: ShardStore) -> int:
        """See `StoreTask`; SystemFault KMC551 if a fingerprint may have been lost or changed since it was written."""
        for run in self.runs:
            check_run(run, store.read(run.name, run.words))
        return sum(run.count for run in self.runs)


@dataclass(frozen=True, slots=True)
class RemovedFiles:
    """A task that removes files, if they are there; its result is their number."""

    names: tuple[str, ...]

    def run(self, store: ShardStore) -> int:
        """See `StoreTask`."""
        store.remove(self.names)
        return len(self.names)


def checking_tasks(shards: Sequence[Sequence[SortedRun]], words_min: int) -> list[CheckedRuns]:
    """Tasks that together check all runs, each but the last of `words_min` words or more."""
    groups: list[list[SortedRun]] = []
    words = words_min
    for run in (run for runs in shards for run in runs):
        if words >= words_min:
            groups.append([])
            words = 0
        groups[-1].append(run)
        words += run.words
    return [CheckedRuns(tuple(group)) for group in groups]


class KnownRuns:
    """The known fingerprints of a search, and all of its files, for the tasks of its executor; `watch` is informed."""

    def __init__(self, executor: Executor, store: ShardStore, watch: LevelWatch) -> None:
        self._executor = executor
        self._store = store
        self._watch = watch

    def check(self, shards: Sequence[Sequence[SortedRun]]) -> None:
        """Raise SystemFault KMC551 if a known fingerprint may have been lost or changed; raises Stopped."""
        self._each("checking the known states", checking_tasks(shards, CHECKED_WORDS))

    def divided(self, state: RunState, division: Redivision) -> RunState:
        """The state of a search with its fingerprints in other shards. Raises Stopped."""
        made = self._each("dividing the known states among more shards", division.tasks(state.runs))
        return division.of_state(state, made)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, if they are there: many by tasks."""
        listed = tuple(names)
        if len(listed) <= REMOVED_HERE_MAX:
            self._store.remove(listed)
            return
        # The store of this process alone finds out whether another process has taken the run over.
        self._store.remove(listed[:1])
        tasks = [RemovedFiles(listed[start : start + REMOVED_FILES]) for start in range(1, len(listed), REMOVED_FILES)]
        try:
            self._each("removing files", tasks)
        except Stopped:
            self._store.remove(listed)

    def _each(self, title: str, tasks: Sequence[StoreTask[Answer]]) -> list[Answer]:
        self._watch.begin_work(title, len(tasks))
        try:
            return self._executor.each(tasks, self._watch.work_ended)
        finally:
            self._watch.end_work()
