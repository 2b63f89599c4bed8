"""`kmc check SPEC --all`: every model, finding and mutant of a manifest, each compared with its expected result.

Invariant: each model has one line and one test case, checked or not, and one that was not has the reason.
Each check is one of `kmc check SPEC MODEL --expect`, in a process of its own.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from kmc.checking.refusal import INTERPRETER_TAKES_IT
from kmc.checking.selection import KINDS, STATES_MAX, ChosenEntry, WantedModels, choices, specs_in
from kmc.cli.options.check_options import CheckOptions
from kmc.cli.options.quantities import duration_seconds, duration_text, size_text
from kmc.cli.reports.model_run import ModelRun, State
from kmc.cli.running.child_check import ChildCheck, check_apart
from kmc.cli.saved.junit_file import write_junit, write_unfinished
from kmc.cli.saved.trace_place import RUN_DIR
from kmc.cli.text.all_texts import json_object, junit_of_all, new_warnings, run_line, summary_lines, verdict_of_all
from kmc.cli.text.ci_annotations import GITHUB, annotations_of_all
from kmc.cli.text.console import say, show, stderr
from kmc.cli.text.junit import NOT_ENDED
from kmc.cli.text.progress import StatusLine
from kmc.errors import CommandLineError, ExitStatus, SystemFault
from kmc.reference.search import ENGINE as ENGINE_PYTHON
from kmc.result import Bound

F = TypeVar("F", bound=Callable[..., Any])

_INTERRUPTED, _OUT_OF_TIME = "interrupted", "the total time ran out"
_WAITS = "not begun when the process was killed, or not yet"


@dataclass(frozen=True, slots=True)
class AllOptions:
    """The options that are valid for `--all` only."""

    is_given: bool
    kinds: tuple[str, ...]
    claims: tuple[int, ...]
    max_cost: int | None
    total_timeout: float | None

    def __post_init__(self) -> None:
        wishes = {
            "--kind": self.kinds,
            "--claim": self.claims,
            "--max-cost": self.max_cost,
            "--total-timeout": self.total_timeout,
        }
        for option, value in wishes.items():
            if value and not self.is_given:
                raise CommandLineError("KMC625", f"{option} chooses among all models", help="add --all")


def all_options(function: F) -> F:
    """`--all`, `--kind`, `--claim`, `--max-cost` and `--total-timeout`, as `all_models`, `kinds` and so on."""
    function = click.option(
        "--total-timeout",
        metavar="TIME",
        callback=duration_seconds,
        help="With --all: begin no check after this time, and end the one that runs.",
    )(function)
    function = click.option(
        "--max-cost",
        metavar="N",
        type=click.IntRange(min=1),
        help=f"With --all: leave out models that have more states by their manifest; default: {STATES_MAX:,}.",
    )(function)
    function = click.option(
        "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="With --all: only these. Repeatable."
    )(function)
    function = click.option(
        "--claim",
        "claims",
        metavar="N",
        type=click.IntRange(min=1),
        multiple=True,
        # Read before SPEC, since `spec_or_resume` reads it.
        is_eager=True,
        help="With --all: only models that name this claim (kmc claims lists them), of the shipped specs without SPEC."
        " Repeatable.",
    )(function)
    return click.option(
        "--all",
        "all_models",
        is_flag=True,
        # Read before SPEC, since `spec_or_resume` reads it.
        is_eager=True,
        help="Check every model, finding and mutant of SPEC, or of the specs in a folder, as --expect does. Without"
        " SPEC: of all specs in this folder.",
    )(function)


def take_all_options(given: dict[str, Any]) -> AllOptions:
    """The options of `all_options`, removed from those of the command line."""
    names = ("all_models", "kinds", "claims", "max_cost", "total_timeout")
    return AllOptions(*(given.pop(name) for name in names))


def _refuse_single(options: CheckOptions) -> None:
    """Raise CommandLineError KMC625 for an option that means one check, or makes it another than the manifest's."""
    given = {
        "MODEL": options.model,
        "--set": options.sets,
        "--max-depth": options.max_depth,
        "--max-states": options.max_states,
        "--deadlock": options.deadlock is True,
        "--no-deadlock": options.deadlock is False,
        "--abstraction": options.abstractions,
        "--no-abstractions": options.no_abstractions,
        "--verify-abstractions": options.verify_abstractions,
        "--continue": options.keep_going,
        "--from": options.start,
        "--trace": options.trace_mode,
        "--resume": options.resume,
        "--spark": options.spark,
        "--conf": options.spark_settings,
        "--storage": options.storage,
        "--keep-states": options.keep_states,
    }
    for option, value in given.items():
        if value:
            message = f"--all checks each model as the manifest has it, so it takes no {option}"
            raise CommandLineError("KMC625", message, help=f"leave out {option}, or --all")


