"""`kmc check X.tla`: the check of a module, with the files and texts of every check."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kmc.checking.modules.check_module import ModuleRequest, check_loaded_module, load_module
from kmc.checking.request import Acceptance, Engine
from kmc.checking.surroundings import Surroundings
from kmc.cli.modules.module_argument import configuration_of
from kmc.cli.modules.traced import start_in_module
from kmc.cli.options.search_choice import search_place
from kmc.cli.reports.check_report import CheckReport
from kmc.cli.running.program_start import program_start
from kmc.cli.running.result_files import ResultFiles
from kmc.cli.saved.resuming import HeldRun, create_directory, resume_command
from kmc.cli.saved.saved_runs import ITF_NAME, RunFolder, new_run_folder
from kmc.cli.text.conclusion import command_again
from kmc.cli.text.console import stderr
from kmc.cli.text.progress import Progress, StatusLine, compiling_shown
from kmc.cli.text.progress_text import Scale
from kmc.process import available_bytes, memory_bytes

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import RunDirectory


def check_module_as_asked(run: HeldRun) -> tuple[CheckReport, ResultFiles]:
    """Check the module that the command line names; the run is saved unless `--no-run-dir` is given."""
    options = run.options
    request = ModuleRequest(
        Path(options.spec),
        configuration_of(options.spec, options.model),
        options.sets,
        options.limits,
        options.deadlock,
        options.keep_going,
        Acceptance(options.bounded_ok, options.strict),
        began=run.began,
        engine=Engine(options.engine),
        threads=options.threads,
        fingerprint_bits=128 if options.fingerprint_bits == "128" else 64,
        place=search_place(options),
        hands_over=options.hands_over,
    )
    module = load_module(request)
    start, warnings = start_in_module(options.start, module)
    request = replace(request, start=start, start_name=options.start)
    model = module.model
    folder: RunFolder | None = None
    if run.directory is not None:
        folder = RunFolder(run.directory.path)
    elif not options.no_run_dir:
        folder = new_run_folder(Path(options.run_dir), model.spec.name, model.name, datetime.now())
        if request.engine is Engine.NATIVE:
            run.directory = create_directory(folder.path, options)
    scale = Scale(None, options.memory or memory_bytes() + available_bytes(), options.max_depth, 0)

    def open_directory() -> RunDirectory | None:
        if options.hands_over and folder is not None and run.directory is None:
            run.options = replace(options, engine=Engine.NATIVE.value)
            run.directory = create_directory(folder.path, run.options)
        return run.directory

    may_compile = request.engine is Engine.NATIVE or request.hands_over
    with StatusLine(stderr(), quiet=options.quiet, began=program_start()) as line:
        around = Surroundings(
            open_directory,
            options.save_every,
            progress=Progress(line, scale=scale),
            note=line.note,
        )
        with compiling_shown(line) if may_compile else nullcontext():
            outcome = check_loaded_module(request, module, around, warnings)
    if outcome.result.engine != Engine.NATIVE.value:
        run.discard_handed_over()
    run.discard_unsearched(outcome.result)
    trace_path = folder.path / ITF_NAME if folder is not None and outcome.example is not None else None
    if outcome.example is not None:
        outcome.example.commands = (command_again(options.words),)
    resume = resume_command(options, run.directory.path, outcome.result) if run.directory is not None else None
    report = CheckReport(options, outcome, folder.path if folder is not None else None, trace_path, resume)
    return report, ResultFiles(folder)
