"""The counters of all threads: summed, taken as a snapshot at the end of a level, and restored from one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmc.engine.files.run_manifest import Snapshot
from kmc.engine.layout import control_words as f
from kmc.engine.run_state.finding_log import FindingLog
from kmc.engine.search.worker import Worker


def total(workers: Sequence[Worker], field: int) -> int:
    """A counter over all threads."""
    return sum(int(worker.words[field]) for worker in workers)


def generated(workers: Sequence[Worker]) -> int:
    """How many states were generated, as TLC counts them."""
    return sum(int(worker.generated.array.sum()) for worker in workers)


def reached(workers: Sequence[Worker]) -> int:
    """The mask of the goals reached so far."""
    reached = 0
    for worker in workers:
        reached |= int(worker.words[f.GOALS])
    return reached


def snapshot(
    workers: Sequence[Worker], log: FindingLog, levels: Sequence[int], goals_asked: int, seconds: float, cpu: float
) -> Snapshot:
    """The counters of a search at the end of a level; no thread may run."""
    return Snapshot(
        levels=tuple(levels),
        generated=tuple(np.sum([worker.generated.array for worker in workers], axis=0).tolist()),
        failed=tuple(np.sum([worker.failed.array for worker in workers], axis=0).tolist()),
        cut=total(workers, f.CUT),
        stored=total(workers, f.STORED),
        expanded=total(workers, f.EXPANDED),
        rows_words=sum(worker.rows_words for worker in workers),
        goals=reached(workers),
        goals_asked=goals_asked,
        findings=log.findings,
        counted=tuple(log.counted.tolist()),
        met=log.met_count,
        seconds=seconds,
        cpu_seconds=cpu,
    )


def restore(worker: Worker, snapshot: Snapshot) -> None:
    """Set the counters of one thread to all that a snapshot says."""
    worker.generated.array[:] = snapshot.generated
    worker.failed.array[:] = snapshot.failed
    worker.words[f.CUT] = snapshot.cut
    worker.words[f.STORED] = snapshot.stored
    worker.words[f.EXPANDED] = snapshot.expanded
    worker.words[f.GOALS] = snapshot.goals
    worker.rows_words = snapshot.rows_words
