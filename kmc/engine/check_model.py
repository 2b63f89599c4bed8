"""A check on the native engine: compile, search, and put what was found into the words of the spec.

Invariant: the result is the interpreter's, figure by figure. A failure is reported by the same rule (the least by
values: `kmc.reference.findings`), its trace takes the least predecessor at every level, and the interpreter replays it
before it is returned. An error in a kernel has no words of its own: the interpreter evaluates that state again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from kmc.actions.relation import AssertionFailure, NextStateRelation
from kmc.compile_log import CompileTimeout, compiled_within
from kmc.engine.check_temporal import EndedBefore, TemporalSearch
from kmc.engine.collision_bound import collision_bound
from kmc.engine.compiled_model import CompiledModel, PackedGrowthWatch, compile_model
from kmc.engine.files import durable_folder
from kmc.engine.files.run_directory import SPEC_DIGEST, RunDirectory
from kmc.engine.initial_records import initial_records
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import FindingKind, FoundStep, SearchFinding, SearchOutcome, Settings
from kmc.engine.liveness.noting import Noting
from kmc.engine.liveness.patience import patience
from kmc.engine.search.breadth_first import Search, require_memory
from kmc.engine.search.predecessors import StepLookup
from kmc.engine.unsearched import unsearched
from kmc.errors import CommandLineError, InternalError, KmcError
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Predicate
from kmc.liveness.behaviour_graph import BehaviourSource
from kmc.liveness.problem import TemporalProblem
from kmc.process import cpu_seconds, peak_memory_bytes
from kmc.reference.diagnose import check_errors, expansion_errors, initial_errors, raise_temporal_error
from kmc.reference.findings import error_rank
from kmc.reference.identity import StateSet
from kmc.reference.order_dependence import order_dependent
from kmc.reference.replay import check_violation, error_at_end
from kmc.reference.search_end import reported_verdict
from kmc.reference.temporal import (
    LassosUnfinished,
    Tell,
    TemporalOutcome,
    assumed_fairness,
    bound_of,
    is_refuted,
    lasso_seconds,
    temporal_verdicts,
)
from kmc.reference.traces import concrete_trace
from kmc.result import Bound, Counters, Limits, PropertyVerdict, Result, Verdict, Violation
from kmc.spec.model import Model

ENGINE = "native"

_Answer = TypeVar("_Answer")


class ModelSearch(Protocol):
    """A search of a model's states, and what can be asked of it afterwards."""

    @property
    def predecessors(self) -> StepLookup:
        """What leads to a state; to be asked after `run`."""

    def run(self) -> SearchOutcome:
        """Explore until done, a finding, a limit or Ctrl-C."""

    def counters(self) -> Counters:
        """The counters so far."""

    @property
    def behaviours(self) -> BehaviourSource | None:
        """The source of the behaviour graph, after `run`; None if no steps were noted."""

    def close(self) -> None:
        """Give back what it holds outside of this process; `predecessors` answers no more."""


class SearchMaker(Protocol):
    """What makes a search of a compiled model from initial states."""

    def __call__(
        self,
        compiled: CompiledModel,
        initial: Sequence[PackedState],
        settings: Settings,
        progress: Callable[[Counters], None] | None,
        directory: RunDirectory | None,
        /,
        noting: Noting | None = None,
    ) -> ModelSearch:
        """See `kmc.engine.search.breadth_first.Search`. With `noting`, it makes the behaviour graph too."""


def search_in_memory(
    compiled: CompiledModel,
    initial: Sequence[PackedState],
    settings: Settings,
    progress: Callable[[Counters], None] | None,
    directory: RunDirectory | None,
    /,
    noting: Noting | None = None,
) -> ModelSearch:
    """The search of this process, with its known states in memory. What notes steps is `TemporalSearch.search`."""
    assert noting is None, "a search in memory makes the graph itself"
    require_memory(compiled.kernels, settings, directory, has_graph=False)
    return Search(compiled.kernels, initial, settings, progress, directory, watch=PackedGrowthWatch(compiled))


