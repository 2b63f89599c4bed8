"""The projected time of a check on Spark with more cores than were measured: a projection, not a measurement.

A level needs the CPU time of its states, divided among the cores, but at least that of one task; and Spark's overhead
for a job. A level that is small stays in the driver, on one core. Nothing is added for a network or a shared disk.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmc.shards.level.sharding import THIN_ROWS

LEVEL_SECONDS = 0.15
"""The time of Spark and the driver for the job of a level."""

TASK_STATES = 1 << 17


def projected_seconds(levels: Sequence[int], cpu_seconds: float, cores: int) -> float:
    """The wall time of a check with these states by level, whose search used so much CPU time in all."""
    of_state = cpu_seconds / max(1, sum(levels))
    seconds = 0.0
    for states in levels:
        if states < THIN_ROWS:
            seconds += states * of_state
        else:
            seconds += max(states / cores, TASK_STATES) * of_state + LEVEL_SECONDS
    return seconds
