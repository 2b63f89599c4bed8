"""`kmc runs`: list the saved runs, and remove some of them."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from kmc.amounts import age_in_words, size_in_words
from kmc.cli.options.quantities import duration_seconds, size_text
from kmc.cli.options.shared_options import debug_option, json_option
from kmc.cli.saved.pruning import Pruned, Selection, removed
from kmc.cli.saved.saved_runs import SavedRun, saved_runs, stored_runs
from kmc.cli.text.console import say, show, stdout, table
from kmc.error_text import shown_path
from kmc.errors import CommandLineError, ExitStatus
from kmc.memory_limit import size_word
from kmc.result import Bound

_HEADER = ("began", "age", "result", "property", "generated", "distinct", "depth", "size", "folder")
_RIGHT = frozenset({"age", "generated", "distinct", "depth", "size"})
_LEAST = ("generated", "began", "property", "depth", "distinct", "result")
"""The columns that a narrow terminal goes without, the first ones first."""

_EPILOG = """\b
Examples:
  kmc runs                                the runs saved by this working directory
  kmc runs --run-dir /var/kmc --json      another place, as JSON
  kmc runs s3://BUCKET/FOLDER             a storage
  kmc runs --prune --finished --older-than 7d --dry-run
  kmc trace .kmc/runs/kraft-restarts-20261120-231948/trace.itf.json
