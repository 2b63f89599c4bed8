"""The outcome of a check: its result, the comparison with the manifest, the exit status, the JSON object.

Invariant: a result that differs from what the manifest expects never exits 0, and a violation does so only under
`--expect`, where the manifest expects it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kmc.cli.console import bytes_in_words
from kmc.cli.expectation import differences, idle_actions, stale, unexpected, unreached
from kmc.cli.explanation import ToldTrace
from kmc.cli.memory_need import MemoryNeed
from kmc.cli.model_choice import ChosenModel
from kmc.cli.progress_text import cache_warning
from kmc.cli.result_json import UNEXPLAINED, result_json
from kmc.compile_log import LOG
from kmc.errors import CommandLineError, ExitStatus
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
    spark_settings: tuple[str, ...]
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
    expect: bool
    as_json: bool
    junit: str | None
    start: str | None
    trace_mode: str | None
    width: int | None
    run_dir: str
    no_run_dir: bool
    resume: str | None
    save_every: float
    quiet: bool
    levels: bool | None
    words: tuple[str, ...]

    @property
    def limits(self) -> Limits:
        """The limits of the search."""
        return Limits(self.max_depth, self.max_states, self.timeout, self.memory)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result with its comparison, exit status and files.

    `differences` from the expected result are empty when there are none or when nothing was compared; `not_compared`
    says why, and is None when the comparison was made. `unexpected` says why the result is not the expected one by the
    rule of `kmc.cli.expectation`, and is empty if it is. `folder` is where the run was saved, `trace_path` its trace;
    `resume` is the command that resumes it, if it was interrupted. `told` is the counterexample for people, None until
    it has been told, which is after the rest has been saved. `memory_need` is set where the limit of memory ended the
    search.
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
    told: ToldTrace | None = None
    unexpected: tuple[str, ...] = ()
    memory_need: MemoryNeed | None = None

    @property
    def idle_actions(self) -> tuple[str, ...]:
        """The actions that never fired and should have; all that never fired where another model was checked."""
        is_own = not _changes(self.options, self.chosen)
        return idle_actions(self.chosen, self.result) if is_own else self.result.never_fired

    @property
    def unreached(self) -> tuple[str, ...]:
        """The reachable properties that were not reached and should have been."""
        is_own = not _changes(self.options, self.chosen)
        return unreached(self.chosen, self.result) if is_own else self.result.unreached

    @property
    def explanation_warnings(self) -> tuple[str, ...]:
        """The warning that the counterexample is shown plain, if it could not be explained."""
        return (self.told.warning,) if self.told is not None and self.told.warning is not None else ()

    @property
    def as_json(self) -> dict[str, Any]:
        """The object of `--json`."""
        trace_file = str(self.trace_path) if self.trace_path else None
        explanation = self.told.explanation if self.told is not None else UNEXPLAINED
        return {
            **result_json(self.result, self.chosen.model, trace_file, explanation),
            "warnings": [*self.result.warnings, *_cache_warnings(), *self.explanation_warnings],
            "resume": self.resume,
            "growing": [asdict(variable) for variable in self.result.counters.growing],
            "memory_needed_bytes": self.memory_need.bytes if self.memory_need is not None else None,
            "differences": list(self.differences),
            "expected": not self.unexpected,
            "unexpected": list(self.unexpected),
            "exit_status": int(self.status),
        }


def _cache_warnings() -> Iterator[str]:
    fault = LOG.cache_fault
    if fault is not None:
        yield cache_warning(fault).removeprefix("Warning: ")


def judge(
    options: CheckOptions, chosen: ChosenModel, result: Result, folder: Path | None, trace_path: Path | None
) -> Outcome:
    """Compare a result with the manifest, and decide the exit status."""
    expect, changes = chosen.model.file.expect, _changes(options, chosen)
    reason = _why_not_compared(changes, result, options) if expect else "the manifest expects nothing of it"
    found = differences(expect, result_json(result, chosen.model, None)) if expect and reason is None else []
    found += stale(chosen, result) if not changes else []
    off = unexpected(chosen, result, found, reason)
    outcome = Outcome(
        options, chosen, result, tuple(found), reason, ExitStatus.OK, folder, trace_path, unexpected=tuple(off)
    )
    return replace(outcome, status=_status(outcome))


def refuse_changes(options: CheckOptions, chosen: ChosenModel) -> None:
    """Raise CommandLineError KMC624 for `--expect` with an option that makes it another check than the manifest's."""
    changes = _changes(options, chosen)
    if options.expect and changes:
        message = f"{' and '.join(changes)} would make this another check than the one whose result is expected"
        raise CommandLineError("KMC624", message, help="leave out --expect, or put a model of its own in models.toml")


def _status(outcome: Outcome) -> ExitStatus:
    options, result = outcome.options, outcome.result
    is_missed = options.strict and bool(outcome.idle_actions or outcome.unreached)
    if options.expect and result.verdict is not Verdict.INTERRUPTED:
        is_missed = is_missed and result.violation is None
        return ExitStatus.ASSUMPTION if outcome.unexpected or is_missed else ExitStatus.OK
    status = result.exit_status(bounded_ok=options.bounded_ok, strict=is_missed)
    if outcome.differences and status in (ExitStatus.OK, ExitStatus.BOUND_REACHED):
        return ExitStatus.ASSUMPTION
    return status


def _changes(options: CheckOptions, chosen: ChosenModel) -> tuple[str, ...]:
    """The given options that make this a different check from the manifest's."""
    given = {"--from": options.start is not None, "--continue": options.keep_going}
    return (*chosen.changes, *(option for option, is_given in given.items() if is_given))


def _why_not_compared(changes: tuple[str, ...], result: Result, options: CheckOptions) -> str | None:
    if changes:
        return f"{' and '.join(changes)} made this another check"
    if result.verdict is Verdict.INTERRUPTED or result.bound in _CUT_SHORT:
        if result.is_unsearched:
            cut = _what_cut(result, options).removesuffix("the search")
            return f"{cut}the check while the spec was loaded and compiled"
        depth, distinct = result.counters.depth, result.counters.distinct
        states = f"{distinct:,} distinct state{'s' * (distinct != 1)}"
        return f"{_what_cut(result, options)} at level {depth}, after {states}"
    return None


def _what_cut(result: Result, options: CheckOptions) -> str:
    match result.bound:
        case Bound.TIME if options.timeout is not None:
            return f"--timeout {options.timeout:g} ended the search"
        case Bound.MEMORY if options.memory is not None:
            return f"--memory {bytes_in_words(options.memory).replace(' ', '')} ended the search"
        case Bound.STATES if options.max_states is not None:
            return f"--max-states {options.max_states} ended the search"
        case _:
            return "the search was cut short"