def check_native(
    model: Model,
    limits: Limits,
    *,
    threads: int = 1,
    keep_going: bool = False,
    start: Any = None,
    progress: Callable[[Counters], None] | None = None,
    settings: Settings | None = None,
    fingerprint_bits: int = 64,
    directory: RunDirectory | None = None,
    search_of: SearchMaker = search_in_memory,
    problem: TemporalProblem | None = None,
) -> Result:
    """Check `model` with compiled kernels on `threads` threads; see `kmc.reference.search.Search` for the others.

    With a `directory` the run can be resumed until the caller discards it. Where `directory.ended` says that the
    search was not cut short, the caller does so as soon as the result is written, and not before. `search_of` makes the
    search: one in memory, or one with the same answers. The temporal properties of `problem` are checked when the
    search has found no other failure. Compiling and the initial states take of the time of `limits`, too.

    Raises SpecError for a construct that is not compiled yet, KmcError when there is no initial state, and SystemFault
    when `directory` holds the run of another model.
    """
    entered = time.monotonic()
    try:
        with compiled_within(limits.seconds):
            compiled, temporal = _compiled(model, problem, fingerprint_bits)
            began = cpu_seconds()
            records = initial_records(model, compiled) if start is None else [compiled.record(start)]
    except CompileTimeout:
        return unsearched(model, ENGINE, time.monotonic() - entered, fingerprint_bits)
    started = time.monotonic()
    bounds = _bounds(model, limits, started - entered)
    chosen = replace(
        settings or Settings(), threads=threads, limits=bounds, deadlock=model.deadlock, keep_going=keep_going
    )
    if directory is not None:
        _begin(directory, compiled, records, bounds)
    with closing(_noting(temporal, search_of)(compiled, records, chosen, progress, directory)) as search:
        outcome = search.run()
        durable_folder.reach("after search model")
        tell, has_time = _told_of(search, progress), not outcome.interrupted
        if temporal is not None and not keep_going and has_time:
            seconds = lasso_seconds(bounds.seconds, time.monotonic() - started, outcome.stopped)
            outcome, has_time = _as_in_memory(temporal, search, outcome, seconds, tell)
        violation, further = _Report(model, compiled, search, records, start, problem).violation(outcome), None
        if temporal is not None and violation is None and has_time:
            seconds = lasso_seconds(bounds.seconds, time.monotonic() - started, outcome.stopped)
            ask = partial(temporal.outcome, search, records, outcome, start)
            outcome, further = _within(seconds, outcome, tell, ask)
        if directory is not None:
            directory.ended = outcome.stopped is None and not outcome.interrupted
        cpu = outcome.cpu_seconds_elsewhere + cpu_seconds() - began
        generated = temporal.generated(outcome) if temporal is not None else _generated(model, outcome)
        counted = _Counted(search.counters(), generated, cpu)
        result = _result(model, compiled, outcome, counted, violation, further, from_start=start is not None)
    if problem is not None and further is not None:
        result = replace(result, fairness=assumed_fairness(problem), cut_fairness=further.cut)
    return replace(result, compile_seconds=compiled.compile_seconds, compiled_anew=compiled.is_new)


def _compiled(
    model: Model, problem: TemporalProblem | None, fingerprint_bits: int
) -> tuple[CompiledModel, TemporalSearch | None]:
    """The compiled model, and what searches it where there are temporal properties."""
    if problem is None:
        return compile_model(model, fingerprint_bits), None
    temporal = TemporalSearch(model, problem, fingerprint_bits)
    return temporal.compiled, temporal


def _bounds(model: Model, limits: Limits, passed: float) -> Limits:
    """The limits of a search, with the bound of the model, when so many seconds have passed."""
    depths = [depth for depth in (limits.depth, model.max_depth) if depth is not None]
    seconds = None if limits.seconds is None else max(0.0, limits.seconds - passed)
    return replace(limits, depth=min(depths, default=None), seconds=seconds)


