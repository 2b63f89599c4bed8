"""Whole checks of one model in several ways, in turns: in memory, in shards, on Spark.

A check is a process tree of its own: `kmc check`, its worker processes, and Spark's. Its CPU time is that of all of
them, sampled from outside about twenty times a second, so the last moments of a process are not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from kmc.bench.machine import commit, load_average, machine
from kmc.bench.projection import Costs, projected
from kmc.engine.optimised_kernels import WAIT_FOR_THEM
from kmc.errors import SystemFault

_POLL_SECONDS = 0.05
_LAST_LINES = 6
PROJECTED_CORES = (16, 64)
_SAME = ("result", "distinct", "generated", "depth", "levels", "generated_by_action")


@dataclass(frozen=True, slots=True)
class Way:
    """A way to check: its name, and the words after `kmc check SPEC MODEL`."""

    name: str
    words: tuple[str, ...]

    @property
    def on_spark(self) -> bool:
        """Whether its tasks are Spark's."""
        return "--spark" in self.words


@dataclass(frozen=True, slots=True)
class WholeCheck:
    """One check. `seconds` are those of the search, `wall_seconds` those of the process; CPU by kind of process."""

    way: str
    seconds: float
    wall_seconds: float
    python_cpu_seconds: float
    java_cpu_seconds: float
    load_before: float
    result: dict[str, Any]

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all processes."""
        return self.python_cpu_seconds + self.java_cpu_seconds


class _Meter:
    """The CPU seconds of a process and all that it started, by process, as they were last seen."""

    def __init__(self, root: int) -> None:
        self._root = psutil.Process(root)
        self._seen: dict[tuple[int, float], tuple[str, float]] = {}

    def look(self) -> None:
        with suppress(psutil.Error):
            for process in [self._root, *self._root.children(recursive=True)]:
                with suppress(psutil.Error):
                    used = process.cpu_times()
                    kind = "java" if "java" in process.name() else "python"
                    self._seen[process.pid, process.create_time()] = kind, used.user + used.system

    def seconds(self, kind: str) -> float:
        return sum(used for of_kind, used in self._seen.values() if of_kind == kind)


def check_once(way: Way, words: Sequence[str]) -> WholeCheck:
    """Run one check, with its run saved in a folder that is removed afterwards. SystemFault KMC549 if it has no
    result.
    """
    load = load_average()
    with tempfile.TemporaryDirectory(prefix="kmc-bench-") as folder:
        command = [sys.executable, "-m", "kmc", "check", *words, *way.words, "--json", "--quiet", "--run-dir", folder]
        # In memory too, as a search in shards always does.
        environment = {**WAIT_FOR_THEM, **os.environ}
        answer, errors = Path(folder) / "stdout", Path(folder) / "stderr"
        began = time.monotonic()
        with (
            answer.open("wb") as stdout,
            errors.open("wb") as stderr,
            subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment) as child,
        ):
            meter = _Meter(child.pid)
            try:
                while child.poll() is None:
                    meter.look()
                    time.sleep(_POLL_SECONDS)
            finally:
                child.kill()
        wall = time.monotonic() - began
        told = answer.read_bytes()
        lines = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    try:
        result = json.loads(told)
    except ValueError:
        result = {"distinct": None}
    if result["distinct"] is None:
        raise SystemFault(
            "KMC549",
            f"the check {way.name} ended with status {child.returncode}",
            help="try the same words with kmc check",
            notes=tuple(lines[-_LAST_LINES:]),
        )
    java = meter.seconds("java")
    return WholeCheck(way.name, result["seconds"], wall, meter.seconds("python"), java, load, result)


def compare(words: Sequence[str], ways: Sequence[Way], runs: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Check a model in all ways, `runs` times in turns. The other ways are compared with the first.

    SystemFault KMC549 if a check has no result, or another one.
    """
    checks: list[WholeCheck] = []
    for attempt in range(runs):
        for way in ways:
            tell(f"{way.name}, run {attempt + 1} of {runs}")
            checks.append(check_once(way, words))
            first, last = checks[0].result, checks[-1].result
            for key in _SAME:
                if first[key] != last[key]:
                    raise SystemFault("KMC549", f"{way.name} and {ways[0].name} give different results: {key}")
    base = _typical([check for check in checks if check.way == ways[0].name])
    return {
        "check": list(words),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "commit": commit(),
        "distinct": checks[0].result["distinct"],
        "generated": checks[0].result["generated"],
        "depth": checks[0].result["depth"],
        "ways": {way.name: _figures(way, checks, base) for way in ways},
    }


def _typical(checks: Sequence[WholeCheck]) -> dict[str, float]:
    """The medians of the times of some checks."""
    return {
        "seconds": median(check.seconds for check in checks),
        "cpu_seconds": median(check.cpu_seconds for check in checks),
        "java_cpu_seconds": median(check.java_cpu_seconds for check in checks),
    }


def _figures(way: Way, checks: Sequence[WholeCheck], base: dict[str, float]) -> dict[str, Any]:
    """One way: all its runs, the medians, and its rate relative to the first way's."""
    runs = [check for check in checks if check.way == way.name]
    typical = _typical(runs)
    kept = ("seconds", "wall_seconds", "python_cpu_seconds", "java_cpu_seconds", "load_before")
    return {
        "words": list(way.words),
        **{name: round(value, 3) for name, value in typical.items()},
        "rate_by_wall": round(base["seconds"] / typical["seconds"], 3),
        "rate_by_cpu": round(base["cpu_seconds"] / typical["cpu_seconds"], 3),
        "shards": runs[-1].result["shards"],
        "peak_memory_bytes": max(check.result["peak_memory_bytes"] for check in runs),
        "projected_seconds": _projected(runs[-1].result) if way.on_spark else None,
        "runs": [{name: round(asdict(run)[name], 3) for name in kept} for run in runs],
    }


def _projected(result: dict[str, Any]) -> dict[str, float]:
    """The projected seconds of a search that was on Spark, by the number of cores; see `projection`."""
    costs = Costs(result["cpu_seconds"] / max(1, result["distinct"]))
    shards = result["shards"]["shards_used"]
    return {
        str(cores): round(projected(result["levels"], costs, cores, shards).seconds, 1) for cores in PROJECTED_CORES
    }
