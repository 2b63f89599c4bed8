"""The check of a TLA+ module: assumptions, search, counterexample, postcondition; its outcome is that of any check.

Invariant: every counterexample has been replayed by the module's own formulas before it is returned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from kmc.checking.model_choice import ChosenModel
from kmc.checking.modules.checked_module import CheckedModule, checked_module
from kmc.checking.modules.figures import with_figures
from kmc.checking.modules.handover import HandedOverSearch
from kmc.checking.modules.module_counterexample import module_counterexample
from kmc.checking.modules.module_search import ENGINE, ModuleSearch
from kmc.checking.modules.module_trace_file import alias_warnings
from kmc.checking.outcome import Outcome, judge, with_differences
from kmc.checking.request import Acceptance, CheckRequest, Engine, OptionNaming, command_line_name
from kmc.checking.search_place import InMemory, SearchPlace
from kmc.checking.surroundings import Surroundings
from kmc.errors import AssumptionError, EvaluationError, KmcError, ModelError
from kmc.memory_limit import refuse_low_limit
from kmc.model_files.model_file import Assignment
from kmc.model_files.value_text import parse_set
from kmc.process import cpu_seconds, memory_bytes, peak_memory_bytes, usable_cpus
from kmc.result import Counters, Limits, Result, Verdict
from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram, State
from kmc.tla.values.kinds import TRUE


@dataclass(frozen=True, slots=True)
class ModuleRequest:
    """The check of a module: a path, its `.cfg` file, values of constants, limits, and which results are accepted.

    `deadlock` overrides the `.cfg` file. `sets` are texts `NAME=VALUE`. Loading counts against the time of `limits`.
    `threads`, `fingerprint_bits` and the `place` of its states are for the native engine. With `hands_over`, it takes
    over from the interpreter once a model turns out to be large.
    `start` is the first state for the interpreter, None for the initial states of the module, and `start_name` is how a
    person named it.
    """

    module: Path
    configuration: Path | None = None
    sets: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    deadlock: bool | None = None
    keep_going: bool = False
    acceptance: Acceptance = field(default_factory=Acceptance)
    naming: OptionNaming = command_line_name
    began: float = field(default_factory=time.monotonic)
    engine: Engine = Engine.PYTHON
    hands_over: bool = False
    threads: int | None = None
    fingerprint_bits: Literal[64, 128] = 64
    place: SearchPlace = field(default_factory=InMemory)
    start: State | None = None
    start_name: str | None = None


def load_module(request: ModuleRequest, given: tuple[Assignment, ...] = ()) -> CheckedModule:
    """Return the module of a request, ready to be searched; KmcError for what is wrong or not supported.

    `given` are values of constants beside those of the request.
    """
    constants = (*given, *map(parse_set, request.sets))
    resolved = load_model(request.module, request.configuration, constants)
    return checked_module(ModuleProgram(resolved), request.deadlock)


def load_runnable_module(request: ModuleRequest) -> CheckedModule:
    """Return the module of a request for a walk through its states.

    Raises as `load_module`, AssumptionError KMC351 for a false assumption, ModelError KMC357 without a behaviour.
    """
    module = load_module(request)
    refuse_false_assumption(module)
    require_behaviour(module)
    return module


def check_module(request: ModuleRequest, progress: Callable[[Counters], None] | None = None) -> Outcome:
    """Load a module, explore its states, test its properties, and judge the result.

    `progress` is called about once a second with the counters. Raises KmcError for mistakes in the module or the `.cfg`
    file; a violation, a bound and an interrupt are outcomes.
    """
    return check_loaded_module(request, load_module(request), Surroundings(progress=progress))


def check_loaded_module(
    request: ModuleRequest,
    module: CheckedModule,
    around: Surroundings,
    warnings: tuple[str, ...] = (),
) -> Outcome:
    """Check a module that was loaded for this request, as `check_module` does; `warnings` are said with its own.

    A search of the native engine saves itself in the directory of `around`, and goes on with one that is there.
    """
    refuse_false_assumption(module)
    behaviour = module.program.model.behaviour
    if module.program.model.variables:
        require_behaviour(module)
    result = _without_behaviour(module) if behaviour is None else search_module(request, module, around)
    said = (
        *warnings,
        *module.program.model.warnings,
        *module.program.warnings,
        *_of_collisions(request, result),
    )
    result = replace(result, warnings=(*result.warnings, *said))
    example = module_counterexample(module, result.violation, request.start) if result.violation is not None else None
    if example is not None:
        result = replace(result, warnings=(*result.warnings, *alias_warnings(module, example.file)))
    asked = CheckRequest(
        ChosenModel(module.model, None, text=configuration_text(request, module)),
        request.limits,
        request.engine,
        request.threads,
        request.fingerprint_bits,
        request.place,
        start_name=request.start_name,
        keep_going=request.keep_going,
        acceptance=request.acceptance,
        naming=request.naming,
        began=request.began,
    )
    outcome = replace(judge(asked, result), example=example)
    if result.violation is None and result.verdict is not Verdict.INTERRUPTED:
        outcome = with_differences(outcome, tuple(_false_postconditions(module, result)))
    return outcome


def require_behaviour(module: CheckedModule) -> None:
    """Raise ModelError KMC357 for a module that has no behaviour to run, only assumptions."""
    if module.program.model.behaviour is None:
        raise ModelError(
            "KMC357",
            f"the module {module.model.spec.name} has no behaviour",
            help="name it in the .cfg file: SPECIFICATION Spec, or INIT Init and NEXT Next",
        )


def refuse_false_assumption(module: CheckedModule) -> None:
    """Raise AssumptionError (exit status 10) if an ASSUME of the module is FALSE, KMC351, or cannot be evaluated."""
    try:
        failed = module.program.failed_assumption()
    except EvaluationError as error:
        notes = (*error.notes, "while evaluating an assumption")
        raise AssumptionError(error.code, error.message, error.span, error.help, notes) from None
    if failed is not None:
        name = f"the assumption {failed.name}" if failed.name is not None else "an assumption"
        message = f"{name} is FALSE with these constants"
        raise AssumptionError("KMC351", message, failed.place, help="give other values to the constants")


def search_module(request: ModuleRequest, module: CheckedModule, around: Surroundings) -> Result:
    """Search a module that was loaded for this request, on its engine, without judging the result."""
    limits = request.limits
    if limits.memory_bytes is not None:
        refuse_low_limit(limits.memory_bytes, 0)
    if limits.seconds is not None:
        limits = replace(limits, seconds=max(0.0, limits.seconds - (time.monotonic() - request.began)))
    if request.engine is Engine.NATIVE:
        return _searched_natively(request, module, around, limits)
    going_on = request.keep_going
    if request.hands_over and request.start is None:
        native = partial(_searched_natively, request, module, around)
        return HandedOverSearch(module, limits, native, keep_going=going_on, around=around).run()
    return ModuleSearch(module, limits, keep_going=going_on, start=request.start, progress=around.progress).run()


def _searched_natively(
    request: ModuleRequest,
    module: CheckedModule,
    around: Surroundings,
    limits: Limits,
    preparing: Limits | None = None,
) -> Result:
    # Imported here: the interpreter needs neither numpy nor the compiler, whose imports take a third of a second.
    from kmc.checking.modules.native_search import NativeModuleSearch, NativeOptions

    # Each in a part of its own: a line of the `.cfg` file may look like a constant of the command line.
    given = (_cfg_text(module), *request.sets)
    options = NativeOptions(request.threads or usable_cpus(), request.fingerprint_bits, given, request.place)
    search = NativeModuleSearch(module, limits, options, request.keep_going, around)
    if preparing is not None:
        search.preparing = preparing
    return search.run()


def _of_collisions(request: ModuleRequest, result: Result) -> tuple[str, ...]:
    if not result.fingerprint_bits:
        return ()
    from kmc.checking.collision_odds import collision_warnings

    return collision_warnings(result, f"use {request.naming('fingerprint-bits', 128)}")


def _without_behaviour(module: CheckedModule) -> Result:
    """Return the result for a module that has assumptions and no behaviour."""
    return Result(
        verdict=Verdict.OK,
        counters=Counters(0, 0, 0, 0, 0.0, memory_bytes()),
        initial=0,
        levels=(),
        generated_by_action={},
        properties=(),
        violation=None,
        bound=None,
        unreached=(),
        never_fired=(),
        collision_bound=0.0,
        cpu_seconds=cpu_seconds(),
        peak_memory_bytes=peak_memory_bytes(),
        engine=ENGINE,
    )


def _false_postconditions(module: CheckedModule, result: Result) -> Iterator[str]:
    """Yield that a POSTCONDITION is not TRUE, or cannot be evaluated, after a search that found no violation."""
    for postcondition in module.program.model.postconditions:
        assert postcondition.body is not None
        try:
            if module.program.evaluate(with_figures(postcondition.body, result), None) is not TRUE:
                yield f"the postcondition {postcondition.name} is FALSE"
        except KmcError as error:
            yield f"the postcondition {postcondition.name} cannot be evaluated: {error.message}"


def configuration_text(request: ModuleRequest, module: CheckedModule) -> str:
    r"""Return the text of the `.cfg` file of a module, with the constants of `--set` as comments."""
    return "".join(f"\\* --set {given}\n" for given in request.sets) + _cfg_text(module)


def _cfg_text(module: CheckedModule) -> str:
    path = module.program.model.configuration
    return Path(path).read_text(encoding="utf-8") if path is not None else ""