def _noting(temporal: TemporalSearch | None, search_of: SearchMaker) -> SearchMaker:
    """What makes searches that make the behaviour graph too, where there are temporal properties."""
    if temporal is None:
        return search_of
    if search_of is not search_in_memory:
        return partial(search_of, noting=temporal.noting)
    return lambda _, *given, noting=None: temporal.search(*given)


def _as_in_memory(
    temporal: TemporalSearch, search: ModelSearch, outcome: SearchOutcome, seconds: float | None, tell: Tell
) -> tuple[SearchOutcome, bool]:
    """The outcome of a search that ends where its steps refute a property; False where finding that out was cut short.

    A search in memory has ended there by itself.
    """
    if not isinstance(search, EndedBefore):
        return outcome, True
    outcome, ended = _within(seconds, outcome, tell, partial(temporal.ended, search, outcome))
    return ended or outcome, ended is not None


def _within(
    seconds: float | None, outcome: SearchOutcome, tell: Tell, asked: Callable[[Tell], _Answer]
) -> tuple[SearchOutcome, _Answer | None]:
    """The outcome, and what `asked` answers; None where time or Ctrl-C cuts it short, which the outcome says then."""
    began = time.monotonic()

    def poll() -> None:
        if seconds is not None and time.monotonic() - began >= seconds:
            raise LassosUnfinished

    def told(activity: str) -> None:
        tell(activity)
        poll()

    try:
        with patience(poll):
            return outcome, asked(told)
    except KeyboardInterrupt:
        return replace(outcome, interrupted=True), None
    except LassosUnfinished:
        return replace(outcome, stopped=outcome.stopped or Bound.TIME), None


def _told_of(search: ModelSearch, progress: Callable[[Counters], None] | None) -> Tell:
    """A function that reports what is done after the search, as progress."""

    def tell(activity: str) -> None:
        if progress is not None:
            progress(replace(search.counters(), activity=activity))

    return tell


def _begin(directory: RunDirectory, compiled: CompiledModel, records: Sequence[PackedState], bounds: Limits) -> None:
    """Let `directory` say what is searched, or check that it is what was; the bound may not lie behind."""
    initial = sha256(b"".join(sorted(record.row.tobytes() for record in records))).hexdigest()
    # Of the compiled meaning, so that a changed comment does not matter.
    directory.begin({SPEC_DIGEST: compiled.spec.digest, "the set of initial states": initial})
    levels = directory.manifest.levels
    if bounds.depth is not None and bounds.depth < levels:
        raise CommandLineError(
            "KMC607", f"the run has {levels} levels already", help=f"give --max-depth {levels} or more"
        )


