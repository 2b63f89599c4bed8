"""The check itself, for every face: search, comparison, counterexample.

Invariant: every counterexample has been replayed by the interpreter before it is returned.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kmc.actions.abstraction import image_of
from kmc.checking.collision_odds import collision_warnings
from kmc.checking.counterexample import Counterexample, counterexample
from kmc.checking.memory_need import memory_need
from kmc.checking.outcome import Outcome, judge, refuse_changes
from kmc.checking.refusal import result_instead
from kmc.checking.request import CheckRequest, Engine
from kmc.checking.surroundings import Surroundings
from kmc.compile_log import LOG
from kmc.compiler.checks.spec_warnings import model_warnings
from kmc.error_text import shown_path
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.liveness.problem import TemporalProblem
from kmc.memory_limit import refuse_low_limit
from kmc.reference.refined_beginning import wrong_beginning
from kmc.reference.search import Search
from kmc.reference.states.unabstracted import unabstracted
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Result

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import RunDirectory


def check(request: CheckRequest, surroundings: Surroundings | None = None, warnings: tuple[str, ...] = ()) -> Outcome:
    """Explore the states of the request, test its properties, and judge the result.

    `warnings` of the caller join those of the result. Raises KmcError for mistakes in the request, the spec or the
    model, and SystemFault where memory, a disk or a cluster fails. A violation, a bound and an interrupt are outcomes.
    """
    around, faults_before = surroundings or Surroundings(), LOG.faults
    model = request.model
    refuse_changes(request)
    problem = accepted_problem(model)
    directory = around.open_directory()
    result = _searched(request, around, problem, directory)
    example: Counterexample | None = None
    if result.violation is not None:
        violation, shown = unabstracted(model, result.violation, request.start)
        result = replace(result, violation=violation, warnings=(*result.warnings, *_of_images(shown)))
        example = counterexample(shown, violation, _first_state(request, shown), problem)
    added = (*model_warnings(model, shown_path), *collision_warnings(result, request.wider), *warnings)
    result = replace(result, warnings=(*result.warnings, *added))
    need = memory_need(
        result,
        request.limits.memory_bytes,
        request.expected_states,
        request.max_depth,
        threads=request.threads_used,
        has_files=directory is not None,
        has_graph=bool(model.temporal),
    )
    # Faults of earlier checks in this process are theirs.
    fault = LOG.fault_since(faults_before)
    return replace(
        judge(request, result),
        example=example,
        memory_need=need,
        cache_warning=None if fault is None else fault.text,
    )


def _limits_left(request: CheckRequest) -> Limits:
    """The limits for the rest of the check: loading the spec has used some of the time."""
    limits = request.limits
    if limits.seconds is None:
        return limits
    return replace(limits, seconds=max(0.0, limits.seconds - (time.monotonic() - request.began)))


def _of_images(shown: Model) -> Iterator[str]:
    """Yield that a counterexample shows images of states, if it does."""
    if shown.spec.abstractions:
        names = ", ".join(abstraction.name for abstraction in shown.spec.abstractions)
        yield (
            f"The states of the counterexample are images under {names}. The spec takes the same steps; its states may "
            f"differ from these, and from one round to the next, in what {names} drops."
        )


def _first_state(request: CheckRequest, model: Model) -> State | None:
    """The first state that the request gives, as it is in a model: an image where its steps lead to images."""
    if request.start is None:
        return None
    image: State = image_of(model.spec.abstractions, request.start, model.spec.files)
    return image


def _searched(
    request: CheckRequest, around: Surroundings, problem: TemporalProblem | None, directory: RunDirectory | None
) -> Result:
    """The result of an engine. With abstractions, its violation is one of the images."""
    model, limits = request.model, _limits_left(request)
    start = _first_state(request, model.searched)
    wrong = None if start is not None else wrong_beginning(model.searched, request.engine.value)
    if wrong is not None:
        return wrong
    if request.engine is Engine.PYTHON:
        # Imported here, because the compiler takes a third of a second.
        from kmc.compiler.view_order import fingerprint_order

        if limits.memory_bytes is not None:
            refuse_low_limit(limits.memory_bytes, 0)
        return Search(
            model,
            limits,
            keep_going=request.keep_going,
            start=start,
            progress=around.progress,
            view_order=fingerprint_order,
            problem=problem,
        ).run()
    # Imported here, because numpy and the compiler take a third of a second.
    from kmc.engine.check_model import check_native
    from kmc.engine.layout.search_outcome import Settings

    try:
        with request.place.opened(around.note) as search_of:
            return check_native(
                model,
                limits,
                threads=request.threads_used,
                keep_going=request.keep_going,
                start=start,
                progress=around.progress,
                settings=Settings(save_seconds=around.save_seconds, keep_states=around.keep_states),
                fingerprint_bits=request.fingerprint_bits,
                directory=directory,
                search_of=search_of,
                problem=problem,
                note=around.note,
            )
    except SpecError as error:
        # All other mistakes of a spec were found when it was loaded.
        return result_instead(model, start, error, request.naming("engine", "python"))