def chosen_models(options: CheckOptions, wishes: AllOptions) -> list[ChosenEntry]:
    """The models to check, and those left out. Raises KmcError."""
    _refuse_single(options)
    wanted = WantedModels(wishes.kinds or KINDS, frozenset(wishes.claims), wishes.max_cost or STATES_MAX)
    return choices(specs_in(options.spec), wanted)


def check_all(options: CheckOptions, wishes: AllOptions, chosen: Sequence[ChosenEntry]) -> int:
    """Check the models, and write what came out; the exit status. Ctrl-C ends it with what was done until then."""
    runs: list[ModelRun] = []
    began = time.monotonic()
    end = None if wishes.total_timeout is None else began + wishes.total_timeout
    _write_begun(options, runs, chosen)
    try:
        for run in _runs(chosen, options, end):
            runs.append(run)
            if not options.as_json:
                show(run_line(runs, chosen))
            show([f"Warning: {text}" for text in new_warnings(runs)], stderr())
            _write_begun(options, runs, chosen)
    except KeyboardInterrupt:
        runs += _not_begun(chosen[len(runs) :], _INTERRUPTED, _INTERRUPTED)
    status = _status(runs, options)
    faults = _written(options, runs, status)
    if options.as_json:
        say(json.dumps(json_object(options.spec, runs, status, time.monotonic() - began), indent=2))
    else:
        if options.output == GITHUB:
            show(annotations_of_all(runs))
        show(summary_lines(runs))
        show([verdict_of_all(options.spec, runs, status)])
    if faults:
        raise faults[0]
    return status


def _write_begun(options: CheckOptions, runs: Sequence[ModelRun], chosen: Sequence[ChosenEntry]) -> None:
    """Write the report that remains if the process is killed now."""
    if options.junit is not None and len(runs) < len(chosen):
        all_runs = [*runs, *_not_begun(chosen[len(runs) :], NOT_ENDED, _WAITS)]
        write_unfinished(options.junit, junit_of_all(options.spec, all_runs, ExitStatus.INTERRUPTED))


def _not_begun(chosen: Sequence[ChosenEntry], in_work: str, waiting: str) -> list[ModelRun]:
    """The outcomes of the models that an interrupt kept from an end, in words; the first of them was running."""
    states = [State.LEFT_OUT if choice.left_out else State.NOT_CHECKED for choice in chosen]
    reasons = [choice.left_out or waiting for choice in chosen]
    if State.NOT_CHECKED in states:
        first = states.index(State.NOT_CHECKED)
        states[first], reasons[first] = State.INTERRUPTED, in_work
    return list(map(ModelRun, chosen, states, reasons))


def _written(options: CheckOptions, runs: Sequence[ModelRun], status: ExitStatus) -> list[SystemFault]:
    """Write the report. The fault, if there is one, since the results are shown even when the disk is full."""
    if options.junit is not None:
        try:
            write_junit(options.junit, junit_of_all(options.spec, runs, status))
        except SystemFault as fault:
            return [fault]
    return []


