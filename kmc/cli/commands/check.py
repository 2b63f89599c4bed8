"""`kmc check`: explore all reachable states of a model and test its properties."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmc import failpoints
from kmc.checking.check import check as check_request
from kmc.checking.model_choice import choose_model, start_state
from kmc.checking.request import CheckRequest, Engine
from kmc.checking.result_json import failure_json
from kmc.checking.result_text import verdict_lines
from kmc.checking.selection import folder_hint, only_spec_in
from kmc.checking.surroundings import Surroundings
from kmc.cli.commands.check_all import AllOptions, all_options, check_all, chosen_models, take_all_options
from kmc.cli.modules.module_argument import is_module, saved_sets, with_engine_of_module
from kmc.cli.options.check_options import CheckOptions
from kmc.cli.options.completion import MODEL_TYPE, SPEC_TYPE
from kmc.cli.options.fingerprint_width import fingerprint_option
from kmc.cli.options.search_choice import search_place, with_implied_options
from kmc.cli.options.shared_options import (
    abstraction_options,
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
from kmc.cli.options.spark_settings import conf_option, without_secrets
from kmc.cli.options.spec_argument import spec_or_resume
from kmc.cli.options.storage_options import storage_options
from kmc.cli.reports.check_report import CheckReport
from kmc.cli.running.program_start import program_start
from kmc.cli.running.result_files import ResultFiles
from kmc.cli.running.start_of_trace import spec_of_start
from kmc.cli.saved.junit_file import refuse_unwritable, write_junit, write_unfinished
from kmc.cli.saved.resuming import HeldRun, create_directory, held_run, open_resumed, resume_command, whole_command
from kmc.cli.saved.saved_runs import ITF_NAME, RunFolder, new_run_folder
from kmc.cli.saved.trace_place import settle_start
from kmc.cli.text.ci_annotations import GITHUB, failure_annotation, result_annotations
from kmc.cli.text.conclusion import command_again, explore_command
from kmc.cli.text.console import say, show, stderr
from kmc.cli.text.junit import junit_begun, junit_failure
from kmc.cli.text.progress import Progress, StatusLine, compiling_shown
from kmc.cli.text.render_result import summary_lines
from kmc.cli.text.render_story import styled, text_width
from kmc.cli.text.search_scale import scale_of
from kmc.ending_signals import terminated_as_interrupted
from kmc.error_text import error_lines, shown_path
from kmc.errors import ModelError, SpecError, SystemFault
from kmc.process import uncollected
from kmc.shards.level.sharding import SHARDS_MAX

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import RunDirectory

_EPILOG = """\b
Examples:
  kmc check kraft                              the model `smoke`
  kmc check kraft restarts --expect            0 if the manifest's result comes out, here a violation
  kmc check die_hard --all --junit report.xml  every model, finding and mutant, as the manifest expects it
  kmc check ./my_spec --strict --json | jq .distinct
  kmc check Lease.tla Lease.cfg                a TLA+ module, as TLC checks it

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
@click.argument("spec", type=SPEC_TYPE, required=False, callback=spec_or_resume)
@click.argument("model", type=MODEL_TYPE, required=False)
@click.option(
    "--engine",
    type=click.Choice(["native", "python"]),
    default="native",
    show_default=True,
    help="native: compiled kernels, known states by fingerprint. python: the interpreter, some hundred times slower;"
    " it begins the check of a TLA+ module, and hands a large model over.",
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(1, 64), help="Threads of the native engine; default: all cores."
)
@click.option(
    "--shards",
    metavar="N",
    type=click.IntRange(1, SHARDS_MAX),
    help="Keep all states in files of the run, in up to N shards: for more states than memory holds."
    " With --spark: as many as the search needs.",
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
    help="With --spark: how candidates reach their shards. files, the default of local[N], costs less where all"
    " hosts share a fast disk; shuffle is the default elsewhere.",
)
@click.option(
    "--thin-rows",
    metavar="N",
    type=click.IntRange(min=0),
    help="With --spark: a level of fewer rows is made in the driver (default: 300,000). 0 makes a job of every level.",
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
@abstraction_options
@click.option("--continue", "keep_going", is_flag=True, help="Continue after a violation, and count all violations.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit 10 if an action never fired, a reachable property was never reached, or a property asks for nothing.",
)
@click.option(
    "--expect", is_flag=True, help="Exit 0 exactly when the result is the one that the manifest expects, else 10."
)
@all_options
@start_option
@trace_option
@color_option
@json_option
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", GITHUB]),
    default="text",
    show_default=True,
    help="github: annotations of GitHub Actions on stdout too, for failures and warnings at their lines.",
)
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
@click.pass_context
def check(context: click.Context, /, **given: Any) -> int:
    """Explore every state that SPEC can reach with the constants of MODEL, and test its properties in each.

    SPEC is the name of a shipped spec or the folder of your own. MODEL is a name from its manifest or a .cfg file; by
    default it is `smoke`. For a spec without a manifest, all its properties are checked, with the constants of --set.
    SPEC may be a TLA+ module too: kmc check X.tla checks it with the model in X.cfg, as TLC does (docs/tla.md).

    The result goes to stdout, progress to stderr, and the run is saved under .kmc/runs. A violation is shown with a
    shortest trace. The last line is the verdict; it begins with OK, BOUND, VIOLATION or the like.

    A run of the native engine that ends early, by Ctrl-C or by a bound, can be resumed: give --resume DIR instead of
    SPEC, with other bounds and threads if you like.
    """
    wishes = take_all_options(given)
    options = CheckOptions(words=without_secrets(context.obj or ()), **given)
    if options.as_json and options.output == GITHUB:
        raise click.UsageError("--json prints one object, and no annotations: leave out --format github")
    if not is_module(options.spec):
        if wishes.is_given:
            return _check_all(options, wishes)
        options = _with_meant_spec(options)
    if is_module(options.spec):
        options = with_engine_of_module(context, options)
    options = with_implied_options(options)
    refuse_unwritable(options.junit)
    if options.junit is not None:
        write_unfinished(options.junit, junit_begun(options.spec or options.resume or "", options.model))
    with held_run(options) as run:
        with terminated_as_interrupted():
            try:
                report, files = _run(run)
                report = _explain(run, report, files)
            except (Exception, KeyboardInterrupt) as error:
                run.discard_if_empty()
                noted = error if isinstance(error, KeyboardInterrupt) else run.with_way_on(error)
                _report_failure(run, noted)
                if noted is not error:
                    raise noted from error
                raise
        return _deliver(run, report, files)