class _Report:
    """From fingerprints to a violation."""

    def __init__(
        self, model: Model, compiled: CompiledModel, search: ModelSearch, initial: Sequence[PackedState], start: Any,
        problem: TemporalProblem | None,
    ) -> None:  # fmt: skip
        self._compiled = compiled
        self._model = model
        self._search = search
        self._records: dict[int, PackedState] = {}
        self._steps: dict[int, list[FoundStep]] = {}
        self._initial = initial
        self._start = start
        self._problem = problem
        self._wanted: tuple[Predicate, ...] = ()
        self._known = StateSet(model.spec.state_class, model.symmetry, model.view)
        self._relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)

    def violation(self, outcome: SearchOutcome) -> Violation | None:
        """The least failure with its trace, replayed; None if nothing failed."""
        if not outcome.findings:
            return None
        self._wanted = tuple(
            prop
            for number, prop in enumerate(self._model.predicates(Role.WITNESSED, 1))
            if outcome.reachable_asked >> number & 1
        )
        level = min(finding.level for finding in outcome.findings)
        shortest = self._candidates([finding for finding in outcome.findings if finding.level == level])
        self._look_up(level, shortest)
        least = min((found for finding in shortest for found in self._read(finding)), key=lambda found: found.order)
        path = self._chain(least)
        step_name = least.name if least.finding.kind is FindingKind.STEP else None
        trace = concrete_trace(self._model, self._relation, self._known, path, self._beginnings(path[0]), step_name)
        error = least.error and error_at_end(self._model, trace, least.state, least.error)
        violation = Violation(least.verdict, least.name, trace, error, step_name is not None)
        check_violation(self._model, violation, self._start)
        return violation

    def _beginnings(self, state: Any) -> list[Any]:
        """The initial states in the orbit of one of them."""
        fingerprint = self._compiled.record(state).fingerprint
        return [self._compiled.state(record.row) for record in self._initial if record.fingerprint == fingerprint]

    def _candidates(self, findings: list[SearchFinding]) -> list[SearchFinding]:
        """The findings that may be the least: a level may have a million, and comparing states means decoding them."""
        for kinds in ((FindingKind.ERROR, FindingKind.CHECK_ERROR), (FindingKind.DEADLOCK,)):
            of_kind = [finding for finding in findings if finding.kind in kinds]
            if of_kind:
                return of_kind
        first = min(map(self._property_order, findings))
        return [finding for finding in findings if self._property_order(finding) == first]

    def _property_order(self, finding: SearchFinding) -> int:
        before = len(self._model.invariants) if finding.kind is FindingKind.STEP else 0
        return before + finding.property_index

    def _look_up(self, level: int, findings: list[SearchFinding]) -> None:
        """Find the rows of all findings, or the steps to them, in one pass over a level each."""
        own = [finding.fingerprint for finding in findings if _is_of_kept_state(finding)]
        reached = [finding.fingerprint for finding in findings if not _is_of_kept_state(finding)]
        self._records = self._search.predecessors.states(level, own) if own else {}
        self._steps = self._search.predecessors.steps_into(level - 1, reached) if reached else {}

    def _read(self, finding: SearchFinding) -> Iterator[_Found]:
        """What a finding means in the words of the spec."""
        model = self._model
        for state, source in self._states(finding):
            rank = (self._known.rank(state), () if source is None else self._known.rank(source))
            match finding.kind:
                case FindingKind.DEADLOCK:
                    yield _Found(finding, Verdict.DEADLOCK, None, state, source, None, (2, 0, *rank))
                case FindingKind.INVARIANT:
                    for order, prop in enumerate(model.invariants):
                        if finding.value >> order & 1:
                            yield _Found(finding, Verdict.VIOLATION, prop.name, state, source, None, (3, order, *rank))
                case FindingKind.STEP:
                    for order, step in enumerate(model.predicates(Role.CHECKED, 2)):
                        if finding.value >> order & 1:
                            order_of = len(model.invariants) + order
                            yield _Found(
                                finding, Verdict.VIOLATION, step.name, state, source, None, (3, order_of, *rank)
                            )
                case FindingKind.ERROR | FindingKind.CHECK_ERROR:
                    for error in self._errors(finding, state):
                        verdict = Verdict.ASSERTION if isinstance(error, AssertionFailure) else Verdict.ERROR
                        order = 1 + len(model.invariants) if finding.kind is FindingKind.CHECK_ERROR else 0
                        key = (int(verdict is Verdict.ASSERTION), order, *rank, error_rank(error))
                        yield _Found(finding, verdict, None, state, source, error, key)

    def _states(self, finding: SearchFinding) -> Iterator[tuple[Any, Any]]:
        """The state of a finding, once per state that leads to it where the finding is not of a stored state."""
        if _is_of_kept_state(finding):
            record = self._records.get(finding.fingerprint) or self._outside(finding)
            yield self._compiled.state(record.row), None
            return
        rank = finding.rank if self._compiled.kernels.rank else None
        inside = finding.stored and not _may_be_outside(finding)
        for edge in self._steps[finding.fingerprint]:
            told = finding.source in (0, edge.source.fingerprint)
            if told and self._search.predecessors.counts(edge, rank=rank, inside=inside):
                yield self._compiled.state(edge.successor.row), self._compiled.state(edge.source.row)

    def _outside(self, finding: SearchFinding) -> PackedState:
        """An initial state that no level holds: it breaks a constraint."""
        return next(record for record in self._initial if record.fingerprint == finding.fingerprint)

    def _errors(self, finding: SearchFinding, state: Any) -> list[KmcError]:
        model = self._model

        def errors_of(state: Any) -> list[KmcError]:
            if finding.kind is FindingKind.CHECK_ERROR:
                return check_errors(model, state, witnessed=self._wanted)
            errors = initial_errors(model, state) if finding.level == 1 else []
            return errors or expansion_errors(model, self._relation, state)

        errors = errors_of(state)
        if not errors and self._problem is not None:
            # An atom that fails is an error of the formula, whatever the interpreter would have asked in this state.
            raise_temporal_error(model, self._problem, state)
        if not errors:
            raise order_dependent(model, state, errors_of) or InternalError(
                "KMC921", "a compiled check fails where the interpreter finds no error", help="run with --engine python"
            )
        return errors

    def _chain(self, found: _Found) -> list[Any]:
        """States, up to symmetry, from an initial one to the failing one, by least predecessors."""
        path = [found.state]
        level = found.finding.level
        if found.source is not None and (_may_be_outside(found.finding) or not found.finding.stored):
            path.append(found.source)
            level -= 1
        while level > 1:
            level -= 1
            path.append(self._least_predecessor(level, path[-1]))
        return path[::-1]

    def _least_predecessor(self, level: int, state: Any) -> Any:
        record = self._compiled.record(state)
        rank = self._compiled.kernels.rank_of(record.row) if self._compiled.kernels.rank else None
        edges = self._search.predecessors.of(level, record.fingerprint, rank=rank)
        if not edges:
            raise InternalError("KMC922", f"no state of level {level} leads to a state of the next level")
        sources = {edge.source.fingerprint: self._compiled.state(edge.source.row) for edge in edges}
        return min(sources.values(), key=self._known.rank)


