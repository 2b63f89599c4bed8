"""A whole benchmark: starts, runs and their figures, as one JSON object.

Invariant: the object contains every run, with its load. The figures are those of the run with the least CPU time, since
other work on the machine only adds time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmc.bench.declared import Benchmark
from kmc.bench.figures import figures, scaling, temporal_ratios, tlc_ratios
from kmc.bench.job import NATIVE, PYTHON, Request
from kmc.bench.machine import commit, load_average, machine
from kmc.bench.processes import children_cpu_seconds, run_job, run_timed
from kmc.bench.tlc import Tlc, run_tlc
from kmc.errors import ExitStatus, SystemFault
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.model_files.model_file import render_cfg
from kmc.process import available_bytes

WITHOUT = "without temporal properties"
STATES = 20_000_000
PYTHON_STATES = 20_000
BYTES_PER_STATE = 200
"""Memory of a state beyond the limit: table slots, rows for two of three states, and a last level that doubles."""

_BASE_BYTES = 1 << 29
_COLD_STARTS = 2
_CACHED_STARTS = 3

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a benchmark. `threads`: the numbers of threads, each `runs` times. `words`: the command line."""

    states: int = STATES
    runs: int = 3
    threads: tuple[int, ...] = (1, 2)
    python: bool = False
    starts: bool = True
    tlc: Tlc | None = None
    words: tuple[str, ...] = ()


def memory_needed(states: int) -> int:
    """The bytes that a run may take: an estimate that no model has exceeded so far."""
    return _BASE_BYTES + states * BYTES_PER_STATE


def states_that_fit(free_bytes: int) -> int:
    """A round number of states for which `memory_needed` is within `free_bytes`; 0 for none."""
    states = max(0, free_bytes - _BASE_BYTES) // BYTES_PER_STATE
    magnitude = 10 ** max(0, len(str(states)) - 1)
    return int(states // magnitude * magnitude)


def require_memory(states: int) -> None:
    """SystemFault when a run to `states` states may not fit into the free memory."""
    free = available_bytes()
    if memory_needed(states) > free:
        raise SystemFault(
            "KMC540",
            f"{states:,} states may need {memory_needed(states) >> 20:,} MB, and {free >> 20:,} MB are free",
            help=f"give --states {max(1, states_that_fit(free))}, or free memory first",
        )


def measure(benchmark: Benchmark, plan: Plan, tell: Tell, checked: Sequence[str] | None = None) -> dict[str, Any]:
    """Run everything, reporting each step to `tell`. SystemFault when memory is short, or a run or TLC fails.

    `checked` is what `kmc check` is given for a start, by default the spec and the model.
    """
    require_memory(plan.states)
    model = bind(benchmark.root, benchmark.file)
    began = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "load_before": load_average()}
    with TemporaryDirectory(prefix="kmc-bench-") as name:
        folder = Path(name)
        cfg = folder / "model.cfg"
        cfg.write_text(render_cfg(benchmark.file), encoding="utf-8")
        starts = _starts(checked or (str(benchmark.root), str(cfg)), folder, tell) if plan.starts else None
        request = Request(str(benchmark.root), str(cfg), NATIVE, 1, plan.states, int(available_bytes() * 0.9))
        requests = {"": request}
        if model.temporal:
            requests[WITHOUT] = replace(request, cfg=str(_without_temporal(benchmark, model, folder)))
        runs = _runs(requests, plan, folder, tell)
        safety = [run for run in runs if run["kind"] == WITHOUT]
        runs = [run for run in runs if run["kind"] != WITHOUT]
        python = _python(request, folder, tell) if plan.python else None
        tlc = _tlc(benchmark, plan, folder, tell) if plan.tlc is not None else None
    by_threads = _by_threads(runs, plan)
    plain = _by_threads(safety, plan) if safety else None
    return {
        "benchmark": benchmark.title,
        "description": benchmark.description,
        "digest": model.digest,
        "states_asked": plan.states,
        "command": ["kmc", *map(without_folders, plan.words)],
        **began,
        "load_after": load_average(),
        "commit": commit(),
        "machine": machine(),
        "starts": starts,
        "figures": by_threads,
        "scaling": scaling(by_threads),
        "python": figures([python]) if python else None,
        "tlc": tlc,
        "ratios": tlc_ratios(by_threads, tlc) if tlc else None,
        "without_temporal": plain,
        "temporal": temporal_ratios(by_threads, plain) if plain else None,
        "runs": [*runs, *safety, *([python] if python else [])],
    }


def _by_threads(runs: Sequence[dict[str, Any]], plan: Plan) -> dict[str, dict[str, Any]]:
    return {str(threads): figures([run for run in runs if run["threads"] == threads]) for threads in plan.threads}


