"""What executors tell of the tasks that ended, compared with what a whole search says of itself."""

from __future__ import annotations

import pytest

from kmc.result import Result
from kmc.shards.level.level_watch import EndedTask, LevelWatch


def ended_tasks(patch: pytest.MonkeyPatch) -> list[EndedTask]:
    """What searches are told from now on."""
    found: list[EndedTask] = []
    ended = LevelWatch.ended

    def spied(watch: LevelWatch, task: EndedTask) -> None:
        found.append(task)
        ended(watch, task)

    patch.setattr(LevelWatch, "ended", spied)
    return found


def assert_all_told(tasks: list[EndedTask], result: Result) -> None:
    """Each task of each level was told once, with its figures; for a search that ended because no state was new."""
    figures = result.shards
    assert figures is not None
    # The last level has no states, and its files are not counted.
    last = max(task.level for task in tasks)
    assert last == len(result.levels) + 1
    merges = {(task.level, task.number) for task in tasks if task.merges}
    assert merges == {(level, shard) for level in range(1, last + 1) for shard in range(figures.shards)}
    assert len({(task.level, task.merges, task.number) for task in tasks}) == len(tasks)
    assert sum(task.expanded for task in tasks) == result.counters.distinct
    assert sum(task.generated for task in tasks) == result.counters.generated
    assert sum(task.new for task in tasks) == result.counters.distinct
    whole = [task for task in tasks if task.level < last]
    assert sum(task.sent for task in whole) == figures.candidates
    assert sum(task.written_bytes for task in whole) == figures.rows_bytes + figures.runs_bytes
    assert all(task.seconds > 0 for task in tasks)
