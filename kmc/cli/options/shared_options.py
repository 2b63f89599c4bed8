"""The options that several commands share, one decorator for each group of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kmc.cli.options.quantities import duration_seconds, pause_seconds, size_bytes
from kmc.trace.tlc_views import TLC_VIEWS

F = TypeVar("F", bound=Callable[..., Any])


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
    return run_dir_option(function)


def run_dir_option(function: F) -> F:
    """`--run-dir DIR`, as the parameter `run_dir`."""
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
        "--timeout",
        metavar="TIME",
        callback=duration_seconds,
        help="Stop after seconds, or 90s, 10m, 1h; loading and compiling count.",
    )(function)


def deadlock_option(function: F) -> F:
    """`--deadlock` or `--no-deadlock`; None when neither is given."""
    return click.option(
        "--deadlock/--no-deadlock", default=None, help="Check for deadlock or not, overriding the model."
    )(function)


def abstraction_options(function: F) -> F:
    """`--abstraction NAME`, `--no-abstractions` and `--verify-abstractions`."""
    function = click.option(
        "--verify-abstractions",
        is_flag=True,
        help="Check on every state of the graph without them that the abstractions lose nothing the model asks for.",
    )(function)
    function = click.option("--no-abstractions", is_flag=True, help="Explore the states as they are.")(function)
    return click.option(
        "--abstraction",
        "abstractions",
        metavar="NAME",
        multiple=True,
        help="Explore the images of states under an abstraction of the spec, instead of the model's; repeat for more.",
    )(function)


def start_option(function: F) -> F:
    """`--from TRACE[#STEP]`, as the parameter `start`."""
    return click.option(
        "--from",
        "start",
        metavar="TRACE[#STEP]",
        # Read before SPEC, which it may name.
        is_eager=True,
        help="Start at a state of a saved trace, the last one by default. TRACE: a file, the folder of a run, or last."
        " Without SPEC and MODEL: those of the trace.",
    )(function)


TRACE_VIEWS = ("steps", "changes", "states", "table", "chart")
_OLD_NAMES = {"full": "tlc", "changed": "tlc-changes"}


class _TraceView(click.Choice[str]):
    """A view of a trace; `full` and `changed`, the names that TLC's views had first, still work."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(_OLD_NAMES.get(value, value), param, ctx)


def trace_option(function: F) -> F:
    """`--trace VIEW`, one of the views above, as the parameter `trace_mode`, and `--width N`."""
    function = click.option(
        "--width",
        metavar="N",
        type=click.IntRange(40, 1000),
        help="Columns of a trace; default: the terminal's.",
    )(function)
    return click.option(
        "--trace",
        "trace_mode",
        type=_TraceView([*TRACE_VIEWS, *TLC_VIEWS]),
        help="How a trace is shown: one line a step (the default), what each step changes, whole states, a table by "
        "server, a message chart; or in TLC's style, whole or its changes.",
    )(function)


def color_option(function: F) -> F:
    """`--color [WHEN]`, kept in the context, where `kmc.cli.text.console` looks for it."""

    def keep(ctx: click.Context, _: click.Parameter, value: str) -> None:
        ctx.color = {"always": True, "never": False}.get(value)

    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        is_flag=False,
        flag_value="always",
        default="auto",
        show_default=True,
        expose_value=False,
        callback=keep,
        help="Colours: on terminals, always (--color alone), or never. NO_COLOR is heeded by auto.",
    )(function)


def json_option(function: F) -> F:
    """`--json`, as the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else on stdout.")(
        function
    )
