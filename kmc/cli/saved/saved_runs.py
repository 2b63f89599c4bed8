"""Saved runs: a folder for each under `.kmc/runs`, named after spec, model and time, never written twice.

The folder is made before the search begins, so that a long search does not end in a directory that cannot be written.
The command that made it holds a shared lock on it until it ends, so that no other process removes it meanwhile.
It holds `result.json` (the object of `--json`), `model.cfg`, and the trace, if there is one, as ITF, as TLC JSON
and as a page for people.
Each file is on the disk when it is written, whole, and never written through a link.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from kmc.cli.saved.kept_command import are_limits
from kmc.engine.files.durable_folder import DurableFolder
from kmc.errors import SystemFault
from kmc.frontend.shipped import is_there

RESULT_NAME = "result.json"
ITF_NAME = "trace.itf.json"
TLC_JSON_NAME = "trace.tlc.json"
PAGE_NAME = "trace.html"
UNEXPLAINED_NAME = "explanation_error.txt"
MODEL_NAME = "model.cfg"
CHECKPOINT_NAME = "checkpoint"
STATES_NAME = "states"
TABLES_NAME = "tables"
CACHE_NAME = "cache"
"""Copies of the files of a run in a storage."""

FILE_NAMES = (MODEL_NAME, ITF_NAME, TLC_JSON_NAME, PAGE_NAME, UNEXPLAINED_NAME, RESULT_NAME)

_BLOCK_BYTES = 512
"""The unit of `st_blocks`, whatever the blocks of the disk are."""

_TIME = re.compile(r"-(?P<day>\d{8})-(?P<time>\d{6})(?:-(?P<number>\d+))?$")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    def write(self, name: str, text: str) -> Path:
        """Write a file of the run; its path. Raises SystemFault KMC502, or KMC556 where it is a link."""
        data = (text if text.endswith("\n") else text + "\n").encode()
        with DurableFolder(self.path, _cannot_write) as folder:
            folder.replace(name, data)
        return self.path / name

    def sync_name(self) -> None:
        """Wait until the folder itself is on the disk under its name."""
        with DurableFolder(self.path.parent, _cannot_write) as parent:
            parent.sync()


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run that was saved: its folder, when it began, and its result, or None when it never ended.

    `path` is an address for a run in a storage. `levels` is its number of levels if it can be resumed, else None;
    `is_running` is whether a process works on it now. `size_bytes` is the disk space of its files, None if that is not
    known. `limits` are those of its command line: "memory" in bytes, "max_depth" and "max_states".
    """

    path: Path | str
    began: datetime
    number: int
    result: Mapping[str, Any] | None
    levels: int | None
    is_running: bool
    size_bytes: int | None = None
    limits: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def resumable(self) -> bool:
        """Whether `kmc check --resume` can resume it."""
        return self.levels is not None and not self.is_running


def new_run_folder(parent: Path, spec: str, model: str, now: datetime) -> RunFolder:
    """Make the folder `<spec>-<model>-<time>` in `parent`, with `-2`, `-3`, ... if that name exists.

    Raises SystemFault KMC502 when it cannot be made.
    """
    stem = f"{spec}-{model}" if model != spec else spec
    name = f"{stem}-{now:%Y%m%d-%H%M%S}"
    ordinal = 1
    while True:
        path = parent / (name if ordinal == 1 else f"{name}-{ordinal}")
        try:
            parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except FileExistsError:
            if not parent.is_dir():
                raise cannot_write(parent, NotADirectoryError("a file of that name is in the way")) from None
            ordinal += 1
            continue
        except OSError as error:
            raise cannot_write(path, error) from None
        _hold(path)
        return RunFolder(path)


def _hold(path: Path) -> None:
    """Keep a shared lock on the folder until the command ends, where the file system has locks."""
    context = click.get_current_context(silent=True)
    if context is not None:
        folder = DurableFolder(path, _cannot_write)
        folder.hold(alone=False)
        context.call_on_close(folder.close)


def cannot_write(path: Path, error: OSError) -> SystemFault:
    """KMC502: a file or folder that cannot be written."""
    return SystemFault(
        "KMC502",
        f"cannot write {path}: {error.strerror or error}",
        help="choose another place with --run-dir DIR; without shards, --no-run-dir saves nothing",
    )


def _cannot_write(_: str, path: Path, error: OSError) -> SystemFault:
    return cannot_write(path, error)


def saved_runs(parent: Path) -> list[SavedRun]:
    """The runs saved in `parent`, the oldest first; none when there is no such folder."""
    return sorted(_runs_in(parent), key=_order)


