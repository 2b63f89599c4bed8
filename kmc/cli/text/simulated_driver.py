"""The measured cost of the driver of a cluster, and the projections that follow from it, as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kmc.amounts import bytes_in_words, count_in_words, seconds_in_words
from kmc.cli.text.console import table

_HEADER = ("tasks", "shards", "CPU s", "between", "send", "receive", "sent", "received", "manifest", "memory", "files")


def driver_lines(measured: Mapping[str, Any]) -> Iterator[str]:
    """The measured sizes, and the projected checks."""
    yield "The driver of a search on a cluster, for one level; the answers of tasks are made up."
    yield from table([_HEADER, *(_size_row(one) for one in measured["sizes"].values())], right=frozenset(range(11)))
    yield "Projected, not measured: the whole search by its largest cause"
    yield from table([("states", "cores", "shards", "time", "most of it"), *map(_check_row, _checks(measured))],
                     right=frozenset(range(4)))  # fmt: skip


def _checks(measured: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    checks: list[Mapping[str, Any]] = measured["projection"]["checks"]
    return checks


def _size_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    phases = one["cpu_seconds_by_phase"]
    return (
        f"{one['tasks']:,}",
        f"{one['shards']:,}",
        f"{one['cpu_seconds']:.2f}",
        *(f"{phases[phase]:.2f}" for phase in ("between", "send", "receive")),
        *(bytes_in_words(one[name]) for name in ("bytes_sent", "bytes_received", "manifest_bytes")),
        bytes_in_words(one["peak_memory_bytes"]),
        f"{one['files_written']:,}",
    )


def _check_row(check: Mapping[str, Any]) -> tuple[str, ...]:
    cause, seconds = max(check["seconds_by_cause"].items(), key=lambda pair: pair[1])
    return (
        count_in_words(check["states"]),
        f"{check['cores']:,}",
        f"{check['shards']:,}",
        seconds_in_words(check["seconds"]),
        f"{cause} {seconds_in_words(seconds)}",
    )