"""


@click.command(epilog=_EPILOG, short_help="List the saved runs, or remove some.")
@click.argument("storage", required=False)
@click.option(
    "--run-dir",
    metavar="DIR",
    default=".kmc/runs",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Where the runs were saved.",
)
@click.option("--prune", is_flag=True, help="Remove the runs that all of the next three options allow.")
@click.option(
    "--older-than", metavar="TIME", callback=duration_seconds, help="With --prune: begun so long ago: 12h, 7d."
)
@click.option("--keep", metavar="N", type=click.IntRange(min=0), help="With --prune: all but the N newest.")
@click.option("--finished", is_flag=True, help="With --prune: those with a result that cannot be resumed.")
@click.option("--dry-run", is_flag=True, help="With --prune: list them, and remove nothing.")
@click.option("--yes", is_flag=True, help="With --prune: do not ask.")
@json_option
@debug_option
def runs(
    storage: str | None,
    run_dir: str,
    prune: bool,
    older_than: float | None,
    keep: int | None,
    finished: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """List the saved runs, oldest first: start, age, result, counts, size on the disk, and the folder with the trace.

    Interrupted runs are listed again below, with the command that resumes them. STORAGE, a value of kmc check
    --storage, lists the runs that are there.

    --prune removes runs, those that can be resumed too unless --finished is given. A run that a process works on stays,
    and so do files that are not kmc's. Files in a storage stay there: remove them with the storage's own tools,
    since kmc cannot know whether a process of another machine uses them.
    """
    wanted = Selection(older_than, keep, finished)
    if prune:
        _refuse_vague(wanted, storage)
        return _prune(saved_runs(Path(run_dir)), wanted, dry_run=dry_run, asks=not yes, as_json=as_json)
    if wanted.is_given or dry_run or yes:
        raise click.UsageError("--older-than, --keep, --finished, --dry-run and --yes belong to --prune")
    saved = saved_runs(Path(run_dir)) if storage is None else stored_runs(storage)
    if as_json:
        say(json.dumps({"runs": [_run_json(run) for run in saved]}, indent=2))
    elif saved:
        show(_listed(saved))
        resumable = [run for run in saved if run.resumable]
        if resumable:
            show(["", "Can go on:", *(f"  {shlex.join(_resume(run))}" for run in resumable)])
    else:
        show([f"No run is saved in {storage or run_dir}; `kmc check` saves each run there."])
    return ExitStatus.OK


def _refuse_vague(wanted: Selection, storage: str | None) -> None:
    if storage is not None:
        raise click.UsageError(
            "--prune removes runs of this machine; remove those of a storage with its own tools: "
            "whether a process of another machine works on one is not known here"
        )
    if not wanted.is_given:
        raise click.UsageError("say which runs: --older-than 7d, --keep 10, --finished; --keep 0 stands for all")


def _prune(saved: Sequence[SavedRun], wanted: Selection, *, dry_run: bool, asks: bool, as_json: bool) -> int:
    chosen = wanted.of(saved, datetime.now())
    if chosen and not dry_run and asks and not _agreed(chosen, as_json=as_json):
        return ExitStatus.OK
    done = [Pruned(run, run.size_bytes or 0) if dry_run else removed(run) for run in chosen]
    if as_json:
        say(json.dumps(_pruned_json(done, dry_run=dry_run), indent=2))
    else:
        show(_pruned_lines(done, len(saved), dry_run=dry_run))
    faults = [pruned.fault for pruned in done if pruned.fault is not None]
    if faults:
        raise faults[0]
    return ExitStatus.OK


def _agreed(chosen: Sequence[SavedRun], *, as_json: bool) -> bool:
    """Whether a person wants these runs removed; CommandLineError KMC628 where there is none to ask."""
    if as_json or not _can_answer():
        raise CommandLineError(
            "KMC628",
            "removing runs must be confirmed, and there is no terminal to ask on",
            help="give --yes, or --dry-run to see them first",
        )
    show(_listed(chosen))
    size = size_in_words(sum(run.size_bytes or 0 for run in chosen))
    return click.confirm(f"Remove {_counted(len(chosen))}, {size}?", err=True)


def _can_answer() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _pruned_lines(done: Sequence[Pruned], before: int, *, dry_run: bool) -> Iterator[str]:
    size = size_in_words(sum(pruned.freed_bytes for pruned in done))
    if dry_run:
        yield from _listed([pruned.run for pruned in done])
        yield f"Would remove {_counted(len(done))} of {before}, {size}. Nothing was removed."
        return
    for pruned in done:
        if pruned.is_running:
            yield f"Kept: {_shown(pruned.run)}: a process works on it."
        elif pruned.left:
            yield f"{_shown(pruned.run)} stays, since not all in it is kmc check's: {', '.join(pruned.left)}"
        if pruned.storage is not None:
            yield f"Its files in {pruned.storage} stay; remove them with the tools of that storage."
    yield f"Removed {_counted(sum(pruned.is_gone for pruned in done))} of {before}, {size}."


def _pruned_json(done: Sequence[Pruned], *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "freed_bytes": sum(pruned.freed_bytes for pruned in done),
        "removed": [str(pruned.run.path) for pruned in done if pruned.is_gone],
        "kept": [str(pruned.run.path) for pruned in done if not pruned.is_gone],
        "left_in_storage": [pruned.storage for pruned in done if pruned.storage is not None],
    }


def _counted(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _run_json(run: SavedRun) -> dict[str, Any]:
    return {
        "folder": str(run.path),
        "began": run.began.isoformat(),
        "result": run.result,
        "running": run.is_running,
        "resume": shlex.join(_resume(run)) if run.resumable else None,
        "size_bytes": run.size_bytes,
    }


def _resume(run: SavedRun) -> tuple[str, ...]:
    """The words that resume a run: with the limits that it had, but for one that ended it."""
    result, limits = run.result or {}, run.limits
    ended_by = result.get("bound")
    # The bound may be the model's, and would end the run again.
    depth = run.levels + 1 if ended_by == Bound.DEPTH.value and run.levels else limits.get("max_depth")
    states = None if ended_by == Bound.STATES.value else limits.get("max_states")
    needed = result.get("memory_needed_bytes")
    given_memory = limits.get("memory")
    memory = size_word(needed) if isinstance(needed, int) else given_memory and size_text(given_memory)
    given = {"--max-depth": depth, "--max-states": states, "--memory": memory}
    options = (word for option, value in given.items() if value for word in (option, str(value)))
    return ("kmc", "check", "--resume", _shown(run), *options)


def _shown(run: SavedRun) -> str:
    return shown_path(run.path) if isinstance(run.path, Path) else run.path


def _listed(saved: Sequence[SavedRun]) -> list[str]:
    """A table of runs, with the columns that a terminal has room for."""
    console = stdout()
    columns = list(_HEADER)
    rows = [dict(zip(_HEADER, _row(run), strict=True)) for run in saved]
    for least in ("", *_LEAST):
        columns = [name for name in columns if name != least]
        right = frozenset(column for column, name in enumerate(columns) if name in _RIGHT)
        lines = table([tuple(columns), *(tuple(row[name] for name in columns) for row in rows)], right=right, indent=0)
        if not console.is_terminal or max(map(len, lines), default=0) <= console.width:
            break
    return lines


def _row(run: SavedRun) -> tuple[str, ...]:
    missing = {"result": "running" if run.is_running else "did not end", "depth": run.levels or None}
    result: Mapping[str, Any] = missing if run.result is None or run.is_running else run.result
    counts = [_count(result.get(key)) for key in ("generated", "distinct", "depth")]
    return (
        f"{run.began:%Y-%m-%d %H:%M:%S}",
        age_in_words((datetime.now() - run.began).total_seconds()),
        str(result.get("result")),
        str(result.get("invariant") or "-"),
        *counts,
        size_in_words(run.size_bytes) if run.size_bytes is not None else "-",
        _shown(run),
    )


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "-"