def last_run_with_trace(parent: Path) -> Path | None:
    """The folder of the newest run in `parent` that has a trace."""
    return last_run_with(parent, ITF_NAME)


def traced_runs(parent: Path) -> list[Path]:
    """The folders of the runs in `parent` that have a trace, the oldest first."""
    return _runs_with(parent, ITF_NAME)


def last_run_with(parent: Path, *names: str) -> Path | None:
    """The folder of the newest run in `parent` that has a file or folder of one of these names."""
    return next(reversed(_runs_with(parent, *names)), None)


def _runs_with(parent: Path, *names: str) -> list[Path]:
    try:
        begun = [(_beginning(path.name), path) for path in parent.iterdir()]
    except OSError:
        return []
    runs = [(at, path) for at, path in begun if at is not None and any((path / name).exists() for name in names)]
    return [path for _, path in sorted(runs)]


def recorded_spec(folder: Path) -> str | None:
    """The path of the spec that a run in this folder checked, as its result names it; None without such a result."""
    path = (_result_in(folder) or {}).get("spec_path")
    return path if isinstance(path, str) and is_there(Path(path).exists) else None


def recorded_model(folder: Path) -> dict[str, str]:
    """The model of a trace, by the run in this folder: `spec`, `model` and `constants`; empty without a result."""
    result = _result_in(folder) or {}
    names = {key: result[key] for key in ("spec", "model") if isinstance(result.get(key), str)}
    try:
        return {**names, "constants": (folder / MODEL_NAME).read_text(encoding="utf-8")} if "spec" in names else {}
    except (OSError, UnicodeDecodeError):
        return {}


def stored_runs(address: str) -> list[SavedRun]:
    """The runs in a storage, the oldest first; whether one is running now is not known. SystemFault KMC570."""
    return sorted(_runs_at(address), key=_order)


def _order(run: SavedRun) -> tuple[datetime, int, str]:
    return run.began, run.number, str(run.path)


def _runs_in(parent: Path) -> Iterator[SavedRun]:
    for path in parent.iterdir() if parent.is_dir() else ():
        began = _beginning(path.name)
        if began is not None and os.path.isdir(path):
            levels, is_running, limits = _checkpoint_in(path)
            is_running = is_running or _is_held(path)
            yield SavedRun(path, *began, _result_in(path), levels, is_running, disk_bytes(path), limits)


def _is_held(path: Path) -> bool:
    """Whether a command has the folder now."""
    try:
        with DurableFolder(path) as folder:
            return not folder.hold(alone=True)
    except SystemFault:
        return False


def disk_bytes(path: Path) -> int:
    """The disk space of the files in a folder and below; files removed meanwhile are not counted."""
    size = 0
    for parent, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(parent, name)).st_blocks * _BLOCK_BYTES
    return size


def _runs_at(address: str) -> Iterator[SavedRun]:
    # Imported here, because numpy takes a tenth of a second.
    from kmc.shards.storage.remote_folder import RemoteFolder, inside
    from kmc.shards.storage.run_in_storage import StoredRun

    for name in RemoteFolder(address).folders():
        began = _beginning(name)
        if began is not None:
            run = StoredRun(inside(address, name))
            yield SavedRun(run.address, *began, _parsed(run.read(RESULT_NAME)), run.levels, False)


def _beginning(name: str) -> tuple[datetime, int] | None:
    """When the run of a name began, and which of those of that second it is."""
    match = _TIME.search(name)
    if match is not None:
        # The digits need not be a time.
        with suppress(ValueError):
            return datetime.strptime(match["day"] + match["time"], "%Y%m%d%H%M%S"), int(match["number"] or 1)
    return None


def _checkpoint_in(path: Path) -> tuple[int | None, bool, Mapping[str, int | None]]:
    """The number of levels that can be resumed, whether a process works on the run now, and the limits of its command
    line.
    """
    if not os.path.isdir(path / CHECKPOINT_NAME):
        return None, False, {}
    # Imported here, because numpy takes a tenth of a second.
    from kmc.engine.files.run_directory import is_locked, saved_manifest

    manifest = saved_manifest(path)
    if manifest is None:
        return None, is_locked(path), {}
    limits = manifest.about.get("limits", {})
    return manifest.levels, is_locked(path), limits if are_limits(limits) else {}


def _result_in(path: Path) -> Mapping[str, Any] | None:
    try:
        with DurableFolder(path) as folder:
            return _parsed(folder.read(RESULT_NAME))
    except (OSError, SystemFault):
        return None


def _parsed(text: bytes | None) -> Mapping[str, Any] | None:
    try:
        result = json.loads(text or b"")
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None
