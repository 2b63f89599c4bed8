"""The outcome of a check: its result, the comparison with the manifest, the exit status, the JSON object.

Invariant: a violation never exits 0, and neither does a result that differs from what the manifest expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmc.cli.expectation import differences
from kmc.cli.model_choice import ChosenModel
from kmc.cli.result_json import result_json
from kmc.errors import ExitStatus
from kmc.result import Bound, Limits, Result, Verdict

_CUT_SHORT = (Bound.STATES, Bound.TIME, Bound.MEMORY, Bound.START)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The command line of `kmc check`; `words` is what was typed after `kmc`."""

    spec: str
    model: str | None
    engine: str
    threads: int | None
    shards: int | None
    processes: int | None
    keep_states: bool
    spark: str | None
    exchange: str | None
    storage: str | None
    storage_cache: int
    fingerprint_bits: str
    sets: tuple[str, ...]
    max_depth: int | None
    max_states: int | None
    timeout: float | None
    memory: int | None
    bounded_ok: bool
    deadlock: bool | None
    keep_going: bool
    strict: bool
    as_json: bool
    junit: str | None
    start: str | None
    trace_mode: str
    run_dir: str
    no_run_dir: bool
    resume: str | None
    save_every: float
    quiet: bool
    words: tuple[str, ...]

    @property
    def limits(self) -> Limits:
        """The limits of the search."""
        return Limits(self.max_depth, self.max_states, self.timeout, self.memory)

    @property
    def changes(self) -> tuple[str, ...]:
        """The given options that make this a different check from the manifest's."""
        given = {
            "--set": self.sets,
            "--from": self.start,
            "--max-depth": self.max_depth is not None,
            "--deadlock": self.deadlock is True,
            "--no-deadlock": self.deadlock is False,
            "--continue": self.keep_going,
        }
        return tuple(option for option, is_given in given.items() if is_given)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result with its comparison, exit status and files.

    `differences` from the expected result are empty when there are none or when nothing was compared; `not_compared`
    says why, and is None when the comparison was made. `folder` is where the run was saved, `trace_path` its trace;
    `resume` is the command that resumes it, if it was interrupted.
    """

    options: CheckOptions
    chosen: ChosenModel
    result: Result
    differences: tuple[str, ...]
    not_compared: str | None
    status: ExitStatus
    folder: Path | None
    trace_path: Path | None
    resume: str | None = None

    @property
    def as_json(self) -> dict[str, Any]:
        """The object of `--json`."""
        trace_file = str(self.trace_path) if self.trace_path else None
        return {
            **result_json(self.result, self.chosen.model, trace_file),
            "resume": self.resume,
            "differences": list(self.differences),
            "exit_status": int(self.status),
        }


def judge(
    options: CheckOptions, chosen: ChosenModel, result: Result, folder: Path | None, trace_path: Path | None
) -> Outcome:
    """Compare a result with the manifest, and decide the exit status."""
    expect = chosen.model.file.expect
    reason = _why_not_compared(options, result) if expect else "the manifest expects nothing of it"
    found = differences(expect, result_json(result, chosen.model, None)) if expect and reason is None else []
    status = result.exit_status(bounded_ok=options.bounded_ok, strict=options.strict)
    if found and status in (ExitStatus.OK, ExitStatus.BOUND_REACHED):
        status = ExitStatus.ASSUMPTION
    return Outcome(options, chosen, result, tuple(found), reason, status, folder, trace_path)


def _why_not_compared(options: CheckOptions, result: Result) -> str | None:
    changes: Sequence[str] = options.changes
    if changes:
        return f"{' and '.join(changes)} made this another check"
    if result.verdict is Verdict.INTERRUPTED or result.bound in _CUT_SHORT:
        return "the search was cut short"
    return None
