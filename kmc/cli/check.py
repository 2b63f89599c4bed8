"""`kmc check`: explore all reachable states of a model and test its properties."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from kmc.cli.check_all import AllOptions, all_options, check_all, chosen_models, taken
from kmc.cli.conclusion import command_again, explore_command
from kmc.cli.console import say, show, stderr
from kmc.cli.counterexample import Counterexample, counterexample
from kmc.cli.fingerprint_width import fingerprint_option, fingerprint_warnings
from kmc.cli.junit import junit_begun, junit_failure
from kmc.cli.junit_file import refuse_unwritable, write_junit, write_unfinished
from kmc.cli.memory_need import MemoryNeed, memory_need
from kmc.cli.model_choice import ChosenModel, choose_model, start_state
from kmc.cli.options import (
    color_option,
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
from kmc.cli.outcome import CheckOptions, Outcome, judge, refuse_changes
from kmc.cli.progress import Progress, StatusLine, compiling_shown
from kmc.cli.refusal import result_instead
from kmc.cli.render_errors import error_lines, shown_path
from kmc.cli.render_result import summary_lines, verdict_lines
from kmc.cli.result_files import ResultFiles
from kmc.cli.result_json import failure_json
from kmc.cli.resuming import (
    HeldRun,
    create_directory,
    held_run,
    open_resumed,
    resume_command,
    spec_or_resume,
    terminated_as_interrupted,
    whole_command,
)
from kmc.cli.saved_runs import ITF_NAME, RunFolder, new_run_folder
from kmc.cli.search_choice import chosen_search, completed
from kmc.cli.search_scale import scale_of
from kmc.cli.selection import folder_hint, only_spec_in
from kmc.cli.spark_settings import conf_option, without_secrets
from kmc.cli.start_of_trace import spec_of_start
from kmc.cli.storage_choice import storage_options
from kmc.cli.trace_place import settled_start
from kmc.compiler.checks.spec_warnings import model_warnings
from kmc.engine.files import durable_folder
from kmc.errors import ModelError, SpecError, SystemFault
from kmc.liveness.problem import TemporalProblem
from kmc.memory_limit import refuse_low_limit
from kmc.process import usable_cpus
from kmc.reference.accepted_problem import accepted_problem
from kmc.reference.search import ENGINE as ENGINE_PYTHON
from kmc.reference.search import Search
from kmc.result import Result
from kmc.shards import SHARDS_MAX

_EPILOG = """\b
Examples:
  kmc check kraft                              the model `smoke`
  kmc check kraft restarts --expect            0 if the manifest's result comes out, here a violation
  kmc check kraft large --shards 4 --timeout 10m   states on disk, not in memory
  kmc check die_hard --all --junit report.xml  every model, finding and mutant, as the manifest expects it
  kmc check ./my_spec --strict --json | jq .distinct

\b
Exit status, as TLC's:
  0 all properties hold in all states   11 deadlock    12 invariant violated
  13 action property or temporal property violated   14 assertion failed
  20 a bound was reached, or only a part was checked: --from, a constraint with temporal properties
  77 a temporal property that nothing can violate
  10 --strict, or not the result that the manifest expects   130 interrupted
  With --expect: 0 the expected result, a violation or a bound too; else 10
  75, 76 the spec or an invariant fails to evaluate   150 spec   151 model file, trace
  153 a file, or stdout, cannot be written   2 wrong command line
