"""The run given to `kmc states` and `kmc query`: a folder, an address, or `last`, the newest suitable one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from kmc.cli.saved.saved_runs import CHECKPOINT_NAME, RESULT_NAME, STATES_NAME, TABLES_NAME, last_run_with
from kmc.cli.saved.trace_place import LAST, RUN_DIR
from kmc.error_text import shown_path
from kmc.errors import CommandLineError
from kmc.frontend.shipped import is_there

_KEEPING = "kmc check SPEC MODEL --shards 4 --keep-states"


def run_with_states(typed: str) -> str:
    """The run that is meant; CommandLineError KMC633 for `last` where no run keeps its states."""
    if typed != LAST or is_there(Path(typed).exists):
        return typed
    run = last_run_with(Path(RUN_DIR), STATES_NAME)
    if run is None:
        raise CommandLineError("KMC633", f"no run in {RUN_DIR} keeps its states", help=f"keep them: {_KEEPING}")
    return str(run)


def tables_of(typed: str) -> Path:
    """The folder of the tables of a run; CommandLineError KMC633, with the command that writes them, if there are
    none.
    """
    if typed == LAST and not is_there(Path(typed).exists):
        newest = last_run_with(Path(RUN_DIR), TABLES_NAME)
        if newest is not None:
            return newest / TABLES_NAME
        kept = last_run_with(Path(RUN_DIR), STATES_NAME)
        way = f"write them: kmc states {shown_path(kept)}" if kept is not None else _keeping_states(None)
        raise CommandLineError("KMC633", f"no run in {RUN_DIR} has tables", help=way)
    run = Path(typed)
    for folder in (run / TABLES_NAME, run):
        if is_there((folder / "levels").is_dir):
            return folder
    has_states = any(is_there((run / name).is_dir) for name in (STATES_NAME, CHECKPOINT_NAME))
    way = f"write them: kmc states {typed}" if has_states or not is_there(run.is_dir) else _keeping_states(run)
    raise CommandLineError("KMC633", f"there are no tables in {typed}", help=way)


def _keeping_states(run: Path | None) -> str:
    """The advice for tables if no states were kept: another check, of the same model if that is known."""
    command = _KEEPING
    try:
        result = json.loads((run / RESULT_NAME).read_text(encoding="utf-8")) if run is not None else {}
        command = shlex.join(["kmc", "check", result["spec"], result["model"], "--shards", "4", "--keep-states"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return f"its states were not kept; check again with {command}, then: kmc states last"