def _with_meant_spec(options: CheckOptions) -> CheckOptions:
    """The options with the spec that is meant, where it is that of a trace, or the only one in a folder; it is said."""
    if options.start is not None and not options.spec and options.resume is None:
        spec, model = spec_of_start(options.start, options.run_dir, quiet=options.quiet)
        sets = (*saved_sets(model), *options.sets) if is_module(spec) else options.sets
        return replace(options, spec=spec, model=model, sets=sets)
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


def _run(run: HeldRun) -> tuple[CheckReport, ResultFiles]:
    start, words = settle_start(run.options.start, run.options.words, run.options.run_dir)
    run.options = replace(run.options, start=start, words=words)
    if run.options.resume is not None:
        options, run.directory = open_resumed(run.options)
        run.options = replace(options, words=whole_command(options), keep_states=_keeps(options))
    if is_module(run.options.spec):
        # Imported here, because a check of a spec in Python does not need the layer of TLA+.
        from kmc.cli.modules.checking import check_module_as_asked

        return check_module_as_asked(run)
    if run.options.engine == Engine.PYTHON.value:
        return _run_model(run)
    with uncollected():
        # Imported here, because the modules of the native engine take a fifth of a second.
        from kmc.engine.loops.background_compile import compiled_in_background
        from kmc.engine.loops.compiled_loops import work_loop
        from kmc.engine.native.specialization import Specialization

    # The options of most models; for others it starts again.
    wide = run.options.fingerprint_bits == "128"
    with compiled_in_background(work_loop(Specialization(wide)), work_loop(Specialization(wide, ranked=True))):
        return _run_model(run)