"""


@click.command(epilog=_EPILOG, short_help="Explore all states of a model and test its properties.")
@click.argument("spec", required=False, callback=spec_or_resume)
@click.argument("model", required=False)
@click.option(
    "--engine",
    type=click.Choice(["native", "python"]),
    default="native",
    show_default=True,
    help="native: compiled kernels, known states by fingerprint. python: the interpreter, some hundred times slower.",
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(1, 64), help="Threads of the native engine; default: all cores."
)
@click.option(
    "--shards",
    metavar="N",
    type=click.IntRange(1, SHARDS_MAX),
    help="Keep all states in files of the run, in N shards: for more states than memory holds.",
)
@click.option(
    "--keep-states", is_flag=True, help="With --shards: keep the states when the check has ended, for kmc states."
)
@click.option(
    "--processes",
    metavar="P",
    type=click.IntRange(1, 64),
    help="With --shards: P processes instead of threads. The search goes on when one of them dies.",
)
@click.option(
    "--spark",
    metavar="MASTER",
    help="Run on Spark: local[2], spark://HOST:7077, yarn, ...; all executors must see --storage or --run-dir.",
)
@click.option(
    "--exchange",
    type=click.Choice(["shuffle", "files"]),
    help="With --spark: how candidates reach their shards. files, the default of local[N], takes less work where all"
    " hosts share a fast disk; shuffle is the default elsewhere.",
)
@conf_option
@storage_options
@fingerprint_option
@set_option
@click.option(
    "--max-depth",
    metavar="N",
    type=click.IntRange(min=1),
    help="Explore levels 1 to N (initial: 1), overriding the model. Their successors, in level N + 1, are checked too,"
    " but neither stored nor counted as distinct.",
)
@click.option(
    "--max-states", metavar="N", type=click.IntRange(min=1), help="Stop at the end of the level that exceeds N states."
)
@resource_options
@click.option("--bounded-ok", is_flag=True, help="Exit 0, not 20, when only a bound ended the check.")
@deadlock_option
@click.option("--continue", "keep_going", is_flag=True, help="Continue after a violation, and count all violations.")
@click.option(
    "--strict", is_flag=True, help="Exit 10 if an action never fired or a reachable property was never reached."
)
@click.option(
    "--expect", is_flag=True, help="Exit 0 exactly when the result is the one that the manifest expects, else 10."
)
@all_options
@start_option
@trace_option
@color_option
@json_option
@click.option("--junit", metavar="FILE", type=click.Path(dir_okay=False), help="Write a JUnit report too.")
@resume_options
@run_dir_options
@click.option(
    "--levels/--no-levels",
    default=None,
    help="Show the sizes of the levels at the end; default: on terminals, where nothing failed.",
)
@click.option("--quiet", is_flag=True, help="No progress; print only the verdict, the trace and the counts.")
@debug_option
@click.pass_obj
def check(words: tuple[str, ...], /, **given: Any) -> int:
    """Explore every state that SPEC can reach with the constants of MODEL, and test its properties in each.

    SPEC is the name of a shipped spec or the folder of your own. MODEL is a name from its manifest or a .cfg file; by
    default it is `smoke`. For a spec without a manifest, all its invariants are checked, with the constants of --set.

    The result goes to stdout, progress to stderr, and the run is saved under .kmc/runs. A violation is shown with a
    shortest trace. The last line is the verdict; it begins with OK, BOUND, VIOLATION or the like.

    A run of the native engine that ends early, by Ctrl-C or by a bound, can be resumed: give --resume DIR instead of
    SPEC, with other bounds and threads if you like.
    """
    wishes = taken(given)
    options = CheckOptions(words=without_secrets(words or ()), **given)
    if wishes.is_given:
        return _check_all(options, wishes)
    options = completed(_with_meant_spec(options))
    refuse_unwritable(options.junit)
    if options.junit is not None:
        write_unfinished(options.junit, junit_begun(options.spec or options.resume or "", options.model))
    with held_run(options) as run:
        with terminated_as_interrupted():
            try:
                done = _told(run, _run(run))
            except (Exception, KeyboardInterrupt) as error:
                run.discard_if_empty()
                noted = error if isinstance(error, KeyboardInterrupt) else run.noted(error)
                _report_failure(run, noted)
                if noted is not error:
                    raise noted from error
                raise
        return _deliver(run, done)


def _with_meant_spec(options: CheckOptions) -> CheckOptions:
    """The options with the spec that is meant, where it is that of a trace, or the only one in a folder; it is said."""
    if options.start is not None and not options.spec and options.resume is None:
        spec, model = spec_of_start(options.start, options.run_dir, quiet=options.quiet)
        return replace(options, spec=spec, model=model)
    only = only_spec_in(options.spec) if options.spec else None
    if only is None:
        return options
    if not options.quiet:
        show([f"{options.spec} has one spec: {shown_path(only)} is checked."], stderr())
    return replace(options, spec=only)


def _check_all(options: CheckOptions, wishes: AllOptions) -> int:
    refuse_unwritable(options.junit)
    with terminated_as_interrupted():
        try:
            chosen = chosen_models(options, wishes)
        except (Exception, KeyboardInterrupt) as error:
            _report_failure(HeldRun(options), error)
            raise
        return check_all(options, wishes, chosen)


@dataclass(frozen=True, slots=True)
class _Done:
    """A check with a result: its outcome, its counterexample, and the files to write."""

    outcome: Outcome
    trace: Counterexample | None
    files: ResultFiles


def _run(run: HeldRun) -> _Done:
    start, words = settled_start(run.options.start, run.options.words, run.options.run_dir)
    run.options = replace(run.options, start=start, words=words)
    if run.options.resume is not None:
        options, run.directory = open_resumed(run.options)
        run.options = replace(options, words=whole_command(options), keep_states=_keeps(options))
    if run.options.engine == ENGINE_PYTHON:
        return _run_model(run)
    # Imported here, because the modules of the native engine take a fifth of a second.
    from kmc.engine.loops.background_compile import compiled_in_background
    from kmc.engine.loops.compiled_loops import work_loop
    from kmc.engine.native.specialization import Specialization

    # The options of most models; for others it starts again.
    wide = run.options.fingerprint_bits == "128"
    with compiled_in_background(work_loop(Specialization(wide)), work_loop(Specialization(wide, ranked=True))):
        return _run_model(run)


def _run_model(run: HeldRun) -> _Done:
    options = run.options
    try:
        chosen = choose_model(options.spec, options.model, options.sets, options.deadlock, options.max_depth)
    except (SpecError, ModelError) as error:
        hint = folder_hint(options.spec)
        if hint is None:
            raise
        raise error.noting(hint) from error
    refuse_changes(options, chosen)
    model = chosen.model
    problem = accepted_problem(model)
    start, warnings = start_state(options.start, model)
    folder = None
    if run.directory is not None:
        folder = RunFolder(run.directory.path)
    elif not options.no_run_dir:
        folder = new_run_folder(Path(options.run_dir), model.spec.name, model.name, datetime.now())
        run.directory = create_directory(folder.path, options) if options.engine != ENGINE_PYTHON else None
    result = _search(run, chosen, problem, start)
    run.discard_unsearched(result)
    warnings = (*model_warnings(model, shown_path), *fingerprint_warnings(result, options.words), *warnings)
    result = replace(result, warnings=(*result.warnings, *warnings))
    trace = counterexample(model, result.violation, start, problem) if result.violation else None
    trace_path = folder.path / ITF_NAME if folder is not None and trace is not None else None
    if trace is not None and trace_path is not None:
        trace.commands = (command_again(options.words), explore_command(options.spec, trace_path))
    outcome = judge(options, chosen, result, folder.path if folder else None, trace_path)
    need = _memory_need(options, chosen, result, has_files=run.directory is not None)
    resume = resume_command(options, run.directory.path, result, need) if run.directory is not None else None
    outcome = replace(outcome, resume=resume, memory_need=need)
    return _Done(outcome, trace, ResultFiles(folder))


def _memory_need(options: CheckOptions, chosen: ChosenModel, result: Result, *, has_files: bool) -> MemoryNeed | None:
    scale = scale_of(options, chosen)
    has_graph = bool(chosen.model.temporal)
    return memory_need(
        result,
        options.memory,
        scale.expected,
        scale.max_depth,
        threads=options.threads or usable_cpus(),
        has_files=has_files,
        has_graph=has_graph,
    )


def _search(run: HeldRun, chosen: ChosenModel, problem: TemporalProblem | None, start: Any) -> Result:
    options, model = run.options, chosen.model
    limits, keep_going = run.limits_left, options.keep_going
    with StatusLine(stderr(), quiet=options.quiet) as line:
        progress = Progress(line, scale=scale_of(options, chosen))
        if options.engine == ENGINE_PYTHON:
            from kmc.compiler.view_order import fingerprint_order

            if limits.memory_bytes is not None:
                refuse_low_limit(limits.memory_bytes, 0)
            return Search(
                model,
                limits,
                keep_going=keep_going,
                start=start,
                progress=progress,
                view_order=fingerprint_order,
                problem=problem,
            ).run()
        # Imported here, because numpy and the compiler take a third of a second.
        from kmc.engine.check_model import check_native
        from kmc.engine.layout.search_outcome import Settings

        try:
            with compiling_shown(line), chosen_search(options, line.note) as search_of:
                return check_native(
                    model,
                    limits,
                    threads=options.threads or usable_cpus(),
                    keep_going=keep_going,
                    start=start,
                    progress=progress,
                    settings=Settings(save_seconds=options.save_every, keep_states=options.keep_states),
                    fingerprint_bits=int(options.fingerprint_bits),
                    directory=run.directory,
                    search_of=search_of,
                    problem=problem,
                )
        except SpecError as error:
            # All other mistakes of a spec were found when it was loaded.
            return result_instead(model, start, error)


def _told(run: HeldRun, done: _Done) -> _Done:
    """Save the result, then tell the counterexample and save that too. A mistake in telling changes no result."""
    done.files.write_known(done.outcome, done.trace)
    if done.trace is None:
        return done
    told = done.trace.told(run.options.trace_mode, run.options.width)
    if told.failure is not None and "--debug" in run.options.words:
        show([told.failure.text], stderr())
    outcome = replace(done.outcome, told=told.with_report(done.files.how_to_report(run.options.words)))
    done.files.write_told(outcome)
    return replace(done, outcome=outcome)


def _deliver(run: HeldRun, done: _Done) -> int:
    """Report and show the result; the exit status. Only then is there nothing to resume, whenever the process dies."""
    options = run.options
    kept = () if run.command is None else (f"the run is kept; this gives its result again: {run.command}",)
    done.files.publish(done.outcome, run.directory.copy if run.directory is not None else None)
    faults = [fault.noting(*kept) for fault in done.files.faults]
    saved = (
        () if faults or done.files.folder is None else (f"the result is saved: {shown_path(done.files.folder.path)}",)
    )
    is_written = not faults
    durable_folder.reach("before show result")
    try:
        _show(options, done)
    except SystemFault as fault:
        faults.append(fault.noting(*saved))
    durable_folder.reach("after show result")
    if is_written and run.directory is not None and run.directory.ended:
        try:
            run.directory.keep() if options.keep_states else run.directory.discard()
        except SystemFault as fault:
            faults.append(fault.noting(*saved))
    if faults:
        raise faults[0]
    return done.outcome.status


def _show(options: CheckOptions, done: _Done) -> None:
    if done.outcome.resume is not None and (options.as_json or options.quiet):
        show([f"Resume: {done.outcome.resume}"], stderr())
    if options.as_json:
        say(json.dumps(done.outcome.as_json, indent=2))
        return
    show(verdict_lines(done.outcome))
    if done.outcome.told is not None:
        show(done.outcome.told.lines)
    show(summary_lines(done.outcome))


def _report_failure(run: HeldRun, error: Exception | KeyboardInterrupt) -> None:
    """The machine-readable outputs of a check that has no result."""
    options = run.options
    resume = run.command if isinstance(error, KeyboardInterrupt) else None
    if resume is not None:
        show([f"Resume: {resume}"], stderr())
    found = failure_json(error, options.spec, options.model, options.engine, resume)
    try:
        if options.junit is not None:
            write_junit(options.junit, junit_failure(options.spec, options.model, error))
        if options.as_json:
            say(json.dumps(found, indent=2))
    except SystemFault as fault:
        # The error that ended the check follows, and decides the exit status.
        show(error_lines(fault), stderr())


def _keeps(options: CheckOptions) -> bool:
    """Whether a resumed run keeps its states, which only a search in shards has in files."""
    return options.keep_states and options.shards is not None
