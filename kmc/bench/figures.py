"""The figures of runs: costs per state, bytes per state, and the comparison of engines and threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_NANO = 1e9


def figures(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of the run with least CPU time, and the spread of CPU time over all of them.

    `_per_second` are by wall time; `cpu_ns` are nanoseconds of CPU time, of all threads and of the system too.
    """
    best = min(runs, key=lambda run: run["cpu_seconds"])
    generated, distinct = best["generated"], best["distinct"]
    common = {
        "runs": len(runs),
        "generated": generated,
        "distinct": distinct,
        "depth": len(best["levels"]),
        "complete": best["stopped"] is None,
        "seconds": best["seconds"],
        "cpu_seconds": best["cpu_seconds"],
        "cpu_seconds_most": max(run["cpu_seconds"] for run in runs),
        "cpu_ns_per_generated": best["cpu_seconds"] / generated * _NANO,
        "cpu_ns_per_distinct": best["cpu_seconds"] / distinct * _NANO,
        "seconds_least": min(run["seconds"] for run in runs),
        "generated_per_second": generated / min(run["seconds"] for run in runs),
        "distinct_per_second": distinct / min(run["seconds"] for run in runs),
        "load_most": max(max(run["load_before"], run["load_after"]) for run in runs),
        "peak_memory_bytes": max(run["peak_memory_bytes"] for run in runs),
        "peak_memory_bytes_per_distinct": max(run["peak_memory_bytes"] for run in runs) / distinct,
    }
    temporal = {"temporal": best["temporal"]} if "temporal" in best else {}
    if "kernels" in best:
        common["kernels"] = best["kernels"]
    return {**common, **(_memory(best) if "table_bytes" in best else {}), **temporal}


def _memory(run: Mapping[str, Any]) -> dict[str, Any]:
    """Bytes per visited state, and per row of a frontier."""
    distinct = run["distinct"]
    peak = [size / states for states, size in run["growths"][-1:] if states] or [run["table_bytes"] / distinct]
    return {
        "table_bytes_per_state_average": run["table_bytes_per_state_average"],
        "table_bytes_per_state_after_growth": peak[0],
        "table_bytes_per_state_at_end": run["table_bytes"] / distinct,
        "frontier_row_bytes": run["rows_bytes"] / distinct,
    }


def scaling(by_threads: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """The speedup over one thread, by wall time, for each number of threads; empty without a run on one.

    Runs finish their last level, so all explored the same states. The figure means little on a busy machine: see the
    load.
    """
    one = by_threads.get("1")
    if one is None:
        return {}
    others = {threads: measured for threads, measured in by_threads.items() if threads != "1"}
    return {threads: one["seconds_least"] / measured["seconds_least"] for threads, measured in others.items()}


def tlc_ratios(by_threads: Mapping[str, Mapping[str, Any]], tlc: Mapping[str, Any]) -> dict[str, Any]:
    """The ratios of states per second and of CPU time per state, by the number of workers."""
    return {str(run["workers"]): _ratios(by_threads[str(run["workers"])], run) for run in tlc["runs"]}


def _ratios(mine: Mapping[str, Any], tlc: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "generated_per_second": mine["generated_per_second"] / tlc["generated_per_second"],
        "distinct_per_second": mine["distinct_per_second"] / tlc["distinct_per_second"],
        "cpu_per_generated": tlc["cpu_ns_per_generated"] / mine["cpu_ns_per_generated"],
        "counts_agree": _agreement(mine, tlc),
    }


def _agreement(mine: Mapping[str, Any], tlc: Mapping[str, Any]) -> bool | None:
    """Whether both have the same counts; None unless both explored the whole graph."""
    if not mine["complete"] or not tlc["complete"]:
        return None
    return (mine["generated"], mine["distinct"]) == (tlc["generated"], tlc["distinct"])


def temporal_ratios(
    by_threads: Mapping[str, Mapping[str, Any]], plain: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """For each number of threads, how many times as much as the search alone the graph costs, and with the verdicts."""
    return {threads: _temporal(measured, plain[threads]) for threads, measured in by_threads.items()}


def _temporal(measured: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    costs, seconds = measured["temporal"], plain["cpu_seconds"]
    return {
        "graph_times_search": costs["graph_cpu_seconds"] / seconds,
        "whole_times_search": measured["cpu_seconds"] / seconds,
        "whole_times_search_by_wall": measured["seconds_least"] / plain["seconds_least"],
        "generated_per_cpu_second": measured["generated"] / measured["cpu_seconds"],
        "more_bytes_per_distinct": measured["peak_memory_bytes_per_distinct"] - plain["peak_memory_bytes_per_distinct"],
        "counts_agree": (measured["generated"], measured["distinct"]) == (plain["generated"], plain["distinct"]),
    }