def _without_temporal(benchmark: Benchmark, model: Model, folder: Path) -> Path:
    """A model file of the same graph without temporal properties."""
    temporal = {prop.name for prop in model.temporal}
    kept = tuple(word for word in benchmark.file.properties if word.text not in temporal)
    path = folder / "safety.cfg"
    path.write_text(render_cfg(replace(benchmark.file, properties=kept)), encoding="utf-8")
    return path


def _runs(requests: Mapping[str, Request], plan: Plan, folder: Path, tell: Tell) -> list[dict[str, Any]]:
    """All runs. Kinds and numbers of threads alternate, so that other work on the machine affects them equally."""
    measured = []
    for attempt in range(plan.runs):
        for threads in plan.threads:
            for kind, request in requests.items():
                about = f" {kind}" if kind else ""
                tell(f"run {attempt + 1} of {plan.runs} on {threads} thread{'s' * (threads > 1)}{about}")
                measured.append({**checked_run(run_job(replace(request, threads=threads), folder)), "kind": kind})
    return measured


def _python(request: Request, folder: Path, tell: Tell) -> dict[str, Any]:
    tell("the interpreter")
    states = min(request.states, PYTHON_STATES)
    return checked_run(run_job(replace(request, engine=PYTHON, states=states), folder))


def checked_run(run: dict[str, Any]) -> dict[str, Any]:
    """A valid run: not interrupted, not ended by memory, without a failure."""
    if run["interrupted"]:
        raise KeyboardInterrupt
    if run["stopped"] == "memory":
        raise SystemFault(
            "KMC540", f"memory ran short after {run['distinct']:,} states", help="give fewer --states, or free memory"
        )
    if run["findings"]:
        raise failing_model(run["distinct"])
    return run


def failing_model(distinct: int) -> SystemFault:
    """The error of a model that fails after so many states."""
    return SystemFault(
        "KMC545",
        f"the model fails after {distinct:,} states: nothing was measured",
        help="a benchmark needs a model without failures and with CHECK_DEADLOCK FALSE; see it with kmc check",
    )


def _starts(checked: Sequence[str], folder: Path, tell: Tell) -> dict[str, Any]:
    """Seconds from the start of `kmc check` to its end after the first step, with an empty and with a full cache."""
    words = [sys.executable, "-m", "kmc", "check", *checked, "--engine", "native"]
    words += ["--max-depth", "2", "--bounded-ok", "--no-run-dir", "--quiet"]
    kept = folder / "kept"
    environment = {**os.environ, "KMC_CACHE_DIR": str(kept)}
    # Installed code comes with its byte code. In a checkout the first start writes it, so the first is not the fastest.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    tell("cold starts")
    load = load_average()
    cold = []
    for _ in range(_COLD_STARTS):
        shutil.rmtree(kept, ignore_errors=True)
        cold.append(_start_seconds(words, environment))
    compiled = sum(path.is_file() for path in kept.rglob("*"))
    tell("cached starts")
    cached = [_start_seconds(words, environment) for _ in range(_CACHED_STARTS)]
    return {
        "cold_seconds": min(seconds for seconds, _ in cold),
        "cold_seconds_all": [seconds for seconds, _ in cold],
        "cold_cpu_seconds": min(cpu for _, cpu in cold),
        "cold_files_compiled": compiled,
        "cached_seconds": min(seconds for seconds, _ in cached),
        "cached_seconds_all": [seconds for seconds, _ in cached],
        "cached_cpu_seconds": min(cpu for _, cpu in cached),
        "load_before": load,
        "meaning": "a fresh process, from its start to its end after the first step, with kernels that are not"
        " optimised yet; cold: no kernel or loop is cached",
    }


def without_folders(word: str) -> str:
    """A word of the command line as it is published: of absolute paths, also in a class path, only the last name."""
    paths = word.split(os.pathsep)
    return os.pathsep.join(Path(path).name if Path(path).is_absolute() else path for path in paths)


def _start_seconds(words: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall time and CPU time of a command that must succeed."""
    began, before = time.monotonic(), children_cpu_seconds()
    ran = run_timed(words, environment)
    seconds, cpu = time.monotonic() - began, children_cpu_seconds() - before
    if ran.returncode != ExitStatus.OK:
        raise _failed_start(ran)
    return seconds, cpu


def _failed_start(ran: subprocess.CompletedProcess[str]) -> SystemFault:
    last = (ran.stderr or ran.stdout).strip().splitlines()[:4]
    return SystemFault("KMC547", "the model does not start", help="see it with kmc check", notes=tuple(last))


def _tlc(benchmark: Benchmark, plan: Plan, folder: Path, tell: Tell) -> dict[str, Any]:
    assert plan.tlc is not None
    runs = []
    for threads in plan.threads:
        tell(f"TLC with {threads} worker{'s' * (threads > 1)}, at most {plan.tlc.seconds} s")
        runs.append(run_tlc(plan.tlc, benchmark, threads, folder / f"tlc{threads}"))
    return {"seconds_asked": plan.tlc.seconds, "version": runs[0]["version"], "runs": runs}
