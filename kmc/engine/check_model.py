"""A check on the native engine: compile, search, and report the findings in the words of the spec.

Invariant: the result is the interpreter's, figure by figure; `violation_report` says how a failure becomes one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TypedDict, TypeVar, Unpack

from kmc import failpoints
from kmc.budget import BudgetSpent, within_budget
from kmc.engine.assumed_integers import RANGE, naming_place, nothing_noted, searched_in_range
from kmc.engine.behaviour_graph.recording import Noting
from kmc.engine.check_temporal import TemporalSearch
from kmc.engine.collision_bound import collision_bound
from kmc.engine.compiled_model import CompiledModel, PackedGrowthWatch, compile_model
from kmc.engine.files.run_directory import SPEC_DIGEST, RunDirectory, refuse_changed
from kmc.engine.initial_records import initial_records
from kmc.engine.lassos.patience import patience
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.model_search import ModelSearch, SearchMaker
from kmc.engine.optimised_kernels import optimised_later
from kmc.engine.search.breadth_first import require_memory
from kmc.engine.search_in_memory import SearchInMemory
from kmc.engine.unsearched import unsearched
from kmc.engine.violation_report import ViolationReport
from kmc.errors import CommandLineError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role, kind_of
from kmc.invariants.properties import InvariantPremise
from kmc.lang.assumed_range import AssumedRangeLeft, assumed_range
from kmc.lang.records import State
from kmc.liveness.problem import TemporalProblem
from kmc.process import cpu_seconds, peak_memory_bytes
from kmc.reference.open_premises import with_premises
from kmc.reference.search_end import reported_verdict
from kmc.reference.temporal.lasso_finder import LassosUnfinished
from kmc.reference.temporal.vacuity import vacuous_in
from kmc.reference.temporal.verdicts import (
    Tell,
    TemporalOutcome,
    assumed_fairness,
    bound_of,
    is_refuted,
    lasso_seconds,
    temporal_verdicts,
)
from kmc.result import Bound, Counters, Limits, PropertyVerdict, Result, Verdict, Violation, without_claims
from kmc.runtime.assumptions import has_assumptions

ENGINE = "native"
_TELL_AGAIN_SECONDS = 0.5

_Answer = TypeVar("_Answer")


def search_in_memory(
    compiled: CompiledModel,
    initial: Sequence[PackedState],
    settings: Settings,
    progress: Callable[[Counters], None] | None,
    directory: RunDirectory | None,
    /,
    noting: Noting | None = None,
) -> ModelSearch:
    """Return the search of this process, with its known states in memory. `TemporalSearch.search` makes the search that
    records steps.
    """
    assert noting is None, "a search in memory makes the graph itself"
    require_memory(compiled.kernels, settings, directory, has_graph=False)
    watch, later = PackedGrowthWatch(compiled), optimised_later(compiled)
    return SearchInMemory(compiled.kernels, initial, settings, progress, directory, watch=watch, later=later)


def nothing_before(compiled: CompiledModel, initial: Sequence[PackedState], /) -> None:
    """Do nothing before a search."""


class SearchOptions(TypedDict, total=False):
    """The options of `check_native` that no restart changes, with the defaults of one thread and the known states in
    memory."""

    threads: int
    keep_going: bool
    progress: Callable[[Counters], None] | None
    settings: Settings | None
    fingerprint_bits: int
    search_of: SearchMaker
    problem: TemporalProblem | None
    before_search: Callable[[CompiledModel, Sequence[PackedState]], None]
    preparing: Limits | None


def check_native(
    model: Model,
    limits: Limits,
    *,
    start: State | None = None,
    directory: RunDirectory | None = None,
    note: Callable[[str], None] = nothing_noted,
    **options: Unpack[SearchOptions],
) -> Result:
    """Check `model` with compiled kernels on `threads` threads; see `kmc.reference.search.Search` for the others.

    With a `directory` the run can be resumed until the caller discards it. Where `directory.ended` says that the search
    was not cut short, the caller does so as soon as the result is written, and not before. `before_search` may raise.
    `search_of` makes the search: one in memory, or one with the same answers. The temporal properties of `problem` are
    checked when it has found no other failure. Compiling and the initial states count against `limits`, too.

    `preparing` are the limits on seconds and bytes for compiling and the initial states, instead of the seconds of
    `limits`.

    Integers without declared bounds may have the search start again, which `note` says in a line.

    Raises SpecError for a construct that is not compiled yet, KmcError when there is no initial state, and SystemFault
    when `directory` holds the run of another model.
    """
    search = partial(_searched, model, start=start, directory=directory, options=options)
    return searched_in_range(model, start, directory, limits, note, search)


def _searched(
    model: Model, limits: Limits, *, start: State | None, directory: RunDirectory | None, options: SearchOptions
) -> Result:
    """Check a model once, in the range that is assumed of its integers. Raises AssumedRangeLeft."""
    fingerprint_bits, search_of = options.get("fingerprint_bits", 64), options.get("search_of", search_in_memory)
    keep_going, progress, problem = options.get("keep_going", False), options.get("progress"), options.get("problem")
    entered, model = time.monotonic(), with_premises(model.searched, start)
    prepared = options.get("preparing") or Limits(seconds=limits.seconds)
    try:
        with within_budget(prepared.seconds, prepared.memory_bytes):
            compiled, temporal = _compiled(model, problem, fingerprint_bits, at_once=search_of is search_in_memory)
            began = cpu_seconds()
            records = initial_records(model, compiled) if start is None else [compiled.record(start)]
    except BudgetSpent as spent:
        return unsearched(model, ENGINE, time.monotonic() - entered, fingerprint_bits, spent)
    except AssumedRangeLeft:
        # Its range has room for the initial states that it began with, and for its constants.
        if directory is not None and directory.resumed and RANGE in directory.manifest.digests:
            refuse_changed(directory.path, directory.manifest.digests, {SPEC_DIGEST: ""})
        raise
    options.get("before_search", nothing_before)(compiled, records)
    started = time.monotonic()
    bounds = _bounds(model, limits, started - entered)
    chosen = replace(
        options.get("settings") or Settings(),
        threads=options.get("threads", 1),
        limits=bounds,
        deadlock=model.deadlock,
        keep_going=keep_going,
    )
    if directory is not None:
        _begin(directory, compiled, records, bounds)
    made = _noting(temporal, search_of)(compiled, records, chosen, progress, directory)
    with naming_place(compiled.spec.places), closing(made) as search:
        outcome = search.run()
        failpoints.reach("after search model")
        tell, has_time = _told_of(search, progress), not outcome.interrupted
        if temporal is not None and not keep_going and has_time:
            seconds = lasso_seconds(bounds.seconds, time.monotonic() - started, outcome.stopped)
            outcome, has_time = _as_in_memory(temporal, search, outcome, seconds, tell)
        violation, further = ViolationReport(model, compiled, search, records, start, problem).violation(outcome), None
        if temporal is not None and violation is None and has_time:
            seconds = lasso_seconds(bounds.seconds, time.monotonic() - started, outcome.stopped)
            ask = partial(temporal.outcome, search, records, outcome, start)
            outcome, further = _within(seconds, outcome, tell, ask)
        if directory is not None:
            directory.ended = outcome.stopped is None and not outcome.interrupted
        generated = temporal.generated(outcome) if temporal is not None else _generated(model, outcome)
        counted = _Counted(search.counters(), generated, outcome.cpu_seconds_elsewhere + cpu_seconds() - began)
        result = _result(model, compiled, outcome, counted, violation, further, from_start=start is not None)
    return _with_costs(_with_fairness(result, problem, further), compiled)


def _with_costs(result: Result, compiled: CompiledModel) -> Result:
    return replace(result, compile_seconds=compiled.compile_seconds, compiled_anew=compiled.is_new)


def _with_fairness(result: Result, problem: TemporalProblem | None, temporal: TemporalOutcome | None) -> Result:
    """Return the result with what is assumed of behaviours, if temporal properties were judged."""
    if problem is None or temporal is None:
        return result
    return replace(result, fairness=assumed_fairness(problem), cut_fairness=temporal.cut)


def _compiled(
    model: Model, problem: TemporalProblem | None, fingerprint_bits: int, *, at_once: bool
) -> tuple[CompiledModel, TemporalSearch | None]:
    """The compiled model, and the search for its temporal properties, if it has any."""
    if problem is None:
        return compile_model(model, fingerprint_bits, at_once=at_once), None
    temporal = TemporalSearch(model, problem, fingerprint_bits, at_once=at_once)
    return temporal.compiled, temporal


def _bounds(model: Model, limits: Limits, passed: float) -> Limits:
    """The limits of a search, with the bound of the model, when so many seconds have passed."""
    depths = [depth for depth in (limits.depth, model.max_depth) if depth is not None]
    seconds = None if limits.seconds is None else max(0.0, limits.seconds - passed)
    return replace(limits, depth=min(depths, default=None), seconds=seconds)


def _noting(temporal: TemporalSearch | None, search_of: SearchMaker) -> SearchMaker:
    """Return a maker of searches that also build the behaviour graph if there are temporal properties."""
    if temporal is None:
        return search_of
    if search_of is not search_in_memory:
        return partial(search_of, noting=temporal.noting)
    return temporal.search


def _as_in_memory(
    temporal: TemporalSearch, search: ModelSearch, outcome: SearchOutcome, seconds: float | None, tell: Tell
) -> tuple[SearchOutcome, bool]:
    """The outcome of a search that ends where its steps refute a property; False where finding that out was cut short.

    A search in memory has ended there by itself.
    """
    if search.ends_when_refuted:
        return outcome, True
    outcome, ended = _within(seconds, outcome, tell, partial(temporal.ended, search, outcome))
    return ended or outcome, ended is not None


def _within(
    seconds: float | None, outcome: SearchOutcome, tell: Tell, asked: Callable[[Tell], _Answer]
) -> tuple[SearchOutcome, _Answer | None]:
    """The outcome, and the result of `asked`; None if time or Ctrl-C cuts it short, which the outcome then says."""
    began = time.monotonic()
    shown, current = began, ""

    def poll() -> None:
        nonlocal shown
        now = time.monotonic()
        if seconds is not None and now - began >= seconds:
            raise LassosUnfinished
        if current and now - shown >= _TELL_AGAIN_SECONDS:
            shown = now
            # Again, since no line may have been due.
            tell(current)

    def tell_and_poll(activity: str) -> None:
        nonlocal current
        current = activity
        tell(activity)
        poll()

    try:
        with patience(poll):
            return outcome, asked(tell_and_poll)
    except KeyboardInterrupt:
        return replace(outcome, interrupted=True), None
    except LassosUnfinished:
        return replace(outcome, stopped=outcome.stopped or Bound.TIME), None


def _told_of(search: ModelSearch, progress: Callable[[Counters], None] | None) -> Tell:
    """A function that reports the work after the search, as progress."""

    def tell(activity: str) -> None:
        if progress is not None:
            progress(replace(search.counters(), activity=activity))

    return tell


def _begin(directory: RunDirectory, compiled: CompiledModel, records: Sequence[PackedState], bounds: Limits) -> None:
    """Record in `directory` what is searched, or check that it is the same as before; the bound may not lie behind."""
    initial = sha256(b"".join(sorted(record.row.tobytes() for record in records))).hexdigest()
    # Of the compiled meaning, so that a changed comment does not matter.
    digests = {SPEC_DIGEST: compiled.spec.digest, "the set of initial states": initial}
    # Of the spec's own integers, whose range is part of the compiled meaning.
    ranges = {RANGE: str(assumed_range())} if has_assumptions(compiled.model.spec) else {}
    directory.begin({**ranges, **digests})
    levels = directory.manifest.levels
    if bounds.depth is not None and bounds.depth < levels:
        raise CommandLineError(
            "KMC607", f"the run has {levels} levels already", help=f"give --max-depth {levels} or more"
        )


@dataclass(frozen=True, slots=True)
class _Counted:
    """The counters of a search, the number of states that each action generated, and CPU time."""

    counters: Counters
    generated: dict[str, int]
    cpu_seconds: float


def _generated(model: Model, outcome: SearchOutcome) -> dict[str, int]:
    return dict(zip([action.title for action in model.spec.actions], outcome.generated_by_action, strict=True))


def _result(
    model: Model,
    compiled: CompiledModel,
    outcome: SearchOutcome,
    counted: _Counted,
    violation: Violation | None,
    temporal: TemporalOutcome | None,
    *,
    from_start: bool,
) -> Result:
    bound = bound_of(model, outcome.stopped, outcome.cut, temporal, from_start=from_start)
    is_whole = bound is None and not counted.counters.left
    violation = violation or (temporal.violation if temporal is not None else None)
    verdict = reported_verdict(violation, interrupted=outcome.interrupted, bound=bound)
    witnessed = model.evaluated(kind_of(Role.WITNESSED, 1))
    unreached = [prop for k, prop in enumerate(witnessed) if not outcome.reached >> k & 1]
    untrue = tuple(prop for prop in unreached if isinstance(prop, InvariantPremise))
    result = Result(
        verdict=verdict,
        counters=counted.counters,
        initial=outcome.initial,
        levels=outcome.levels,
        generated_by_action=counted.generated,
        properties=(*_verdicts(model, outcome), *temporal_verdicts(model, temporal, is_whole=is_whole)),
        violation=violation,
        bound=bound if verdict is Verdict.BOUND_REACHED or is_refuted(violation) else None,
        unreached=tuple(prop.name for prop in unreached if prop not in untrue),
        never_fired=tuple(title for title, times in counted.generated.items() if not times),
        collision_bound=collision_bound(outcome.distinct, compiled.spec.fingerprint_bits),
        cpu_seconds=counted.cpu_seconds,
        peak_memory_bytes=peak_memory_bytes(),
        engine=ENGINE,
        fingerprint_bits=compiled.spec.fingerprint_bits,
        cut=outcome.cut,
        shards=outcome.shards,
        table_bytes=outcome.table_bytes,
        rows_bytes=outcome.rows_bytes,
        has_late_errors=outcome.has_late_errors,
        vacuous=vacuous_in(model, violation, temporal.vacuous if temporal is not None else (), untrue),
    )
    return without_claims(result)


def _verdicts(model: Model, outcome: SearchOutcome) -> Iterator[PropertyVerdict]:
    for prop, failed in zip(model.predicates(Role.CHECKED), outcome.failed, strict=True):
        yield PropertyVerdict(prop.name, "violated" if failed else "holds", failed)
