"""The projected time of a check on Spark with more cores than were measured: a projection, not a measurement.

A level that is small is made in the driver, on one core unless it has more for that. Any other level is a job: a fixed
time, a serial time for each task, and the CPU time of its states, divided among as many cores as it has tasks and
shards. A level has at least one task, and its tasks have at least the rows of one segment. `Costs` lists what is
assumed. Nothing is added for a network or a shared disk, and the start of Spark and of the command is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmc.shards.level.sharding import THIN_ROWS, Sharding

_SHARDING = Sharding(1)
TASK_ROWS, TASK_ROWS_MAX = _SHARDING.task_rows, _SHARDING.task_rows_max
SEGMENT_ROWS = _SHARDING.segment_rows


@dataclass(frozen=True, slots=True)
class Costs:
    """The assumptions of a projection, in seconds.

    `state` is the CPU time of a state, of which the part `merging` is that of shards. `level` is the time of Spark and
    the driver for a job, whatever it does; `task` is the serial time of a task in the driver. The longest task takes
    `skew` times as long as the mean.
    """

    state: float
    merging: float = 0.2
    level: float = 0.15
    task: float = 0.001
    skew: float = 1.3


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver of a search: so many cores make a level of fewer rows than `thin_rows`."""

    cores: int = 1
    thin_rows: int = THIN_ROWS


ONE_CORE = Driver()


@dataclass(frozen=True, slots=True)
class ProjectedSearch:
    """The seconds of a search by their cause.

    `thin` are those of the levels made in the driver, `floors` those of the fixed time of jobs, `tasks` those of the
    serial time of tasks, `expanding` and `merging` those of the work on states.
    """

    thin: float
    floors: float
    tasks: float
    expanding: float
    merging: float

    @property
    def seconds(self) -> float:
        """The seconds in all."""
        return self.thin + self.floors + self.tasks + self.expanding + self.merging


def projected(
    levels: Sequence[int], costs: Costs, cores: int, shards: int, driver: Driver = ONE_CORE
) -> ProjectedSearch:
    """Project a search with these states by level, on so many cores and with so many shards."""
    thin = [states for states in levels if states < driver.thin_rows]
    jobs = [states for states in levels if states >= driver.thin_rows]
    tasks = [task_rows(states, cores) for states in jobs]
    row = costs.state * (1 - costs.merging)
    return ProjectedSearch(
        # A task of the driver has a segment at least, too.
        thin=sum(max(states / driver.cores, min(states, SEGMENT_ROWS)) for states in thin) * costs.state,
        floors=len(jobs) * costs.level,
        tasks=sum(-(-states // rows) for states, rows in zip(jobs, tasks, strict=True)) * costs.task,
        expanding=sum(
            row * (max(states / cores, rows) + (costs.skew - 1) * rows)
            for states, rows in zip(jobs, tasks, strict=True)
        ),
        merging=sum(jobs) * costs.state * costs.merging / min(cores, shards),
    )


def task_rows(states: int, cores: int) -> int:
    """The rows of a task of a level: those that the search gives it, but a segment at least."""
    return max(SEGMENT_ROWS, _SHARDING.rows_of_task(states, cores))
