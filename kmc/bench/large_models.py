"""Projections of checks of large models on Spark, with the levels of a model that was measured.

The levels are those of `kip_996 large`; a larger model has as many levels, each of them larger by the same factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kmc.bench.projection import (
    ONE_CORE,
    SEGMENT_ROWS,
    TASK_ROWS,
    TASK_ROWS_MAX,
    Costs,
    Driver,
    ProjectedSearch,
    projected,
)
from kmc.shards.level.sharding import THIN_ROWS

LEVELS = (
    1, 11, 31, 65, 135, 242, 389, 598, 879, 1226, 1681, 2282, 3132, 4464, 6600, 10_073, 15_570, 24_013, 36_553,
    54_611, 80_105, 115_260, 162_870, 225_886, 306_908, 408_276, 531_735, 679_644, 853_238, 1_052_375,
    1_276_436, 1_519_869, 1_777_063, 2_042_947, 2_306_222, 2_558_260, 2_789_358, 2_983_694, 3_133_171,
    3_226_121, 3_250_364, 3_208_600, 3_096_963, 2_916_657, 2_683_802, 2_404_294, 2_091_970, 1_769_764,
    1_447_536, 1_142_604, 870_464, 634_286, 442_204, 293_352, 183_102, 108_042, 58_700, 29_426, 13_726, 5378,
    1972, 650, 126, 36,
)  # fmt: skip

STATE_SECONDS = 0.94e-6
"""The CPU seconds of Python for a state of `kip_996 large` on `local[2]` by files: 51.6 s for 54,846,012 states."""

STORED_BYTES = 8.5
"""The bytes of known fingerprints for a state, all of which tasks read once more before a result is stated."""

READ_BYTES_PER_SECOND = 1 << 26
"""The bytes that a core reads in a second of what is not in its memory any more."""
_SIZES = (sum(LEVELS), 10**10, 10**12)
_CLUSTERS = ((16, 64), (64, 64), (1000, 4096))

_DRIVERS = (ONE_CORE, Driver(2), Driver(4, 600_000), Driver(8, 1_200_000), Driver(16, 2_400_000))
"""Drivers of 150,000 rows of a thin level for each core: so many take as long there as in a job, or less."""


def scaled(levels: Sequence[int], states: int) -> list[int]:
    """The levels of a model with about so many states."""
    factor = states / sum(levels)
    return [max(1, round(level * factor)) for level in levels]


def projections(task_seconds: float) -> dict[str, Any]:
    """The projected seconds of checks by states and cores, with all that is assumed.

    `task_seconds` is the measured time of the driver for a task or a shard.
    """
    costs = Costs(STATE_SECONDS, task=Costs(STATE_SECONDS).task + task_seconds)
    return {
        "assumptions": {
            "levels": f"those of a measured model of {sum(LEVELS):,} states, {len(LEVELS)} in number, times one factor",
            "seconds": asdict(costs),
            "rows of a level that the driver makes, at most": THIN_ROWS,
            "rows of a task": [SEGMENT_ROWS, TASK_ROWS, TASK_ROWS_MAX],
            "bytes of a state that are read at the end": STORED_BYTES,
            "bytes that a core reads in a second": READ_BYTES_PER_SECOND,
            "not included": "network, shared disk, start of Spark, lost tasks",
        },
        "checks": [_check(states, costs, *cluster) for states in _SIZES for cluster in _CLUSTERS],
        "drivers": [
            {"driver_cores": driver.cores, "thin_rows": driver.thin_rows, **_check(_SIZES[0], costs, 16, 64, driver)}
            for driver in _DRIVERS
        ],
    }


def _check(states: int, costs: Costs, cores: int, shards: int, driver: Driver = ONE_CORE) -> dict[str, Any]:
    levels = scaled(LEVELS, states)
    search = projected(levels, costs, cores, shards, driver)
    end = states * STORED_BYTES / (READ_BYTES_PER_SECOND * cores)
    return {
        "states": states,
        "cores": cores,
        "shards": shards,
        "seconds": round(search.seconds + end, 1),
        "seconds_by_cause": {**_rounded(search), "end check": round(end, 1)},
    }


def _rounded(search: ProjectedSearch) -> dict[str, float]:
    return {cause: round(seconds, 1) for cause, seconds in asdict(search).items()}
