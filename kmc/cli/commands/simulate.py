"""`kmc simulate`: random behaviours of a model, checked as they are generated."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from kmc import __version__
from kmc.amounts import seconds_in_words
from kmc.checking.counterexample import Counterexample, counterexample
from kmc.checking.explained_trace import ExplainedTrace
from kmc.checking.model_choice import choose_model, start_state
from kmc.checking.result_json import UNEXPLAINED, error_json, violation_json
from kmc.checking.result_text import violation_lines
from kmc.cli.modules.module_argument import (
    SIMULATE_OPTIONS,
    configuration_of,
    is_module,
    refuse_other_options,
    saved_sets,
)
from kmc.cli.options.completion import MODEL_TYPE, SPEC_TYPE
from kmc.cli.options.shared_options import (
    color_option,
    deadlock_option,
    debug_option,
    json_option,
    resource_options,
    run_dir_options,
    set_option,
    start_option,
    trace_option,
)
from kmc.cli.options.spec_argument import spec_or_start
from kmc.cli.running.start_of_trace import spec_of_start
from kmc.cli.saved.saved_runs import ITF_NAME, MODEL_NAME, RESULT_NAME, UNEXPLAINED_NAME, RunFolder, new_run_folder
from kmc.cli.saved.trace_files import explanation_files, trace_files
from kmc.cli.saved.trace_place import settle_start
from kmc.cli.text.conclusion import command_again, explore_command, trace_hints
from kmc.cli.text.console import say, show, stderr
from kmc.cli.text.progress import StatusLine
from kmc.cli.text.render_result import coverage_lines
from kmc.cli.text.render_story import styled, text_width
from kmc.error_text import shown_path
from kmc.errors import ExitStatus, KmcError, SystemFault
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role, kind_of
from kmc.model_files.model_file import render_cfg
from kmc.reference.random_walks import SimulationCounters, SimulationResult, WalkOptions
from kmc.reference.simulation import simulate_spec
from kmc.result import Limits, Verdict, Violation

SEEDS = 2**31

_EPILOG = """\b
Examples:
  kmc simulate kraft large                          100 behaviours, a new seed
  kmc simulate kraft restarts --seed 7 --depth 30 --number 1000
  kmc simulate kraft --set MaxElections=5 --depth 200 --timeout 10m
  kmc simulate kraft --from trace.itf.json#4 --json

\b
Exit status: 0 no violation in these behaviours, which proves nothing; 20 a limit of
time or memory ended the simulation; 11 to 14, 75, 76, 130, 150, 151 as for `kmc check`.
"""


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """The command line of `kmc simulate`; `words` is what was typed after `kmc`."""

    spec: str
    model: str | None
    sets: tuple[str, ...]
    seed: int | None
    depth: int
    number: int
    timeout: float | None
    memory: int | None
    deadlock: bool | None
    start: str | None
    trace_mode: str | None
    width: int | None
    as_json: bool
    run_dir: str
    no_run_dir: bool
    quiet: bool
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulation with what was saved of it."""

    model: Model
    result: SimulationResult
    warnings: tuple[str, ...]
    trace: Counterexample | None
    folder: RunFolder | None
    explained: ExplainedTrace | None = None
    """The trace for people, made after everything else is saved."""
    fault: SystemFault | None = None
    """The reason why the explanation could not be saved, raised once the result is shown."""

    @property
    def status(self) -> ExitStatus:
        """The exit status; a violation never exits 0."""
        if self.result.violation is not None:
            return self.result.violation.exit_status
        if self.result.interrupted:
            return ExitStatus.INTERRUPTED
        return ExitStatus.OK if self.result.bound is None else ExitStatus.BOUND_REACHED

    @property
    def trace_path(self) -> Path | None:
        """The file of the saved trace."""
        return self.folder.path / ITF_NAME if self.folder is not None and self.trace is not None else None


