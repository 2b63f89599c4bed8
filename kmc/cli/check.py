"""`kmc check`: explore all reachable states of a model and test its properties."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmc.cli.console import say, show, stderr
from kmc.cli.counterexample import replayed_trace, save_trace, trace_lines
from kmc.cli.fingerprint_width import fingerprint_option, fingerprint_warnings
from kmc.cli.junit import junit_failure, junit_text
from kmc.cli.model_choice import ChosenModel, choose_model, start_state
from kmc.cli.options import (
    deadlock_option,
    debug_option,
    json_option,
    resource_options,
    resume_options,
    run_dir_options,
    set_option,
    start_option,
    trace_option,
)
from kmc.cli.outcome import CheckOptions, Outcome, judge
from kmc.cli.progress import Progress, StatusLine
from kmc.cli.refusal import refusal
from kmc.cli.render_errors import error_lines, shown_path
from kmc.cli.render_result import summary_lines, verdict_lines
from kmc.cli.result_json import failure_json
from kmc.cli.resuming import (
    create_directory,
    held,
    open_resumed,
    resume_command,
    spec_or_resume,
    terminated_as_interrupted,
    whole_command,
)
from kmc.cli.run_folder import ITF_NAME, MODEL_NAME, RESULT_NAME, RunFolder, new_run_folder
from kmc.compiler.checks.view_reads import view_warnings
from kmc.errors import ExitStatus, KmcError, SpecError, SystemFault
from kmc.lang.modelfile import render_cfg
from kmc.process import usable_cpus
from kmc.reference.search import ENGINE as ENGINE_PYTHON
from kmc.reference.search import Search
from kmc.result import Result
from kmc.trace.tracefile import TraceFile

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import RunDirectory

_EPILOG = """\b
Examples:
  kmc check kraft                              the model `smoke`
  kmc check kraft standard --strict            another model; all actions must fire
  kmc check kraft large --threads 2 --timeout 10m --memory 8G
  kmc check kraft KRaft.cfg --max-depth 12 --bounded-ok --junit report.xml
  kmc check ./my_spec --json | jq .distinct

\b
Exit status, as TLC's:
  0 all properties hold in all states   11 deadlock    12 invariant violated
  13 action property violated   14 assertion failed
  20 a bound was reached, or only a part was checked: --from, temporal properties
  10 --strict, or not the result that the manifest expects   130 interrupted
  75, 76 the spec or an invariant fails to evaluate   150 spec   151 model file, trace
  153 a file cannot be written   2 wrong words on the command line
