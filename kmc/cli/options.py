"""Values of options: durations, sizes, and the options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def duration_seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """An option's value in seconds: `90`, `90s`, `10m`, `1.5h`, `2d`; click.BadParameter for anything else."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", value.strip().lower())
    if found is None or found[2] not in _SECONDS or float(found[1]) == 0:
        raise click.BadParameter(f"'{value}' is not a duration; write seconds, or 90s, 10m, 1h", ctx, param)
    return float(found[1]) * _SECONDS[found[2]]


def size_bytes(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """An option's value in bytes: `512M`, `8G`, `8GB`, by powers of 1024; click.BadParameter for anything else."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?", value.strip().lower())
    if found is None or float(found[1]) == 0:
        raise click.BadParameter(f"'{value}' is not a size; write 512M or 8G", ctx, param)
    return int(float(found[1]) * _BYTES[found[2]])


def debug_option(function: F) -> F:
    """`--debug`: on an error, also show the traceback. The program looks for this word itself, so it always works."""
    return click.option("--debug", is_flag=True, expose_value=False, help="On an error, also show the traceback.")(
        function
    )


def set_option(function: F) -> F:
    """`--set NAME=VALUE`, repeatable, as the parameter `sets`."""
    return click.option(
        "--set",
        "sets",
        metavar="NAME=VALUE",
        multiple=True,
        help="Give a constant another value: --set MaxElections=2, --set 'Server={n1,n2}'. Repeatable.",
    )(function)


def pause_seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """`duration_seconds`, and 0 for no pause at all."""
    return 0.0 if value is not None and value.strip() in ("0", "0s") else duration_seconds(ctx, param, value)


def resume_options(function: F) -> F:
    """`--resume DIR` and `--save-every TIME` (seconds), as the parameters `resume` and `save_every`."""
    function = click.option(
        "--save-every",
        metavar="TIME",
        default="30s",
        show_default=True,
        callback=pause_seconds,
        help="The least time between saves of a native run; 0 saves every level.",
    )(function)
    return click.option(
        "--resume",
        metavar="DIR",
        is_eager=True,
        type=click.Path(file_okay=False),
        help="Resume an interrupted run, by its folder or its address in a storage; see kmc runs.",
    )(function)


def run_dir_options(function: F) -> F:
    """`--run-dir DIR` and `--no-run-dir`, as the parameters `run_dir` and `no_run_dir`."""
    function = click.option(
        "--no-run-dir", is_flag=True, help="Save nothing; the run cannot be resumed, nor use files for memory."
    )(function)
    return click.option(
        "--run-dir",
        metavar="DIR",
        default=".kmc/runs",
        show_default=True,
        type=click.Path(file_okay=False),
        help="Where runs are saved, one folder per run.",
    )(function)


def resource_options(function: F) -> F:
    """`--timeout` (seconds, as a float) and `--memory` (bytes)."""
    function = click.option(
        "--memory",
        metavar="SIZE",
        callback=size_bytes,
        help="Use at most 512M, 8G, ...: the native engine first moves data to files, then stops.",
    )(function)
    return click.option(
        "--timeout", metavar="TIME", callback=duration_seconds, help="Stop after seconds, or 90s, 10m, 1h."
    )(function)


def deadlock_option(function: F) -> F:
    """`--deadlock` or `--no-deadlock`; None when neither is given."""
    return click.option(
        "--deadlock/--no-deadlock", default=None, help="Check for deadlock or not, overriding the model."
    )(function)


def start_option(function: F) -> F:
    """`--from TRACE[#STEP]`, as the parameter `start`."""
    return click.option(
        "--from", "start", metavar="TRACE[#STEP]", help="Start at a state of a saved trace, the last by default."
    )(function)


def trace_option(function: F) -> F:
    """`--trace changed` or `--trace full`, as the parameter `trace_mode`."""
    return click.option(
        "--trace",
        "trace_mode",
        type=click.Choice(["changed", "full"]),
        default="full",
        show_default=True,
        help="Show the changes of each state, or all variables.",
    )(function)


def json_option(function: F) -> F:
    """`--json`, as the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else on stdout.")(
        function
    )
