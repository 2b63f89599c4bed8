"""How long a check would take on Spark with more cores than were measured: a projection, not a measurement.

A level takes the CPU time of its states, divided among the cores, but at least that of one task; and what Spark does
for a job. A level that is small stays in the driver, on one core. Nothing is added for a network or a shared disk.
"""

from __future__ import annotations

from collections.abc import Sequence

LEVEL_SECONDS = 0.15
"""What Spark and the driver take for the job of a level."""

TASK_STATES = 1 << 17
THIN_STATES = 300_000
"""A level of fewer states is made in the driver."""


def projected_seconds(levels: Sequence[int], cpu_seconds: float, cores: int) -> float:
    """The wall time of a check with these states by level, whose search took so much CPU time in all."""
    of_state = cpu_seconds / max(1, sum(levels))
    seconds = 0.0
    for states in levels:
        if states < THIN_STATES:
            seconds += states * of_state
        else:
            seconds += max(states / cores, TASK_STATES) * of_state + LEVEL_SECONDS
    return seconds