"""


@click.command(epilog=_EPILOG, short_help="Explore all states of a model and test its properties.")
@click.argument("spec", required=False, callback=spec_or_resume)
@click.argument("model", required=False)
@click.option(
    "--engine",
    type=click.Choice(["native", "python"]),
    default="native",
    show_default=True,
    help="Compiled kernels, states known by 64-bit fingerprints; or the interpreter, some hundred times slower.",
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(1, 64), help="Threads of the native engine; default: all cores."
)
@fingerprint_option
@set_option
@click.option(
    "--max-depth",
    metavar="N",
    type=click.IntRange(min=1),
    help="Explore levels 1 to N (initial: 1), whatever the model says.",
)
@click.option("--max-states", metavar="N", type=click.IntRange(min=1), help="Stop at a level's end past N states.")
@resource_options
@click.option("--bounded-ok", is_flag=True, help="Exit 0, not 20, when only a bound ended the check.")
@deadlock_option
@click.option("--continue", "keep_going", is_flag=True, help="Explore on after a violation and count them all.")
@click.option("--strict", is_flag=True, help="Exit 10 for an action that never fired or a goal never reached.")
@start_option
@trace_option
@json_option
@click.option("--junit", metavar="FILE", type=click.Path(dir_okay=False), help="Write a JUnit report too.")
@resume_options
@run_dir_options
@click.option("--quiet", is_flag=True, help="No progress; of the result the verdict, the trace and the counts.")
@debug_option
@click.pass_obj
def check(words: tuple[str, ...], /, **given: Any) -> int:
    """Explore every state that SPEC can reach with the constants of MODEL, and test its properties in each.

    SPEC is the name of a shipped spec or the folder of your own. MODEL is a name from its manifest or a .cfg file; by
    default it is `smoke`, and for a spec without a manifest all its invariants with the constants of --set.

    The result goes to stdout, progress to stderr, and the run is saved under .kmc/runs. A violation is shown with a
    shortest trace that leads to it. A run of the native engine that is cut short, by Ctrl-C or by a bound, goes on
    with --resume DIR instead of SPEC, with other bounds and threads if you like.
    """
    options = CheckOptions(words=tuple(words or ()), **given)
    _refuse_unwritable(options.junit)
    try:
        with terminated_as_interrupted():
            done = _run(options)
    except Exception as error:
        _report_failure(options, error)
        raise
    faults = list(_written(options, done))
    _show(options, done)
    if faults:
        raise faults[0]
    return done.outcome.status


@dataclass(frozen=True, slots=True)
class _Done:
    """A check that has a result: what was made of it, its trace, and the folder to save it in."""

    outcome: Outcome
    trace: TraceFile | None
    folder: RunFolder | None


def _run(options: CheckOptions) -> _Done:
    if options.resume is None:
        return _run_in(options, None)
    options, directory = open_resumed(options)
    with held(directory):
        return _run_in(replace(options, words=whole_command(options)), directory)


def _run_in(options: CheckOptions, directory: RunDirectory | None) -> _Done:
    if options.engine == ENGINE_PYTHON:
        return _run_model(options, directory)
    # Imported here: what only the native engine needs takes a fifth of a second.
    from kmc.engine.loops.background_compile import compiled_early
    from kmc.engine.loops.compiled_loops import work_loop
    from kmc.engine.native.specialization import Traits

    # What is true of most models; for another it begins once more.
    wide = options.fingerprint_bits == "128"
    with compiled_early(work_loop(Traits(wide)), work_loop(Traits(wide, ranked=True))):
        return _run_model(options, directory)


def _run_model(options: CheckOptions, directory: RunDirectory | None) -> _Done:
    chosen = choose_model(options.spec, options.model, options.sets, options.deadlock, options.max_depth)
    model = chosen.model
    start, warnings = start_state(options.start, model)
    folder = None
    if directory is not None:
        folder = RunFolder(directory.path)
    elif not options.no_run_dir:
        folder = new_run_folder(Path(options.run_dir), model.spec.name, model.name, datetime.now())
        directory = create_directory(folder.path, options) if options.engine != ENGINE_PYTHON else None
    with held(directory):
        result = _search(options, chosen, start, directory)
    warnings = (*view_warnings(model, shown_path), *fingerprint_warnings(result, options.words), *warnings)
    result = replace(result, warnings=(*result.warnings, *warnings))
    trace = replayed_trace(model, result.violation, start) if result.violation else None
    trace_path = folder.path / ITF_NAME if folder is not None and trace is not None else None
    outcome = judge(options, chosen, result, folder.path if folder else None, trace_path)
    resume = resume_command(options, directory.path, result) if directory is not None else None
    return _Done(replace(outcome, resume=resume), trace, folder)


def _search(options: CheckOptions, chosen: ChosenModel, start: Any, directory: RunDirectory | None) -> Result:
    model, limits, keep_going = chosen.model, options.limits, options.keep_going
    with StatusLine(stderr(), quiet=options.quiet) as line:
        progress = Progress(line)
        if options.engine == ENGINE_PYTHON:
            from kmc.compiler.view_order import fingerprint_order

            return Search(
                model, limits, keep_going=keep_going, start=start, progress=progress, view_order=fingerprint_order
            ).run()
        # Imported here, because numpy and the compiler take a third of a second.
        from kmc.engine.check_model import check_native
        from kmc.engine.layout.search_outcome import Settings

        try:
            return check_native(
                model,
                limits,
                threads=options.threads or usable_cpus(),
                keep_going=keep_going,
                start=start,
                progress=progress,
                settings=Settings(save_seconds=options.save_every),
                fingerprint_bits=int(options.fingerprint_bits),
                directory=directory,
            )
        except SpecError as error:
            # Everything else that is wrong with a spec was found when it was loaded.
            raise refusal(model, start, error) from None


def _written(options: CheckOptions, done: _Done) -> Iterator[SystemFault]:
    """Write what was asked for; the faults met, since a full disk must not cost the result that is shown after it."""
    try:
        if done.folder is not None:
            _save(done.folder, done)
    except SystemFault as fault:
        yield fault
    try:
        if options.junit is not None:
            _write_junit(options.junit, junit_text(done.outcome))
    except SystemFault as fault:
        yield fault


def _save(folder: RunFolder, done: _Done) -> None:
    folder.write(MODEL_NAME, render_cfg(done.outcome.chosen.model.file))
    if done.trace is not None:
        save_trace(folder, done.trace)
    folder.write(RESULT_NAME, json.dumps(done.outcome.as_json, indent=2))


def _show(options: CheckOptions, done: _Done) -> None:
    if done.outcome.resume is not None and (options.as_json or options.quiet):
        show([f"Resume: {done.outcome.resume}"], stderr())
    if options.as_json:
        say(json.dumps(done.outcome.as_json, indent=2))
        return
    show(verdict_lines(done.outcome))
    if done.trace is not None:
        show([*trace_lines(done.trace, changed_only=options.trace_mode == "changed"), ""])
    show(summary_lines(done.outcome))


def _report_failure(options: CheckOptions, error: Exception) -> None:
    """The machine-readable outputs of a check that has no result."""
    status = error.exit_status if isinstance(error, KmcError) else ExitStatus.INTERNAL
    if options.as_json:
        say(json.dumps(failure_json(error, options.spec, options.model, options.engine, status), indent=2))
    try:
        if options.junit is not None:
            _write_junit(options.junit, junit_failure(options.spec, options.model, error))
    except SystemFault as fault:
        # The error that ended the check follows, and is the one that decides the exit status.
        show(error_lines(fault), stderr())


def _refuse_unwritable(path: str | None) -> None:
    """Raise SystemFault for a report that cannot be written, before a check that may take hours."""
    if path is None:
        return
    try:
        with Path(path).open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str, error: OSError) -> SystemFault:
    return SystemFault("KMC503", f"cannot write {path}: {error.strerror}", help="give another --junit FILE")


def _write_junit(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(path, error) from None
