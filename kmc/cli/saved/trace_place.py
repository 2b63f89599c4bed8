"""The location of a trace: a file, the folder of a run or of runs, or `last` for the newest; each with an optional
`#STEP`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kmc.cli.saved.saved_runs import ITF_NAME, last_run_with_trace, traced_runs
from kmc.errors import TraceError
from kmc.frontend.shipped import is_there
from kmc.near_words import nearest

LAST = "last"
RUN_DIR = ".kmc/runs"
_NAMES_MAX = 6


@dataclass(frozen=True, slots=True)
class TracePlace:
    """The file of a trace, and the step as it was typed, None for the whole trace."""

    path: Path
    step: str | None = None

    @property
    def where(self) -> str:
        """The argument for `kmc.trace.files.pick`."""
        return str(self.path) if self.step is None else f"{self.path}#{self.step}"


def trace_place(where: str, run_dir: str = RUN_DIR) -> TracePlace:
    """The place that `FILE`, `RUNDIR` or `last` names, each perhaps with `#STEP`; `run_dir` has the saved runs.

    A file that does not exist is refused when it is read, unless there is one of nearly that name. Raises TraceError:
    KMC420 for such a name, KMC436 for `last` without a run, KMC437 for a folder without a trace, or with several runs
    that have one.
    """
    name, step = where, None
    if "#" in where and not is_there(Path(where).exists):
        name, _, step = where.rpartition("#")
    if name == LAST:
        return TracePlace(_last(run_dir), step)
    path = Path(name)
    if not is_there(path.exists):
        _refuse_near_miss(path, Path(run_dir))
    return TracePlace(_in_folder(path) if is_there(path.is_dir) else path, step)


def settle_start(
    start: str | None, words: tuple[str, ...], run_dir: str = RUN_DIR
) -> tuple[str | None, tuple[str, ...]]:
    """A value of `--from` and the words of its command line, with the file that a folder or `last` means now.

    So the command that is printed to repeat the check, and a run that is resumed, start at the same state later.
    """
    if start is None:
        return None, words
    where = trace_place(start, run_dir).where
    if Path(where) == Path(start):
        return start, words
    replaced = {f"--from={start}": f"--from={where}"}
    after = [None, *words]
    return where, tuple(
        where if before == "--from" and word == start else replaced.get(word, word)
        for before, word in zip(after, words, strict=False)
    )


def _refuse_near_miss(path: Path, run_dir: Path) -> None:
    """Raise TraceError KMC420 where a name is nearly `last`, or that of a run, or of what lies beside it."""
    entries = {entry.name: entry for folder in (run_dir, path.parent) for entry in _traces_in(folder)}
    near = nearest(path.name, [*entries, *([LAST] if path.parent == Path() else [])])
    if near is not None:
        meant = entries.get(near, Path(near))
        raise TraceError("KMC420", f"'{path}': No such file or directory", help=f"did you mean '{meant}'?")


def _traces_in(folder: Path) -> list[Path]:
    """The entries of a folder that may be traces: JSON files, and folders that hold a trace."""
    try:
        entries = sorted(folder.iterdir())
        return [entry for entry in entries if entry.suffix == ".json" or (entry / ITF_NAME).is_file()]
    except OSError:
        return []


def _some(names: list[str]) -> str:
    """The newest of some names, which are sorted by age."""
    return ", ".join(([f"{len(names) - _NAMES_MAX} older"] if len(names) > _NAMES_MAX else []) + names[-_NAMES_MAX:])


def _last(run_dir: str) -> Path:
    folder = last_run_with_trace(Path(run_dir))
    if folder is None:
        raise TraceError(
            "KMC436",
            f"no run in {run_dir} has a trace",
            help="kmc check saves one with each counterexample; see kmc runs",
        )
    return folder / ITF_NAME


def _in_folder(folder: Path) -> Path:
    """The trace in the folder of a run, or in that of the only run with one in a folder of runs."""
    if not (folder / ITF_NAME).is_file():
        runs = traced_runs(folder) or traced_runs(folder / RUN_DIR)
        if len(runs) == 1:
            return runs[0] / ITF_NAME
        if runs:
            raise TraceError(
                "KMC437",
                f"the folder '{folder}' has {len(runs)} runs with a trace: {_some([run.name for run in runs])}",
                help=f"name one of them, such as {runs[-1]}, the newest",
            )
        help = "name the folder of a run that found a counterexample; see kmc runs"
        raise TraceError("KMC437", f"the folder '{folder}' has no trace, which would be {ITF_NAME}", help=help)
    return folder / ITF_NAME