def _run_model(run: HeldRun) -> tuple[CheckReport, ResultFiles]:
    options = run.options
    try:
        with uncollected():
            chosen = choose_model(
                options.spec,
                options.model,
                options.sets,
                options.deadlock,
                options.max_depth,
                options.abstraction_choice,
            )
    except (SpecError, ModelError) as error:
        hint = folder_hint(options.spec)
        if hint is None:
            raise
        raise error.noting(hint) from error
    start, warnings = start_state(options.start, chosen.model)
    request = options.request(chosen, search_place(options), start, run.began)
    folder: RunFolder | None = None

    def open_directory() -> RunDirectory | None:
        nonlocal folder
        if run.directory is not None:
            folder = RunFolder(run.directory.path)
        elif not options.no_run_dir:
            folder = new_run_folder(Path(options.run_dir), chosen.model.spec.name, chosen.model.name, datetime.now())
            run.directory = create_directory(folder.path, options) if request.engine is Engine.NATIVE else None
        return run.directory

    with StatusLine(stderr(), quiet=options.quiet, began=program_start()) as line, _compiling_shown(line, request):
        surroundings = Surroundings(
            open_directory,
            options.save_every,
            options.keep_states,
            Progress(line, scale=scale_of(request)),
            line.note,
        )
        outcome = check_request(request, surroundings, warnings)
    run.discard_unsearched(outcome.result)
    trace_path = folder.path / ITF_NAME if folder is not None and outcome.example is not None else None
    if outcome.example is not None and trace_path is not None:
        outcome.example.commands = (command_again(options.words), explore_command(options.spec, trace_path))
    resume = None
    if run.directory is not None:
        resume = resume_command(options, run.directory.path, outcome.result, outcome.memory_need)
    report = CheckReport(options, outcome, folder.path if folder is not None else None, trace_path, resume)
    return report, ResultFiles(folder)


def _compiling_shown(line: StatusLine, request: CheckRequest) -> AbstractContextManager[None]:
    return nullcontext() if request.engine is Engine.PYTHON else compiling_shown(line)


def _explain(run: HeldRun, report: CheckReport, files: ResultFiles) -> CheckReport:
    """Save the result, then make the story of the counterexample and save that too. A mistake in the story changes no
    result.
    """
    files.write_facts(report)
    example = report.outcome.example
    if example is None:
        return report
    explanation = example.explained(run.options.trace_mode, text_width(run.options.width))
    if explanation.failure is not None and "--debug" in run.options.words:
        show([explanation.failure.text], stderr())
    outcome = replace(report.outcome, explained=explanation.with_report(files.how_to_report(run.options.words)))
    report = replace(report, outcome=outcome)
    files.write_explanation(report)
    return report


def _deliver(run: HeldRun, report: CheckReport, files: ResultFiles) -> int:
    """Report and show the result; return the exit status. Only then is there nothing to resume, whenever the process
    dies.
    """
    options = run.options
    kept = () if run.command is None else (f"the run is kept; this gives its result again: {run.command}",)
    files.publish(report, run.directory.copy if run.directory is not None else None)
    faults = [fault.noting(*kept) for fault in files.faults]
    saved = () if faults or files.folder is None else (f"the result is saved: {shown_path(files.folder.path)}",)
    is_written = not faults
    failpoints.reach("before show result")
    try:
        _show(report)
    except SystemFault as fault:
        faults.append(fault.noting(*saved))
    failpoints.reach("after show result")
    if is_written and run.directory is not None and run.directory.ended:
        try:
            run.directory.keep() if options.keep_states else run.directory.discard()
        except SystemFault as fault:
            faults.append(fault.noting(*saved))
    if faults:
        raise faults[0]
    return report.outcome.status


def _show(report: CheckReport) -> None:
    options, outcome = report.options, report.outcome
    if report.resume is not None and (options.as_json or options.quiet):
        show([f"Resume: {report.resume}"], stderr())
    if options.as_json:
        say(json.dumps(report.as_json, indent=2))
        return
    show(styled(verdict_lines(outcome)))
    if outcome.explained is not None:
        show(styled(outcome.explained.lines))
    if options.output == GITHUB:
        show(result_annotations(report))
    show(summary_lines(report))


def _report_failure(run: HeldRun, error: Exception | KeyboardInterrupt) -> None:
    """The machine-readable outputs of a check that has no result."""
    options = run.options
    resume = run.command if isinstance(error, KeyboardInterrupt) else None
    if resume is not None:
        show([f"Resume: {resume}"], stderr())
    failure = failure_json(error, options.spec, options.model, options.engine, resume)
    try:
        if options.junit is not None:
            write_junit(options.junit, junit_failure(options.spec, options.model, error))
        if options.output == GITHUB:
            say(failure_annotation(error, options.spec, options.model))
        if options.as_json:
            say(json.dumps(failure, indent=2))
    except SystemFault as fault:
        # The error that ended the check follows, and decides the exit status.
        show(styled(error_lines(fault)), stderr())


def _keeps(options: CheckOptions) -> bool:
    """Whether a resumed run keeps its states, which only a search in shards has in files."""
    return options.keep_states and options.shards is not None
