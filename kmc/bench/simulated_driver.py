"""The cost of the driver of a search on a cluster: `python -m kmc.bench.simulated_driver TASKS SHARDS ANSWER`.

Levels of so many tasks and shards go through the real driver; see `simulated_cluster`. The process measures one size,
since its largest memory is a figure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmc.bench.large_models import projections
from kmc.bench.machine import commit, load_average, machine
from kmc.bench.made_up_answers import ACTIONS, ClusterSize, MadeUpAnswers
from kmc.bench.processes import run_module
from kmc.bench.simulated_cluster import PHASES, NamedFiles, SimulatedCluster
from kmc.engine.files.run_directory import FOLDER, RunDirectory
from kmc.engine.files.run_manifest import NAME
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.native.words import NULL
from kmc.process import memory_bytes, peak_memory_bytes
from kmc.shards.level.sharding import Sharding
from kmc.shards.sharded_search import ShardedSearch

SIZES = (ClusterSize(1_000, 256), ClusterSize(10_000, 1_000), ClusterSize(100_000, 4_096))
LEVELS = 2
_SMALLEST = ClusterSize(1, 1)


def measure(size: ClusterSize, levels: int = LEVELS) -> dict[str, Any]:
    """Measure the driver on so many levels of a size: figures for one level, in the mean."""
    # The division of the level does not change the size that is measured.
    rows = Sharding(size.shards).task_rows
    store, sharding = NamedFiles(), Sharding(size.shards, shards_first=size.shards, task_rows_max=rows)
    answers = MadeUpAnswers(size, sharding, store.add)
    cluster = SimulatedCluster(answers, store, levels)
    before = memory_bytes()
    with TemporaryDirectory(prefix="kmc-bench-") as folder:
        directory = RunDirectory.created(Path(folder), {})
        kernels = KernelTable(NULL, ACTIONS)
        settings = Settings(save_seconds=0.0)
        search = ShardedSearch(kernels, (), settings, sharding, store, lambda _: cluster, None, directory)
        cluster.look = search.counters
        outcome = search.run()
        manifest = (Path(folder) / FOLDER / NAME).stat().st_size
        directory.discard()
    figures = {name: round(value / levels, 6) for name, value in cluster.figures.items()}
    return {
        "tasks": size.tasks,
        "shards": size.shards,
        "levels": levels,
        "distinct": outcome.distinct,
        "cpu_seconds": round(sum(figures[phase] for phase in PHASES), 6),
        "cpu_seconds_by_phase": {phase: figures.pop(phase) for phase in PHASES},
        "manifest_bytes": manifest,
        "peak_memory_bytes": peak_memory_bytes() - before,
        **{name.replace(" ", "_"): int(value) for name, value in figures.items()},
    }


def measure_all(sizes: Sequence[ClusterSize], tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure sizes, each in a fresh process, and project large models with the figures of the largest one.

    SystemFault KMC546 if a process fails.
    """
    load, figures = load_average(), {}
    with TemporaryDirectory(prefix="kmc-bench-") as folder:
        for size in sizes:
            title = f"a level of {size.tasks:,} tasks and {size.shards:,} shards"
            tell(title)
            words = [str(size.tasks), str(size.shards)]
            figures[f"{size.tasks}x{size.shards}"] = run_module(
                "kmc.bench.simulated_driver", words, title, Path(folder)
            )
    largest = max(figures.values(), key=lambda one: one["tasks"] + one["shards"])
    return {
        "benchmark": "driver simulated",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "commit": commit(),
        "load_before": load,
        "sizes": figures,
        "projection": projections(largest["cpu_seconds"] / (largest["tasks"] + largest["shards"])),
    }


def main(words: Sequence[str]) -> None:
    """Measure levels of so many tasks and shards, and write the figures to a file."""
    measure(_SMALLEST)  # compiles and loads what the driver needs
    figures = measure(ClusterSize(int(words[0]), int(words[1])))
    Path(words[2]).write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
