"""`kmc bench driver simulated`: the real driver on answers that are made up, and what follows for large models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

from kmc.bench import large_models
from kmc.bench.made_up_answers import ClusterSize
from kmc.bench.projection import SEGMENT_ROWS, TASK_ROWS, TASK_ROWS_MAX, Costs, Driver, projected, task_rows
from kmc.bench.simulated_cluster import PHASES
from kmc.bench.simulated_driver import measure
from kmc.shards.level.sharding import THIN_ROWS


def test_the_real_driver_makes_the_levels_of_a_size() -> None:
    found = measure(ClusterSize(40, 8), levels=3)
    assert (found["tasks"], found["shards"], found["levels"]) == (40, 8, 3)
    # The first level and three measured ones, each of 40 tasks with all their rows new.
    assert found["distinct"] == 4 * 40 * TASK_ROWS
    assert found["cpu_seconds"] == pytest.approx(sum(found["cpu_seconds_by_phase"].values()), abs=1e-5)
    assert all(found["cpu_seconds_by_phase"][phase] > 0 for phase in PHASES)
    assert 5 <= found["parts"] <= 40
    assert found["bytes_sent"] > 0 < found["bytes_received"]
    # The rows of each task, the new run of each shard, and some bits are what a save makes durable.
    assert found["files_synced"] >= 40 + 8
    assert found["manifest_bytes"] > 40 * 50


@pytest.mark.slow
def test_the_figures_are_written_with_a_projection(tmp_path: Path) -> None:
    ran = kmc("bench", "driver", "simulated", "--size", "3x2", "--size", "4x2", "--out", str(tmp_path), "--quiet")
    assert ran.exit_code == 0, ran.stderr
    found = json.loads((tmp_path / "driver-simulated.json").read_text())
    assert list(found["sizes"]) == ["3x2", "4x2"]
    assert (found["sizes"]["4x2"]["tasks"], found["sizes"]["4x2"]["shards"]) == (4, 2)
    checks = found["projection"]["checks"]
    assert {check["states"] for check in checks} == {sum(large_models.LEVELS), 10**10, 10**12}
    for check in checks:
        assert check["seconds"] == pytest.approx(sum(check["seconds_by_cause"].values()), abs=0.4)
    measured = found["sizes"]["4x2"]["cpu_seconds"] / 6
    assert found["projection"]["assumptions"]["seconds"]["task"] == pytest.approx(0.001 + measured)
    assert "Projected, not measured" in ran.stdout


@pytest.mark.parametrize("words", [["--runs", "1"], ["--states", "5"], ["--shards", "2"], ["--threads", "1"]])
def test_an_option_that_measures_nothing_of_the_driver_is_refused(words: list[str]) -> None:
    ran = kmc("bench", "driver", "simulated", *words)
    assert ran.exit_code == 2
    assert f"{words[0]} measures nothing with driver simulated" in ran.stderr


@pytest.mark.parametrize("size", ["", "x", "40", "0x8", "40x0", "40x5000", "-1x8", "40x8x2", "1" * 5000 + "x8"])
def test_a_size_is_two_numbers(size: str) -> None:
    ran = kmc("bench", "driver", "simulated", "--size", size)
    assert ran.exit_code == 2
    assert "is not a number of tasks and one of shards; write 1000x256" in ran.stderr


def test_a_size_without_the_driver_is_refused() -> None:
    ran = kmc("bench", "kraft", "smoke", "--size", "40x8")
    assert ran.exit_code == 2
    assert "--size belongs to: kmc bench driver simulated" in ran.stderr


COSTS = Costs(1e-6, merging=0.25, level=0.1, task=0.01, skew=1.5)


def test_a_thin_level_is_made_on_one_core() -> None:
    for cores in (1, 64):
        found = projected([1, THIN_ROWS - 1], COSTS, cores, 4)
        assert found.seconds == found.thin == pytest.approx(THIN_ROWS / 1e6)


def test_a_driver_with_cores_of_its_own_makes_wider_levels_itself() -> None:
    levels = [100, SEGMENT_ROWS, 8 * SEGMENT_ROWS, 800_000, 10**7]
    found = projected(levels, COSTS, 16, 64, Driver(8, 1_000_000))
    assert found.thin == pytest.approx(1e-6 * (100 + 2 * SEGMENT_ROWS + 100_000)), "a task has a segment at least"
    assert found.floors == 0.1
    drivers = large_models.projections(0.0)["drivers"]
    assert drivers[0]["seconds_by_cause"] == large_models.projections(0.0)["checks"][0]["seconds_by_cause"]
    seconds = [driver["seconds"] for driver in drivers]
    assert seconds == sorted(seconds, reverse=True)


def test_a_level_is_divided_among_cores_but_for_its_fixed_and_serial_times() -> None:
    states = 64 * 10 * TASK_ROWS
    found = projected([states], COSTS, 64, 16)
    assert found.floors == 0.1
    assert found.tasks == pytest.approx(640 * 0.01)
    # The last task of each core takes half as long again.
    assert found.expanding == pytest.approx(0.75e-6 * (10 * TASK_ROWS + 0.5 * TASK_ROWS))
    assert found.merging == pytest.approx(0.25e-6 * states / 16), "shards merge, each on one core"
    assert found.seconds == pytest.approx(found.floors + found.tasks + found.expanding + found.merging)
    more = projected([states], COSTS, 64, 64)
    assert more.merging == pytest.approx(found.merging / 4)
    assert projected([states], COSTS, 16, 64).merging == pytest.approx(found.merging)


@pytest.mark.parametrize(
    ("states", "cores", "rows"),
    [
        (10**12, 64, TASK_ROWS_MAX),
        (10**8, 64, TASK_ROWS),
        (10**6, 16, 62_500),
        (10**6, 1000, SEGMENT_ROWS),
        (300_000, 64, SEGMENT_ROWS),
    ],
)
def test_a_task_has_a_share_of_the_rows_and_a_segment_at_least(states: int, cores: int, rows: int) -> None:
    assert task_rows(states, cores) == rows


def test_the_levels_of_a_larger_model_are_larger() -> None:
    levels = large_models.scaled([1, 10, 5], 1600)
    assert levels == [100, 1000, 500]
    assert large_models.scaled([1, 1000], 10) == [1, 10]


def test_nothing_of_the_driver_grows_with_tasks_times_shards() -> None:
    found = {(tasks, shards): measure(ClusterSize(tasks, shards), levels=1) for tasks in (8, 64) for shards in (8, 64)}
    for name in ("bytes_sent", "bytes_received", "manifest_bytes", "files_synced"):
        of = {size: figures[name] for size, figures in found.items()}
        # What is added by more tasks is the same with any number of shards, but for the digits of numbers.
        more_tasks, with_more_shards = of[64, 8] - of[8, 8], of[64, 64] - of[8, 64]
        assert with_more_shards < 1.2 * more_tasks, name
