"""From the findings of a search to the violation that is reported, with its trace.

Invariant: the report is the interpreter's. The least failure by values is reported (`kmc.reference.states.findings`),
its trace uses the least predecessor at every level, and the interpreter replays it before it is returned. An error in a
kernel has no words of its own: the interpreter evaluates that state again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kmc.actions.relation import AssertionFailure, NextStateRelation
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.search_outcome import FindingKind, FoundStep, SearchFinding, SearchOutcome
from kmc.engine.model_search import ModelSearch
from kmc.errors import InternalError, KmcError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Predicate
from kmc.lang.records import State
from kmc.liveness.problem import TemporalProblem
from kmc.reference.diagnose import check_errors, expansion_errors, initial_errors, raise_temporal_error
from kmc.reference.states.findings import error_rank
from kmc.reference.states.identity import StateSet
from kmc.reference.states.order_dependence import order_dependent
from kmc.reference.states.replay import check_violation, error_at_end
from kmc.reference.states.traces import concrete_trace
from kmc.result import Verdict, Violation


class ViolationReport:
    """The violation to report from a search: from fingerprints to states, from states to a trace."""

    def __init__(
        self,
        model: Model,
        compiled: CompiledModel,
        search: ModelSearch,
        initial: Sequence[PackedState],
        start: State | None,
        problem: TemporalProblem | None,
    ) -> None:
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
            for index, prop in enumerate(self._model.predicates(Role.WITNESSED, 1))
            if outcome.reachable_asked >> index & 1
        )
        level = min(finding.level for finding in outcome.findings)
        shortest = self._candidates([finding for finding in outcome.findings if finding.level == level])
        self._look_up(level, shortest)
        least = min(
            (candidate for finding in shortest for candidate in self._read(finding)),
            key=lambda candidate: candidate.order,
        )
        path = self._chain(least)
        step_name = least.name if least.finding.kind is FindingKind.STEP else None
        trace = concrete_trace(self._model, self._relation, self._known, path, self._beginnings(path[0]), step_name)
        error = least.error and error_at_end(self._model, trace, least.state, least.error)
        violation = Violation(least.verdict, least.name, trace, error, step_name is not None)
        check_violation(self._model, violation, self._start)
        return violation

    def _beginnings(self, state: State) -> list[State]:
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
        """Yield the violations that a finding means in the names of the spec."""
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
            record = self._generated(finding) or self._records.get(finding.fingerprint) or self._outside(finding)
            yield self._compiled.state(record.row), None
            return
        rank = finding.rank if self._compiled.kernels.rank else None
        inside = finding.stored and not _may_be_outside(finding)
        for edge in self._steps[finding.fingerprint]:
            is_known = finding.source in (0, edge.source.fingerprint)
            if is_known and self._search.predecessors.counts(edge, rank=rank, inside=inside):
                yield self._compiled.state(edge.successor.row), self._compiled.state(edge.source.row)

    def _generated(self, finding: SearchFinding) -> PackedState | None:
        """The initial state that was checked, where the level may have kept another one of its view."""
        if not self._compiled.kernels.rank or finding.kind in _OF_SOURCES:
            return None
        return self._initial_by_rank.get((finding.fingerprint, finding.rank))

    @cached_property
    def _initial_by_rank(self) -> dict[tuple[int, int], PackedState]:
        rank_of = self._compiled.kernels.rank_of
        return {(record.fingerprint, rank_of(record.row)): record for record in self._initial}

    def _outside(self, finding: SearchFinding) -> PackedState:
        """An initial state that no level holds: it breaks a constraint."""
        return next(record for record in self._initial if record.fingerprint == finding.fingerprint)

    def _errors(self, finding: SearchFinding, state: State) -> list[KmcError]:
        model = self._model

        def errors_of(state: State) -> list[KmcError]:
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
                "KMC921",
                f"a compiled check fails where the interpreter finds no error{self._place_of(finding)}",
                help="run with --engine python",
            )
        return errors

    def _place_of(self, finding: SearchFinding) -> str:
        """The place of the check that failed, for the end of a sentence; "" if it is not known."""
        places = self._compiled.spec.places
        if not 0 <= finding.value < len(places):
            return ""
        return f", at {places[finding.value]}; a number may be beyond those of compiled code"

    def _chain(self, candidate: _Found) -> list[State]:
        """States, up to symmetry, from an initial one to the failing one, by least predecessors."""
        path = [candidate.state]
        level = candidate.finding.level
        if candidate.source is not None and (_may_be_outside(candidate.finding) or not candidate.finding.stored):
            path.append(candidate.source)
            level -= 1
        while level > 1:
            level -= 1
            path.append(self._least_predecessor(level, path[-1]))
        return path[::-1]

    def _least_predecessor(self, level: int, state: State) -> State:
        record = self._compiled.record(state)
        rank = self._compiled.kernels.rank_of(record.row) if self._compiled.kernels.rank else None
        edges = self._search.predecessors.of(level, record.fingerprint, rank=rank)
        if not edges:
            raise InternalError("KMC922", f"no state of level {level} leads to a state of the next level")
        sources = {edge.source.fingerprint: self._compiled.state(edge.source.row) for edge in edges}
        return min(sources.values(), key=self._known.rank)


_OF_SOURCES = (FindingKind.ERROR, FindingKind.DEADLOCK)


def _is_of_kept_state(finding: SearchFinding) -> bool:
    """Return whether the failing state is a state of its level or an initial one; else the steps to it identify it."""
    return finding.kind in _OF_SOURCES or finding.level == 1


def _may_be_outside(finding: SearchFinding) -> bool:
    """Whether the step to the failing state may break a constraint although the finding does not say so."""
    return finding.kind in (FindingKind.STEP, FindingKind.CHECK_ERROR)


@dataclass(frozen=True, slots=True)
class _Found:
    """A failure in the words of the spec; `order` decides which is reported."""

    finding: SearchFinding
    verdict: Verdict
    name: str | None
    state: State
    source: State | None
    error: KmcError | None
    order: tuple[Any, ...]
