"""`kmc runs`: list the saved runs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from kmc.cli.console import say, show, table
from kmc.cli.options import debug_option, json_option
from kmc.cli.render_errors import shown_path
from kmc.cli.saved_runs import SavedRun, saved_runs, stored_runs
from kmc.errors import ExitStatus
from kmc.result import Bound

_EPILOG = """\b
Examples:
  kmc runs                                the runs saved by this working directory
  kmc runs --run-dir /var/kmc --json      another place, as JSON
  kmc runs s3://BUCKET/FOLDER             a storage
  kmc trace .kmc/runs/kraft-restarts-20261120-231948/trace.itf.json
"""


@click.command(epilog=_EPILOG, short_help="List the saved runs.")
@click.argument("storage", required=False)
@click.option(
    "--run-dir",
    metavar="DIR",
    default=".kmc/runs",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Where the runs were saved.",
)
@json_option
@debug_option
def runs(storage: str | None, run_dir: str, as_json: bool) -> int:
    """List the saved runs, oldest first: start, result, counts, and the folder with the trace.

    Interrupted runs are listed again below, with the command that resumes them. With STORAGE, those that lie there: it
    is what kmc check --storage was given.
    """
    found = saved_runs(Path(run_dir)) if storage is None else stored_runs(storage)
    if as_json:
        say(json.dumps({"runs": [_run_json(run) for run in found]}, indent=2))
    elif found:
        header = ("began", "result", "property", "generated", "distinct", "depth", "folder")
        show(table([header, *map(_row, found)], right=frozenset({3, 4, 5}), indent=0))
        resumable = [run for run in found if run.resumable]
        if resumable:
            show(["", "Can go on:", *(f"  {shlex.join(_resume(run))}" for run in resumable)])
    else:
        show([f"No run is saved in {storage or run_dir}; `kmc check` saves each run there."])
    return ExitStatus.OK


def _run_json(run: SavedRun) -> dict[str, Any]:
    return {
        "folder": str(run.path),
        "began": run.began.isoformat(),
        "result": run.result,
        "running": run.is_running,
        "resume": shlex.join(_resume(run)) if run.resumable else None,
    }


def _resume(run: SavedRun) -> tuple[str, ...]:
    words = ("kmc", "check", "--resume", _shown(run))
    # The bound may be the model's, and would end the run again.
    at_bound = run.result is not None and run.result.get("bound") == Bound.DEPTH.value
    return (*words, "--max-depth", str(run.levels + 1)) if at_bound and run.levels else words


def _shown(run: SavedRun) -> str:
    return shown_path(run.path) if isinstance(run.path, Path) else run.path


def _row(run: SavedRun) -> tuple[str, ...]:
    missing = {"result": "running" if run.is_running else "did not end", "depth": run.levels or None}
    result: Mapping[str, Any] = missing if run.result is None or run.is_running else run.result
    counts = [_count(result.get(key)) for key in ("generated", "distinct", "depth")]
    return (
        f"{run.began:%Y-%m-%d %H:%M:%S}",
        str(result.get("result")),
        str(result.get("invariant") or "-"),
        *counts,
        _shown(run),
    )


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "-"
