"""The division of tasks among those of Spark, each of which runs several of ours one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

PART_ROWS_MAX = 2_000_000
"""The greatest number of rows of a Spark task, so that a lost task is repeated in about a second."""

Task = TypeVar("Task")


def tasks_of_a_part_max(tasks: int, rows: int) -> int:
    """The number of tasks of a part at most, if so many tasks have so many rows together."""
    return PART_ROWS_MAX * tasks // max(1, rows)


def in_parts(tasks: Sequence[Task], slots: int, least: int, most: int) -> list[Sequence[Task]]:
    """The tasks in parts of `least` to `most` for so many slots: large ones first, so that few slots wait at the end.

    Each is a slot's share of what is left (Polychronopoulos and Kuck, Guided self-scheduling, 1987). A part costs some
    15 ms of CPU time beside its tasks.
    """
    parts: list[Sequence[Task]] = []
    start = 0
    while start < len(tasks):
        size = max(least, min(most, -(-(len(tasks) - start) // slots)))
        parts.append(tasks[start : start + size])
        start += size
    return parts
