"""The counters of all threads: summed, taken as a snapshot at the end of a level, and restored from one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmc.engine.files.run_manifest import Snapshot, require_lengths
from kmc.engine.native.words import Mask
from kmc.engine.search.worker import Worker
from kmc.engine.stores.finding_log import FindingLog


def cut(workers: Sequence[Worker]) -> int:
    """The number of generated states that lie outside of the constraints."""
    return sum(worker.thread.cut for worker in workers)


def stored(workers: Sequence[Worker]) -> int:
    """The number of stored states: the distinct ones."""
    return sum(worker.thread.stored for worker in workers)


def expanded(workers: Sequence[Worker]) -> int:
    """The number of expanded states."""
    return sum(worker.thread.expanded for worker in workers)


def generated(workers: Sequence[Worker]) -> int:
    """The number of generated states, as TLC counts them."""
    return sum(int(worker.generated.array.sum()) for worker in workers)


def reached(workers: Sequence[Worker]) -> int:
    """The mask of the reachable properties that were reached so far."""
    reached = 0
    for worker in workers:
        reached |= worker.thread.reached
    return reached


def snapshot(
    workers: Sequence[Worker], log: FindingLog, levels: Sequence[int], reachable_asked: int, seconds: float, cpu: float
) -> Snapshot:
    """The counters of a search at the end of a level; no thread may run."""
    return Snapshot(
        levels=tuple(levels),
        generated=tuple(np.sum([worker.generated.array for worker in workers], axis=0).tolist()),
        failed=tuple(np.sum([worker.failed.array for worker in workers], axis=0).tolist()),
        cut=cut(workers),
        stored=stored(workers),
        expanded=expanded(workers),
        rows_words=sum(worker.rows_words for worker in workers),
        reached=reached(workers),
        reachable_asked=reachable_asked,
        findings=log.findings,
        counted=tuple(log.counted.tolist()),
        met=log.met_count,
        seconds=seconds,
        cpu_seconds=cpu,
    )


def restore(worker: Worker, snapshot: Snapshot) -> None:
    """Set the counters of one thread to all that a snapshot says."""
    require_lengths(snapshot, len(worker.generated.array), len(worker.failed.array))
    worker.generated.array[:] = snapshot.generated
    worker.failed.array[:] = snapshot.failed
    worker.thread.cut = snapshot.cut
    worker.thread.stored = snapshot.stored
    worker.thread.expanded = snapshot.expanded
    worker.thread.reached = Mask(snapshot.reached)
    worker.rows_words = snapshot.rows_words