def _runs(chosen: Sequence[ChosenEntry], options: CheckOptions, end: float | None) -> Iterator[ModelRun]:
    for ordinal, choice in enumerate(chosen, start=1):
        left = None if end is None else end - time.monotonic()
        if choice.left_out is not None:
            yield ModelRun(choice, State.LEFT_OUT, choice.left_out)
        elif choice.fault is not None:
            yield ModelRun(choice, State.UNEXPECTED, choice.fault.partition("\n")[0], choice.fault)
        elif left is not None and left <= 0:
            yield ModelRun(choice, State.NOT_CHECKED, _OUT_OF_TIME)
        else:
            console = stderr()
            # Only on a terminal: elsewhere the line of the model comes soon enough. It is gone when that is printed.
            with StatusLine(console, quiet=options.quiet or not console.is_terminal) as line:
                line.update(f"Checking {choice.spec} {choice.name} ({ordinal} of {len(chosen)}).")
                run = _run(choice, options, left)
            yield run


def _run(choice: ChosenEntry, options: CheckOptions, left: float | None) -> ModelRun:
    """The result of one model, for which there are `left` seconds."""
    began = time.monotonic()
    limits = [seconds for seconds in (options.timeout, left) if seconds is not None]
    limit = ["--timeout", duration_text(min(limits))] if limits else []
    words = ["check", choice.spec, choice.name, "--expect", *_passed_on(options), *limit]
    done = check_apart([*words, *(["--engine", options.engine] if options.engine == ENGINE_PYTHON else [])])
    if INTERPRETER_TAKES_IT in done.stderr:
        done = check_apart([*words, "--engine", ENGINE_PYTHON])
    seconds = time.monotonic() - began
    is_of_all = left is not None and left == min(limits)
    # The rest of the total time was not typed.
    text = _reproduced_without(done.text, " ".join(limit)) if is_of_all else done.text
    if is_of_all and _ended_by_time(done):
        return ModelRun(choice, State.NOT_CHECKED, _OUT_OF_TIME, text, done.result, seconds)
    state = State.EXPECTED if done.status == ExitStatus.OK else State.UNEXPECTED
    return ModelRun(choice, state, _without_name(done.verdict), text, done.result, seconds)


def _reproduced_without(text: str, words: str) -> str:
    """The text, with these words left out of the command that reproduces a result."""
    return re.sub(rf"(?m)^(Reproduce: .*) {re.escape(words)}\b", r"\1", text)


def _passed_on(options: CheckOptions) -> list[str]:
    """The options that each check has too."""
    values: Mapping[str, Any] = {
        "--threads": options.threads,
        "--shards": options.shards,
        "--processes": options.processes,
        "--memory": size_text(options.memory) if options.memory is not None else None,
        "--fingerprint-bits": options.fingerprint_bits if options.fingerprint_bits != "64" else None,
        "--run-dir": None if options.no_run_dir or options.run_dir == RUN_DIR else options.run_dir,
    }
    words = [word for option, value in values.items() if value is not None for word in (option, str(value))]
    return [*words, *["--strict"] * options.strict, *["--no-run-dir"] * options.no_run_dir]


def _ended_by_time(done: ChildCheck) -> bool:
    return done.result is not None and done.result["bound"] == Bound.TIME.value


def _without_name(verdict: str) -> str:
    """A verdict without its first word and the name of the model, which the line shows already."""
    word, _, clause = verdict.partition(": ")
    return clause if word.isupper() or word.partition(" ")[0].isupper() else verdict


def _status(runs: Sequence[ModelRun], options: CheckOptions) -> ExitStatus:
    states = {run.state for run in runs}
    if State.INTERRUPTED in states:
        return ExitStatus.INTERRUPTED
    if State.UNEXPECTED in states:
        return ExitStatus.ASSUMPTION
    if State.NOT_CHECKED in states and not options.bounded_ok:
        return ExitStatus.BOUND_REACHED
    return ExitStatus.OK
