"""Resuming interrupted runs: the part of the command line that is saved with them, and the command to type next.

The options that decide what is checked are saved. Bounds and threads are given again each time, so they may be larger.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmc.checking.memory_need import MemoryNeed
from kmc.cli.options.check_options import CheckOptions
from kmc.cli.options.quantities import size_text
from kmc.cli.options.spark_settings import without_secrets
from kmc.cli.saved.kept_command import check_about, locate_spec, spec_path
from kmc.cli.saved.saved_runs import CHECKPOINT_NAME, RESULT_NAME
from kmc.cli.saved.storage_choice import create_in_storage, resume_in_storage, run_of, storage_given
from kmc.cli.saved.trace_place import trace_place
from kmc.error_text import shown_path
from kmc.errors import CommandLineError, SystemFault
from kmc.result import Bound, Result, Verdict

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import RunDirectory

# Codes of faults after which a run can be resumed: memory, processes, disk, Spark, storage.
_RUN_OUT = (
    "KMC530", "KMC531", "KMC532", "KMC550", "KMC558", "KMC560", "KMC561", "KMC562", "KMC564", "KMC565", "KMC570",
    "KMC573", "KMC574", "KMC575",
)  # fmt: skip
_DAMAGED, _TAKEN_OVER = "KMC551", "KMC571"


def kept_about(options: CheckOptions) -> dict[str, Any]:
    """The part of a command line that a run directory saves; paths are made absolute."""
    return {
        "spec": options.spec,
        "spec_path": spec_path(options.spec),
        "model": None if options.model is None else _absolute(options.model),
        "sets": list(options.sets),
        "deadlock": options.deadlock,
        "abstractions": list(options.abstractions),
        "no_abstractions": options.no_abstractions,
        "verify_abstractions": options.verify_abstractions,
        "keep_going": options.keep_going,
        "fingerprint_bits": options.fingerprint_bits,
        "shards": options.shards,
        "keep_states": options.keep_states,
        "start": None if options.start is None else _absolute_start(options.start),
        # A resumed run has those that it is given; `kmc runs` names these again.
        "limits": {"memory": options.memory, "max_depth": options.max_depth, "max_states": options.max_states},
    }


def _absolute(name_or_path: str) -> str:
    path = Path(name_or_path)
    looks_like_path = "/" in name_or_path or path.suffix in (".py", ".cfg")
    return str(path.resolve()) if looks_like_path and path.exists() else name_or_path


def _absolute_start(start: str) -> str:
    place = trace_place(start)
    return replace(place, path=place.path.resolve()).where


def _refuse_shards(options: CheckOptions) -> None:
    """Raise CommandLineError KMC620 for options that only a run in shards can have."""
    wishes = {"--shards": options.shards, "--processes": options.processes, "--spark": options.spark}
    for option, value in wishes.items():
        if value is not None:
            raise CommandLineError(
                "KMC620", f"the run is not in shards, so it has no {option}", help="leave it out, or begin a new run"
            )


def resumed_options(options: CheckOptions, about: Mapping[str, Any], shards: int | None = None) -> CheckOptions:
    """The command line of a resumed run: the saved options, overridden by those given now.

    `shards` is the number of the run's shards, None for a run that is not in shards.
    """
    given = bool(options.spec)
    if shards is None:
        _refuse_shards(options)
    return replace(
        options,
        spec=options.spec if given else about["spec"],
        model=options.model if given else about["model"],
        sets=(*about["sets"], *options.sets),
        deadlock=about["deadlock"] if options.deadlock is None else options.deadlock,
        abstractions=options.abstractions or tuple(about.get("abstractions", ())),
        no_abstractions=options.no_abstractions or about.get("no_abstractions", False),
        verify_abstractions=options.verify_abstractions or about.get("verify_abstractions", False),
        keep_going=options.keep_going or about["keep_going"],
        fingerprint_bits=about.get("fingerprint_bits", "64"),
        shards=options.shards or shards,
        keep_states=options.keep_states or about.get("keep_states", False),
        start=options.start or about["start"],
        storage=storage_given(about),
        engine="native",
    )


def _opened(path: Path) -> RunDirectory:
    """Open the run in a folder; SystemFault KMC555 says so if it has ended."""
    from kmc.engine.files.run_directory import RunDirectory, nothing_to_resume

    try:
        return RunDirectory.opened(path)
    except SystemFault as fault:
        if fault.code != "KMC555" or not (path / RESULT_NAME).is_file():
            raise
        raise nothing_to_resume(path, has_ended=True) from None


def open_resumed(options: CheckOptions) -> tuple[CheckOptions, RunDirectory]:
    """The run that `--resume` names, locked, and the whole command line; CommandLineError or SystemFault."""
    # Imported here, because numpy takes a tenth of a second.
    from kmc.engine.files.run_manifest import NAME, damaged, restoring
    from kmc.shards.level.run_state import restored_state

    path = options.resume or ""
    if "://" in path:
        directory = run_of(path, options)
    else:
        # Unlike Path.is_dir, this is False for a name that is too long.
        if not os.path.isdir(path):
            raise CommandLineError("KMC606", f"there is no run {path}", help="see kmc runs: it lists the saved runs")
        directory = _opened(Path(path))
    try:
        resume_in_storage(directory, options)
        manifest = directory.manifest
        shards = manifest.about.get("shards")
        if manifest.sharded is not None and manifest.snapshot is not None:
            with restoring(directory.folder / NAME):
                shards = restored_state(manifest.sharded, manifest.snapshot).shards
        about = check_about(manifest.about, directory.folder / NAME)
        if not options.spec:
            about = {**about, "spec": locate_spec(about, path)}
        return resumed_options(options, about, shards), directory
    except (CommandLineError, SystemFault):
        directory.close()
        raise
    except (KeyError, TypeError):
        directory.close()
        raise damaged(directory.folder / NAME, "it does not say what was checked") from None


def create_directory(path: Path, options: CheckOptions) -> RunDirectory:
    """Create the directory of a run that can be resumed, in this folder or in its storage."""
    from kmc.engine.files.run_directory import RunDirectory

    if options.storage is not None:
        return create_in_storage(path, kept_about(options), options)
    return RunDirectory.created(path, kept_about(options))


@dataclass(slots=True)
class HeldRun:
    """The options of a check as they are known so far, and the run directory that it works in, once there is one."""

    options: CheckOptions
    directory: RunDirectory | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def command(self) -> str | None:
        """The command that continues the run after a failure; None if nothing is kept."""
        if self.directory is None or not (self.directory.folder / "run.json").exists():
            return None
        return shlex.join(["kmc", "check", "--resume", shown_path(self.directory.path)])

    def discard_if_empty(self) -> None:
        """Leave nothing of a run that failed before anything was saved."""
        if self._discard_unbegun() and self.directory is not None:
            # The folder may hold something else.
            with suppress(OSError):
                self.directory.path.rmdir()

    def discard_unsearched(self, result: Result) -> None:
        """Leave nothing to resume of a run that ended before its search began."""
        if result.is_unsearched:
            self._discard_unbegun()

    def discard_handed_over(self) -> None:
        """Leave nothing to resume of a search that was handed over to the native engine, and could not be."""
        if self.directory is not None and not self.directory.resumed:
            with suppress(SystemFault):
                self.directory.discard()
            self.directory = None

    def _discard_unbegun(self) -> bool:
        if self.directory is None or self.directory.resumed or self.directory.manifest.levels:
            return False
        # Another error is on its way, or a result that matters more.
        with suppress(SystemFault):
            self.directory.discard()
        return True

    def with_way_on(self, error: Exception) -> Exception:
        """Return the error with the command that goes on, or that nothing is kept, if its cause can be removed."""
        if isinstance(error, SystemFault) and error.code == _DAMAGED:
            return self._taken_over() or error
        if not isinstance(error, SystemFault) or error.code not in _RUN_OUT or self.directory is None:
            return error
        if self.command is None:
            return error.noting("no level had been saved, so nothing of this run is kept")
        levels = self.directory.manifest.levels
        if not levels:
            # The storage that failed still has what could not be removed.
            return error.noting("no level had been saved, so there is nothing to resume")
        return error.noting(f"{levels} levels are saved; go on with them: {self.command}")

    def _taken_over(self) -> SystemFault | None:
        """The reason why files are gone, if another process owns the run now."""
        try:
            if self.directory is not None and self.directory.copy is not None:
                self.directory.copy.require_owned()
        except SystemFault as fault:
            return fault if fault.code == _TAKEN_OVER else None
        return None


@contextmanager
def held_run(options: CheckOptions) -> Iterator[HeldRun]:
    """During the block, no other process has the run directory that the block puts into the `HeldRun`."""
    run = HeldRun(options)
    try:
        yield run
    finally:
        if run.directory is not None:
            run.directory.close()


def resume_command(options: CheckOptions, path: Path, result: Result, need: MemoryNeed | None = None) -> str | None:
    """The command that resumes the run in `path`, with the memory that it needs; None if it cannot be resumed."""
    cut_short = result.verdict is Verdict.INTERRUPTED or result.bound in _CUT_SHORT
    if not cut_short or not (path / CHECKPOINT_NAME / "run.json").exists():
        return None
    words = ["kmc", "check", "--resume", shown_path(path)]
    words += ["--threads", str(options.threads)] if options.threads else []
    words += ["--processes", str(options.processes)] if options.processes else []
    # A bound of the model would end the run again; a bound of the command line is omitted unless it is given again.
    depth = len(result.levels) + 1 if result.bound is Bound.DEPTH else options.max_depth
    words += ["--max-depth", str(depth)] if depth else []
    words += ["--max-states", str(options.max_states)] if options.max_states and result.bound != Bound.STATES else []
    if need is not None:
        words += ["--memory", need.size]
    elif options.memory:
        words += ["--memory", size_text(options.memory)]
    return shlex.join(words)


_CUT_SHORT = (Bound.DEPTH, Bound.STATES, Bound.TIME, Bound.MEMORY)


def whole_command(options: CheckOptions) -> tuple[str, ...]:
    """The words that repeat this check from its beginning, for a resumed run."""
    words = ["check", options.spec, *([options.model] if options.model else []), "--engine", options.engine]
    for text in options.sets:
        words += ["--set", text]
    if options.deadlock is not None:
        words.append("--deadlock" if options.deadlock else "--no-deadlock")
    words += [word for name in options.abstractions for word in ("--abstraction", name)]
    words += ["--no-abstractions"] * options.no_abstractions + ["--verify-abstractions"] * options.verify_abstractions
    words += ["--fingerprint-bits", options.fingerprint_bits] if options.fingerprint_bits != "64" else []
    words += ["--shards", str(options.shards)] if options.shards else []
    words += ["--spark", options.spark] if options.spark else []
    words += ["--exchange", options.exchange] if options.exchange else []
    words += ["--thin-rows", str(options.thin_rows)] if options.thin_rows is not None else []
    words += [word for text in without_secrets(options.spark_settings) for word in ("--conf", text)]
    words += ["--storage", options.storage] if options.storage else []
    words += ["--continue"] * options.keep_going
    words += ["--from", options.start] if options.start else []
    return tuple(words)
