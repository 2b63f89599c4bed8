"""The figures of progress: of a level that is not whole yet, and of the files of a search.

Invariant: no count of a result comes from here. An executor reports each task that has ended, maybe more than once, and
only the last report counts. A report on another level than the current one is late, and does not count.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from kmc.engine.native.memory import WORD_BYTES
from kmc.result import FilesInWork, LevelInWork, ShardFigures, ShardProgress
from kmc.shards.level.run_state import RunState
from kmc.shards.level.tasks import Expanded, Merged

_SKEWED_MIN = 3
"""Of fewer tasks, the median says nothing."""


@dataclass(frozen=True, slots=True)
class EndedTask:
    """The report of an executor on a task of `level` that has just ended; `number` is that of a task or a shard."""

    level: int
    merges: bool
    number: int
    seconds: float
    written_bytes: int
    generated: int = 0
    expanded: int = 0
    sent: int = 0
    new: int = 0

    @classmethod
    def expanding(cls, level: int, answer: Expanded) -> EndedTask:
        """The figures of a task that expanded rows."""
        return cls(
            level=level,
            merges=False,
            number=answer.number,
            seconds=answer.effort.seconds,
            written_bytes=answer.file.words * WORD_BYTES if answer.file else 0,
            generated=sum(answer.generated),
            expanded=answer.expanded,
            sent=answer.sent,
        )

    @classmethod
    def merging(cls, level: int, answer: Merged) -> EndedTask:
        """The figures of a task that merged a shard."""
        return cls(
            level=level,
            merges=True,
            number=answer.shard,
            seconds=answer.effort.seconds,
            written_bytes=answer.written_bytes,
            new=answer.new,
        )

    @classmethod
    def storing(cls, number: int) -> EndedTask:
        """The report on a task that only works on files, of no level."""
        return cls(level=0, merges=False, number=number, seconds=0.0, written_bytes=0)


@dataclass(slots=True)
class ClusterUse:
    """The use that an executor makes of a cluster: a level of fewer than `thin_rows` rows is made in the driver.

    `job_levels` are the levels that were jobs. `is_job` is whether the level in work is one, and `executors` the number
    of executors while it runs; both are None between levels.
    """

    thin_rows: int
    job_levels: list[int] = field(default_factory=list)
    is_job: bool | None = None
    executors: int | None = None


class LevelWatch:
    """Notes which tasks of the level in work have ended. `ended` may be called from any thread."""

    def __init__(self) -> None:
        self._level = self._tasks = self._merges = 0
        self._ended: dict[tuple[bool, int], EndedTask] = {}
        self._longest = self._median = 0.0
        self._work, self._work_tasks = "", 0
        self._work_done: set[int] = set()

    def begin(self, level: int, tasks: int, merges: int) -> None:
        """A level of so many tasks is in work."""
        self._level, self._tasks, self._merges = level, tasks, merges

    def ended(self, task: EndedTask) -> None:
        """A task has ended."""
        if task.level == self._level:
            self._ended[task.merges, task.number] = task

    def end(self) -> None:
        """No level is in work."""
        seconds = [task.seconds for task in self.tasks if not task.merges]
        if len(seconds) >= _SKEWED_MIN:
            self._longest += max(seconds)
            self._median += statistics.median(seconds)
        self._level = 0
        self._ended.clear()

    def begin_work(self, title: str, tasks: int) -> None:
        """So many tasks on files are in work between two levels."""
        self._work, self._work_tasks = title, tasks

    def work_ended(self, number: int) -> None:
        """The task of this number, among those on files, has ended."""
        self._work_done.add(number)

    def end_work(self) -> None:
        """No tasks on files are in work."""
        self._work = ""
        self._work_done.clear()

    @property
    def files_in_work(self) -> FilesInWork | None:
        """The tasks on files that are in work, None while there are none."""
        return FilesInWork(self._work, len(self._work_done), self._work_tasks) if self._work else None

    @property
    def tasks(self) -> list[EndedTask]:
        """The tasks that have ended."""
        return list(self._ended.values())

    @property
    def task_skew(self) -> float | None:
        """The time of the longest expanding task over the median, in all levels that ended; None without any."""
        return self._longest / self._median if self._median else None

    @property
    def in_work(self) -> LevelInWork | None:
        """The level in work, None between levels."""
        if not self._level:
            return None
        ended = self.tasks
        merged = [task for task in ended if task.merges]
        phase, done, tasks = "expand", [task for task in ended if not task.merges], self._tasks
        if len(done) == tasks:
            phase, done, tasks = ("merge", merged, self._merges) if len(merged) < self._merges else ("check", [], 0)
        return LevelInWork(
            level=self._level,
            phase=phase,
            done=len(done),
            tasks=tasks,
            new=sum(task.new for task in merged),
            task_skew=_skew([task.seconds for task in done]),
        )


def _skew(seconds: Sequence[float]) -> float | None:
    if len(seconds) < _SKEWED_MIN:
        return None
    median = statistics.median(seconds)
    return max(seconds) / median if median else None


def shard_progress(
    state: RunState, watch: LevelWatch, following: int | None, *, wide: bool, entry: int
) -> ShardProgress:
    """Count what the search moved and keeps at this moment; `entry` is the bytes of what is sent for each candidate.

    `following` is what the next level probably writes, if that is known.
    """
    ended = watch.tasks
    written, traffic = sum(task.written_bytes for task in ended), state.traffic
    return ShardProgress(
        sent_bytes=traffic.sent_bytes + sum(task.sent for task in ended) * entry,
        written_bytes=traffic.rows_bytes + traffic.runs_bytes + written,
        disk_bytes=state.bytes + written,
        shard_skew=_shard_skew(state),
        fingerprint_bits=128 if wide else 64,
        level=watch.in_work,
        files_in_work=watch.files_in_work,
        next_level_bytes=following,
    )


def shard_figures(state: RunState, watch: LevelWatch, cluster: ClusterUse | None) -> ShardFigures:
    """The figures of the search for its result."""
    traffic = state.traffic
    return ShardFigures(
        shards=state.shards,
        shards_used=len(state.runs),
        digest=state.digest,
        candidates=traffic.sent,
        sent_bytes=traffic.sent_bytes,
        rows_bytes=traffic.rows_bytes,
        runs_bytes=traffic.runs_bytes,
        stored_bytes=sum(run.words for runs in state.runs for run in runs) * WORD_BYTES,
        disk_bytes=state.bytes,
        shard_skew=_shard_skew(state),
        task_skew=watch.task_skew,
        levels_as_jobs=None if cluster is None else len(cluster.job_levels),
        job_levels=None if cluster is None else tuple(cluster.job_levels),
        thin_rows=None if cluster is None else cluster.thin_rows,
    )


def _shard_skew(state: RunState) -> float:
    """The fingerprints of the largest shard over the mean."""
    sizes = [sum(run.count for run in runs) for runs in state.runs]
    return max(sizes) * len(sizes) / sum(sizes) if any(sizes) else 1.0


def next_level_bytes(state: RunState, levels: Sequence[int], *, wide: bool) -> int | None:
    """Predict the bytes that the next level writes: it grows as the last one did. None before there are two levels.

    Its fingerprints are written twice: in a run of their own, and when that is merged while the old runs are there.
    """
    if len(levels) < 2:
        return None
    last = state.levels[len(levels)].bytes + 2 * levels[-1] * (1 + wide) * WORD_BYTES
    return last * levels[-1] // levels[-2]