@click.command(epilog=_EPILOG, short_help="Run random behaviours and test the properties in them.")
@click.argument("spec", type=SPEC_TYPE, required=False, callback=spec_or_start)
@click.argument("model", type=MODEL_TYPE, required=False)
@set_option
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    help="The seed of the random choices; by default a new one each time.",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Greatest number of states of each behaviour.",
)
@click.option(
    "--number", metavar="N", type=click.IntRange(1), default=100, show_default=True, help="Number of behaviours."
)
@resource_options
@deadlock_option
@start_option
@trace_option
@color_option
@json_option
@run_dir_options
@click.option("--quiet", is_flag=True, help="No progress and no coverage.")
@debug_option
@click.pass_context
def simulate(context: click.Context, /, **given: Any) -> int:
    """Run random behaviours of SPEC with the constants of MODEL, and test the properties in every state they reach.

    Meant for state spaces that no search can finish. A seed gives the same behaviours on every machine. The trace of a
    violation is saved; it need not be a shortest one. SPEC may be a TLA+ module, and MODEL its .cfg file.
    """
    options = SimulateOptions(words=tuple(context.obj or ()), **given)
    try:
        if options.start is not None and not options.spec:
            spec, model = spec_of_start(options.start, options.run_dir, quiet=options.quiet)
            sets = (*saved_sets(model), *options.sets) if is_module(spec) else options.sets
            options = replace(options, spec=spec, model=model, sets=sets)
        if is_module(options.spec):
            refuse_other_options(context, SIMULATE_OPTIONS)
        start, settled_words = settle_start(options.start, options.words, options.run_dir)
        options = replace(options, start=start, words=settled_words)
        done = _run(options)
    except KmcError as error:
        if options.as_json:
            say(json.dumps(failed_simulation_json(options, error), indent=2))
        raise
    if options.as_json:
        say(json.dumps(simulation_json(done), indent=2))
    else:
        show(_lines(options, done))
    if done.fault is not None:
        raise done.fault
    return done.status


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of a simulation: a model, the text of its model file, and the functions that run and replay it."""

    model: Model
    warnings: tuple[str, ...]
    text: str
    run: Callable[[WalkOptions], SimulationResult]
    replayed: Callable[[Violation], Counterexample]


def _spec_of(options: SimulateOptions) -> _Subject:
    model = choose_model(options.spec, options.model, options.sets, options.deadlock).model
    start, warnings = start_state(options.start, model)
    return _Subject(
        model,
        warnings,
        render_cfg(model.file),
        lambda walk: simulate_spec(model, start, walk),
        lambda violation: counterexample(model, violation, start),
    )


def _module_of(options: SimulateOptions) -> _Subject:
    # Imported here, because a simulation of a spec in Python does not need the layer of TLA+.
    from kmc.checking.modules.check_module import ModuleRequest, configuration_text, load_module, require_behaviour
    from kmc.checking.modules.module_counterexample import module_counterexample
    from kmc.checking.modules.module_simulation import ModuleSimulation
    from kmc.cli.modules.traced import start_in_module

    path = configuration_of(options.spec, options.model)
    request = ModuleRequest(Path(options.spec), path, options.sets, deadlock=options.deadlock)
    module = load_module(request)
    require_behaviour(module)
    start, warnings = start_in_module(options.start, module)
    return _Subject(
        module.model,
        (*warnings, *module.program.model.warnings),
        configuration_text(request, module),
        lambda walk: ModuleSimulation(module, walk, start).run(),
        lambda violation: module_counterexample(module, violation, start),
    )


def _run(options: SimulateOptions) -> Simulated:
    subject = _module_of(options) if is_module(options.spec) else _spec_of(options)
    model = subject.model
    folder = None
    if not options.no_run_dir:
        folder = new_run_folder(Path(options.run_dir), model.spec.name, model.name, datetime.now())
    result = _behaviours(options, subject)
    trace = subject.replayed(result.violation) if result.violation is not None else None
    done = Simulated(model, result, subject.warnings, trace, folder)
    if folder is not None:
        known = {MODEL_NAME: subject.text, **(trace_files(trace.file) if trace is not None else {})}
        for name, text in known.items():
            folder.write(name, text)
        folder.write(RESULT_NAME, json.dumps(simulation_json(done), indent=2))
    return done if trace is None else _explain(options, done, trace)


def _explain(options: SimulateOptions, done: Simulated, trace: Counterexample) -> Simulated:
    """Tell the trace of a simulation that has been saved, and save the explanation too."""
    again = command_again((*options.words, *_seed(options, done.result)))
    if done.trace_path is not None:
        walk_on = () if is_module(options.spec) else (explore_command(options.spec, done.trace_path),)
        trace.commands = (again, *walk_on)
    explanation = trace.explained(options.trace_mode, text_width(options.width))
    if explanation.failure is not None and "--debug" in options.words:
        show([explanation.failure.text], stderr())
    of_run = None if done.folder is None else shown_path(done.folder.path / UNEXPLAINED_NAME)
    done = replace(done, explained=explanation.with_report(f"it with {of_run or f'what this shows: {again} --debug'}"))
    if done.folder is None:
        return done
    try:
        done.folder.write(RESULT_NAME, json.dumps(simulation_json(done), indent=2))
        for name, text in explanation_files(explanation).items():
            done.folder.write(name, text)
    except SystemFault as fault:
        return replace(done, fault=fault)
    return done


def _behaviours(options: SimulateOptions, subject: _Subject) -> SimulationResult:
    with StatusLine(stderr(), quiet=options.quiet) as line:

        def progress(counters: SimulationCounters) -> None:
            if line.is_due():
                line.update(
                    f"Progress: {counters.behaviours:,} behaviours of {options.number:,}, "
                    f"{counters.generated:,} states generated, {seconds_in_words(counters.seconds)}."
                )

        seed = random.SystemRandom().randrange(SEEDS) if options.seed is None else options.seed
        limits = Limits(seconds=options.timeout, memory_bytes=options.memory)
        return subject.run(WalkOptions(seed, options.depth, options.number, limits, progress))


def _lines(options: SimulateOptions, done: Simulated) -> Iterator[Text | str]:
    result = done.result
    if result.violation is not None and done.explained is not None:
        yield from styled(violation_lines(result.violation, from_given_state=options.start is not None))
        yield from styled(done.explained.lines)
    elif result.interrupted:
        yield "Simulation interrupted. No error has been found so far."
    elif result.bound is not None:
        yield f"Simulation stopped: the limit on {result.bound.value} was reached. No error has been found."
    else:
        yield "Simulation completed. No error has been found."
    counters = result.counters
    yield (
        f"{_counted(counters.behaviours)} of at most {options.depth} states, the longest of {counters.longest}; "
        f"{counters.generated} states generated, seed {result.seed}, {seconds_in_words(counters.seconds)}."
    )
    yield from (f"Warning: {warning}" for warning in done.warnings)
    if not options.quiet:
        yield from coverage_lines(result.generated_by_action)
        yield from _hints(result)
    yield from _last_words(options, done)


def _counted(behaviours: int) -> str:
    return "1 behaviour" if behaviours == 1 else f"{behaviours} behaviours"


def _hints(result: SimulationResult) -> Iterator[Text]:
    """Actions that never fired and reachable properties that were never reached."""
    if result.violation is None:
        yield from (Text(f"Warning: Action {action} never fired.", "yellow") for action in result.never_fired)
        for name in result.unreached:
            yield Text(f"Warning: {kind_of(Role.WITNESSED, 1).noun.capitalize()} {name} was never reached.", "yellow")


def _last_words(options: SimulateOptions, done: Simulated) -> Iterator[str]:
    if done.result.violation is None:
        yield "Nothing is proved: a simulation sees some behaviours, not all."
    if done.folder is not None:
        yield f"Saved: {shown_path(done.folder.path)}"
    if done.trace_path is not None:
        yield from trace_hints(done.trace_path, has_page=done.explained is None or done.explained.page is not None)
    yield f"Reproduce: {shlex.join(['kmc', *options.words, *_seed(options, done.result)])}"


def _seed(options: SimulateOptions, result: SimulationResult) -> tuple[str, ...]:
    """The option that repeats the random choices, where the command line does not have it."""
    return () if options.seed is not None else ("--seed", str(result.seed))


def failed_simulation_json(options: SimulateOptions, error: KmcError) -> dict[str, Any]:
    """The object for a simulation that `error` ended before it had a result."""
    return {
        "result": Verdict.ERROR.value,
        "spec": options.spec,
        "model": options.model,
        "kmc_version": __version__,
        "error": error_json(error),
        "exit_status": int(error.exit_status),
    }


def simulation_json(done: Simulated) -> dict[str, Any]:
    """The object of `kmc simulate --json`; keys that `kmc check --json` has too mean the same."""
    result, violation = done.result, done.result.violation
    ended = (
        "interrupted" if result.interrupted else "bound reached" if result.bound is not None else "no violation found"
    )
    return {
        "result": ended if violation is None else violation.verdict.value,
        "seed": result.seed,
        "behaviours": result.counters.behaviours,
        "longest": result.counters.longest,
        "generated": result.counters.generated,
        "generated_by_action": dict(result.generated_by_action),
        **violation_json(
            violation,
            str(done.trace_path) if done.trace_path is not None else None,
            done.explained.explanation if done.explained is not None else UNEXPLAINED,
        ),
        "bound": result.bound.value if result.bound is not None else None,
        "unreached_goals": list(result.unreached),
        "never_fired": list(result.never_fired),
        "warnings": [*done.warnings, *([done.explained.warning] if done.explained and done.explained.warning else [])],
        "seconds": round(result.counters.seconds, 6),
        "spec": done.model.spec.name,
        "spec_path": str(done.model.spec.root.resolve()),
        "model": done.model.name,
        "digest": done.model.digest,
        "kmc_version": __version__,
        "exit_status": int(done.status),
    }