def _is_of_kept_state(finding: SearchFinding) -> bool:
    """Whether the failing state is one of its level; else it was generated, and is known by the steps to it."""
    return finding.kind in (FindingKind.ERROR, FindingKind.DEADLOCK) or finding.level == 1


def _may_be_outside(finding: SearchFinding) -> bool:
    """Whether the step to the failing state may break a constraint although the finding does not say so."""
    return finding.kind in (FindingKind.STEP, FindingKind.CHECK_ERROR)


class _Found:
    """A failure in the words of the spec; `order` decides which is reported."""

    __slots__ = ("error", "finding", "name", "order", "source", "state", "verdict")

    def __init__(
        self, finding: SearchFinding, verdict: Verdict, name: str | None, state: Any, source: Any,
        error: KmcError | None, order: tuple[Any, ...],
    ) -> None:  # fmt: skip
        self.finding, self.verdict, self.name, self.state = finding, verdict, name, state
        self.source, self.error, self.order = source, error, order


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a search counted: its counters, the states that each action generated, and CPU time."""

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
    return Result(
        verdict=verdict,
        counters=counted.counters,
        initial=outcome.initial,
        levels=outcome.levels,
        generated_by_action=counted.generated,
        properties=(*_verdicts(model, outcome), *temporal_verdicts(model, temporal, is_whole=is_whole)),
        violation=violation,
        bound=bound if verdict is Verdict.BOUND_REACHED or is_refuted(violation) else None,
        unreached=tuple(
            prop.name for k, prop in enumerate(model.predicates(Role.WITNESSED, 1)) if not outcome.reached >> k & 1
        ),
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
    )


def _verdicts(model: Model, outcome: SearchOutcome) -> Iterator[PropertyVerdict]:
    for prop, failed in zip(model.predicates(Role.CHECKED), outcome.failed, strict=True):
        yield PropertyVerdict(prop.name, "violated" if failed else "holds", failed)
