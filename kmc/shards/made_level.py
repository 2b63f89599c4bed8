"""The results of the properties in a new level, once its owners have reported which rows are states of it.

A task judges the rows that it writes, and does not know whether they are new. So a violation by a row counts only if
the row was accepted: where some task met one, the accepted rows are checked once more, and only these checks count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kmc.engine.layout import record_structs as r
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.record_structs import FindingEntry
from kmc.engine.loops.checksums import WORD_MASK
from kmc.engine.native.memory import Words
from kmc.errors import InternalError
from kmc.shards.executors.executor import Executor
from kmc.shards.level.tasks import Expanded, LevelSource, Merged, RowsTask, SeekTask

Reading = tuple[LevelSource, list[RowsTask]]
"""Tasks that together read all rows of a level, and what they share."""

_ABOUT_NEW = (r.INVARIANT, r.STORED_CHECK_ERROR, r.REACHED)


@dataclass(frozen=True, slots=True)
class LevelFindings:
    """The findings of a level, the violations by invariant, and the mask of the reachables that were reached."""

    logs: list[Words]
    failed: Words
    reached: int


@dataclass(frozen=True, slots=True)
class MadeLevel:
    """A level with `new` states. `reading` makes the tasks that read all its rows; without `stored`, it lies beyond the
    bound.
    """

    kernels: KernelTable
    expanded: Sequence[Expanded]
    reading: Callable[[], Reading]
    new: int
    stored: bool

    def checked(self, executor: Executor) -> LevelFindings:
        """The findings of the level. Raises Stopped."""
        logs = [answer.findings for answer in self.expanded]
        reached = 0
        for answer in self.expanded:
            reached |= answer.reached
        failed = np.zeros(self.kernels.check_count, np.int64)
        if self.kernels.rank:
            accepted, more = self._of_new_views(executor, np.concatenate(logs))
            return LevelFindings([accepted], failed, reached | more)
        if any(answer.violating for answer in self.expanded) or (not self.stored and self.new):
            for checked in executor.check(*self.reading(), stored=self.stored):
                logs.append(checked.findings)
                failed += np.array(checked.failed, np.int64)
                reached |= checked.reached
        return LevelFindings(logs, failed, reached)

    def _of_new_views(self, executor: Executor, entries: Words) -> tuple[Words, int]:
        """The findings about states whose view is new in this level, and the reachable properties that hold there."""
        about_new = np.isin(entries[:, FindingEntry.kind], _ABOUT_NEW)
        targets = np.unique(entries[about_new, FindingEntry.fingerprint]).tolist()
        records = seek_rows(executor, self.reading(), targets, steps=False) if targets else []
        views = np.array([record.fingerprint for record in records], np.uint64).view(np.int64)
        kept = entries[~about_new | np.isin(entries[:, FindingEntry.fingerprint], views)].copy()
        kinds = kept[:, FindingEntry.kind]
        reached = 0
        for mask in kept[kinds == r.REACHED, FindingEntry.value].tolist():
            reached |= mask
        kinds[kinds == r.STORED_CHECK_ERROR] = r.CHECK_ERROR
        if not self.stored:
            kinds[kinds == r.INVARIANT] = r.UNSTORED_INVARIANT
        return kept[kinds != r.REACHED], reached


def seek_rows(executor: Executor, reading: Reading, fingerprints: Collection[int], *, steps: bool) -> list[PackedState]:
    """The accepted rows of tasks that are among some fingerprints, or that have a step to one, by fingerprint."""
    source, tasks = reading
    seeks = [SeekTask(task, tuple(fingerprints), steps) for task in tasks]
    records = [record for answer in executor.seek(source, seeks) for record in answer]
    return sorted(records, key=lambda record: record.fingerprint)


def compare_sums(levels: Sequence[int], expanded: Sequence[Expanded], merged: Sequence[Merged]) -> None:
    """Raise InternalError KMC928 unless all states of the last level were expanded, and all that was sent arrived."""
    before = levels[-1] if levels else 0
    if sum(answer.expanded for answer in expanded) != before:
        raise lost(f"not all {before:,} states of level {len(levels)} were expanded")
    sent = sum(answer.sent for answer in expanded), sum(answer.sent_sum for answer in expanded) & WORD_MASK
    received = sum(answer.received for answer in merged), sum(answer.received_sum for answer in merged) & WORD_MASK
    if sent != received:
        raise lost(f"not all candidates of level {len(levels) + 1} reached their owners")


def lost(what: str) -> InternalError:
    """The error of a level of which states or candidates are missing."""
    return InternalError("KMC928", what)
