"""`kmc.check`: a check as the command line makes it, without its files.

Invariant: every counterexample has been replayed by the interpreter before it is returned. Searches of the native
engine take turns within a process: each uses all threads, and what compiles their loops is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from threading import RLock
from typing import Any

from kmc.api.arguments import CheckArguments, limits_of, model_as_asked, start_of
from kmc.api.check_result import CheckResult
from kmc.api.error_notes import explained
from kmc.api.loaded_spec import LoadedSpec, as_loaded
from kmc.cli.counterexample import counterexample
from kmc.cli.fingerprint_width import collision_warnings
from kmc.cli.model_choice import ChosenModel
from kmc.cli.outcome import CheckOptions, judge
from kmc.cli.refusal import result_instead
from kmc.cli.render_errors import shown_path
from kmc.compiler.checks.spec_warnings import model_warnings
from kmc.errors import SpecError
from kmc.liveness.problem import TemporalProblem
from kmc.memory_limit import refuse_low_limit
from kmc.process import usable_cpus
from kmc.reference.accepted_problem import accepted_problem
from kmc.reference.search import ENGINE as ENGINE_PYTHON
from kmc.reference.search import Search
from kmc.result import Counters, Result, Verdict
from kmc.spec.model import Model

_NATIVE = RLock()


@explained
def check(
    spec: LoadedSpec | str | Path,
    model: str | Path | None = None,
    *,
    engine: str = "native",
    threads: int | None = None,
    max_depth: int | None = None,
    max_states: int | None = None,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    properties: Sequence[str] | None = None,
    deadlock: bool | None = None,
    start: Any = None,
    keep_going: bool = False,
    fingerprint_bits: int = 64,
    progress: Callable[[Counters], None] | None = None,
) -> CheckResult:
    """Explore all states that a model can reach, and test its properties in each.

    `properties` takes the place of the model's invariants and properties. `start` is a state, or `FILE#N` of a saved
    trace. `timeout` is in seconds or "10m", `memory` in bytes or "2G". `progress` is called about once a second with
    the counters. Nothing is saved. Raises KmcError for what is wrong with the arguments, the spec or the model, and
    KeyboardInterrupt after Ctrl-C; a violation is part of the result.
    """
    limits = limits_of(max_depth, max_states, timeout, memory)
    arguments = CheckArguments(engine, threads, fingerprint_bits, limits, keep_going, progress)
    loaded = as_loaded(spec, model)
    chosen = loaded.chosen
    asked = model_as_asked(chosen.model, properties, deadlock, max_depth)
    options = _options(loaded, arguments, deadlock, start)
    return _checked(loaded, replace(chosen, model=asked), arguments, options, start)


def _checked(
    loaded: LoadedSpec, chosen: ChosenModel, arguments: CheckArguments, options: CheckOptions, start: Any
) -> CheckResult:
    model = chosen.model
    problem = accepted_problem(model)
    first, warnings = start_of(model, start)
    result = _searched(model, arguments, problem, first)
    if result.verdict is Verdict.INTERRUPTED:
        raise KeyboardInterrupt
    odds = collision_warnings(result, "kmc.check(..., fingerprint_bits=128)")
    result = replace(result, warnings=(*result.warnings, *model_warnings(model, shown_path), *odds, *warnings))
    example = counterexample(model, result.violation, first, problem) if result.violation is not None else None
    return CheckResult(loaded, judge(options, chosen, result, None, None), example)


def _searched(model: Model, arguments: CheckArguments, problem: TemporalProblem | None, start: Any) -> Result:
    limits, keep_going, progress = arguments.limits, arguments.keep_going, arguments.progress
    if arguments.engine == ENGINE_PYTHON:
        # Imported here, because the compiler takes a third of a second.
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
    from kmc.engine.check_model import check_native

    with _NATIVE:
        try:
            return check_native(
                model,
                limits,
                threads=arguments.threads or usable_cpus(),
                keep_going=keep_going,
                start=start,
                progress=progress,
                fingerprint_bits=arguments.fingerprint_bits,
                problem=problem,
            )
        except SpecError as error:
            return _instead(model, start, error)


def _instead(model: Model, start: Any, refused: SpecError) -> Result:
    """As `result_instead`, with the remedy in the names of the API."""
    try:
        return result_instead(model, start, refused)
    except SpecError as error:
        notes = tuple(note.replace("--engine python", 'engine="python"') for note in error.notes)
        raise SpecError(error.code, error.message, error.span, error.help, notes) from None


def _options(loaded: LoadedSpec, arguments: CheckArguments, deadlock: bool | None, start: Any) -> CheckOptions:
    """The command line that asks for the same check, for what judges and words its result."""
    limits = arguments.limits
    given: dict[str, Any] = {
        "spec": loaded.name,
        "model": loaded.model.name,
        "engine": arguments.engine,
        "fingerprint_bits": str(arguments.fingerprint_bits),
        "sets": loaded.given,
        "max_depth": limits.depth,
        "max_states": limits.states,
        "timeout": limits.seconds,
        "memory": limits.memory_bytes,
        "deadlock": deadlock,
        "keep_going": arguments.keep_going,
        "start": None if start is None else str(start) if isinstance(start, str | Path) else "a state",
        "bounded_ok": False,
        "strict": False,
        "quiet": True,
        "spark_settings": (),
        "words": (),
    }
    # The others are about files, shards and terminals.
    unused: dict[str, Any] = {option.name: None for option in fields(CheckOptions)}
    return CheckOptions(**{**unused, **given})
