"""The search of the reference interpreter: the states and steps of a spec in Python, for `ValueSearch`.

The search itself, its counting and its order of findings are those of `kmc.reference.value_search`. Here are the next
state relation, the properties and goals of a model, its temporal properties, and the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kmc.actions.relation import NextStateRelation
from kmc.errors import InvariantError, KmcError
from kmc.frontend.growing_variables import GrowthWatch
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role, kind_of
from kmc.invariants.properties import InvariantPremise, Predicate, holds
from kmc.lang.records import State
from kmc.liveness.problem import TemporalProblem
from kmc.process import cpu_seconds, peak_memory_bytes
from kmc.reference.open_premises import with_premises
from kmc.reference.search_end import reported_verdict
from kmc.reference.states.identity import StateSet, ViewOrder
from kmc.reference.states.initial import initial_states
from kmc.reference.states.replay import check_violation, error_at_end
from kmc.reference.states.traces import trace_of
from kmc.reference.temporal.behaviours import GrowingBehaviours
from kmc.reference.temporal.early_refutations import ObviousEarlyLassos
from kmc.reference.temporal.lasso_finder import LassosUnfinished
from kmc.reference.temporal.vacuity import Dropping, vacuous_in
from kmc.reference.temporal.verdicts import (
    TemporalOutcome,
    assumed_fairness,
    bound_of,
    interpreted,
    is_refuted,
    lasso_seconds,
    temporal_verdicts,
)
from kmc.reference.value_search import Failed, ValueSearch
from kmc.result import Counters, Limits, PropertyVerdict, Result, Verdict, Violation, without_claims

Asked = TypeVar("Asked", bound=Predicate)

ENGINE = "python"


class Search(ValueSearch):
    """One run over a model.

    `start` replaces the initial states; `keep_going` continues after a violation, as TLC's -continue does; `progress`
    is called about once a second with the counters. A model with a view needs `view_order`, which gives the order of
    the states of one view (`kmc.compiler.view_order`), or None for the order of their values. `problem` has the
    temporal properties; they are checked when the search has found no other failure. Unless it keeps going, the search
    ends at the level where a prefix or a lasso that stutters refutes one.
    """

    def __init__(
        self,
        model: Model,
        limits: Limits | None = None,
        *,
        keep_going: bool = False,
        start: State | None = None,
        progress: Callable[[Counters], None] | None = None,
        view_order: Callable[[Model], ViewOrder | None] | None = None,
        problem: TemporalProblem | None = None,
    ) -> None:
        limits = limits or Limits()
        model = with_premises(model.searched, start)
        spec = model.spec
        super().__init__(
            StateSet(spec.state_class, model.symmetry, model.view, _order(model, view_order)),
            [action.title for action in spec.actions],
            limits,
            checks_deadlock=model.deadlock,
            keep_going=keep_going,
            progress=progress,
        )
        self._model = model
        self._start = start
        self._problem = problem
        self._early = ObviousEarlyLassos(problem) if problem is not None and not keep_going else None
        self._constrained = bool(model.constraints or model.action_constraints)
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self._reached: set[Predicate] = set()
        self._step_properties = model.predicates(Role.CHECKED, 2)
        self._witnessed = model.evaluated(kind_of(Role.WITNESSED, 1))
        self._wanted = self._witnessed
        self._lassos_until: float | None = None
        self._watch = GrowthWatch()
        self._behaviours = GrowingBehaviours(model, problem, self.graph.states) if problem is not None else None

    def counters(self) -> Counters:
        """The counters so far."""
        return replace(super().counters(), growing=self._watch.growing)

    def _is_refuted(self, expanded: range) -> bool:
        """Return whether a temporal property is refuted for certain, now that a level has been expanded."""
        if self._early is None or self._behaviours is None:
            return False
        try:
            self._behaviours.grow(expanded.stop)
            return self._early.is_found(self._behaviours, expanded, self.graph.levels[0])
        except KmcError:
            # The reported error does not depend on the order of evaluation: all predicates are evaluated later.
            self._early = None
            return False

    def _level_made(self, level: range) -> None:
        """Sample the level. A reachable property is evaluated until the end of the level that reaches it."""
        self._wanted = tuple(prop for prop in self._witnessed if prop not in self._reached)
        states = self.graph.states
        self._watch.level_made(
            len(self.graph.levels), lambda count: (states[k] for k in level[:: max(1, len(level) // count)])
        )

    @property
    def _depth_limit(self) -> int | None:
        limits = [limit for limit in (self._limits.depth, self._model.max_depth) if limit is not None]
        return min(limits, default=None)

    @property
    def _invariants_count(self) -> int:
        return len(self._model.invariants)

    def _beginnings(self) -> Iterable[Any]:
        return initial_states(self._model) if self._start is None else (self._start,)

    def _in_model(self, state: State, source: Any) -> bool:
        if not self._constrained:
            return True
        model, files = self._model, self._model.spec.files
        if not all(holds(constraint, files, state) for constraint in model.constraints):
            return False
        return source is None or all(holds(c, files, source, state) for c in model.action_constraints)

    def _steps(self, source: Any) -> tuple[Sequence[tuple[str, Any]], list[KmcError]]:
        try:
            return [(action.title, successor) for action, _, successor in self._relation.steps(source)], []
        except KmcError:
            return [], self._relation.errors(source)

    def _judge_state(self, state: Any, *, is_initial: bool) -> tuple[Sequence[Failed], list[KmcError]]:
        invariants = self._model.invariants
        failed, errors = self._ask(invariants, state)
        if self._wanted:
            unreached, further = self._ask(self._wanted, state)
            errors += further
            if not further:
                self._reached.update(prop for prop in self._wanted if prop not in unreached)
        return [(invariants.index(invariant), invariant.name) for invariant in failed], errors

    def _ask(self, predicates: tuple[Asked, ...], state: State) -> tuple[list[Asked], list[KmcError]]:
        """The predicates that are false in a state, and the errors of those that fail to evaluate."""
        files = self._model.spec.files
        failed: list[Asked] = []
        errors: list[KmcError] = []
        for predicate in predicates:
            try:
                if not holds(predicate, files, state):
                    failed.append(predicate)
            except InvariantError as error:
                # An invariant reports the errors of its premises itself.
                if isinstance(predicate, InvariantPremise):
                    failed.append(predicate)
                else:
                    errors.append(error)
        return failed, errors

    def _judge_step(self, source: Any, successor: Any) -> Sequence[Failed]:
        files = self._model.spec.files
        return [(order, prop.name) for order, prop in enumerate(self._step_properties)
                if not holds(prop, files, source, successor)]  # fmt: skip

    def _judge_behaviours(self) -> TemporalOutcome | None:
        problem = self._problem
        if problem is None:
            return None
        initial = self.graph.levels[0] if self.graph.levels else 0
        assert self._behaviours is not None, "there is a problem"
        self._behaviours.grow(self._expanded)
        ended = time.monotonic()
        seconds = lasso_seconds(self._limits.seconds, ended - self._began, self._stopped)
        self._lassos_until = None if seconds is None else ended + seconds
        dropping = Dropping.of(stopped=self._stopped is not None, cut=self._cut > 0)
        return interpreted(self._model, problem, self._behaviours, initial, self._start, self._tell_activity, dropping)

    def _tell_activity(self, activity: str) -> None:
        if self._lassos_until is not None and time.monotonic() >= self._lassos_until:
            raise LassosUnfinished
        if self._progress is not None:
            self._progress(replace(self.counters(), activity=activity))

    def _result(self, violation: Violation | None, temporal: TemporalOutcome | None, interrupted: bool) -> Result:
        model = self._model
        counters = self.counters()
        violation = violation or (temporal.violation if temporal is not None else None)
        bound = bound_of(model, self._stopped, self._cut, temporal, from_start=self._start is not None)
        verdict = reported_verdict(violation, interrupted=interrupted, bound=bound)
        result = Result(
            verdict=verdict,
            counters=counters,
            initial=self._initial,
            levels=tuple(self.graph.levels),
            generated_by_action=self._coverage.generated(),
            properties=tuple(self._verdicts(temporal, is_whole=bound is None and not counters.left)),
            violation=violation,
            bound=bound if verdict is Verdict.BOUND_REACHED or is_refuted(violation) else None,
            unreached=tuple(prop.name for prop in model.predicates(Role.WITNESSED, 1) if prop not in self._reached),
            never_fired=self._coverage.never_fired(),
            collision_bound=0.0,
            cpu_seconds=cpu_seconds() - self._cpu_began,
            peak_memory_bytes=peak_memory_bytes(),
            engine=ENGINE,
            cut=self._cut,
            fairness=assumed_fairness(self._problem) if temporal is not None and self._problem is not None else (),
            cut_fairness=temporal.cut if temporal is not None else (),
            vacuous=vacuous_in(model, violation, temporal.vacuous if temporal is not None else (), self._untrue()),
        )
        return without_claims(result)

    def _untrue(self) -> tuple[InvariantPremise, ...]:
        """The premises that were true in no state."""
        return tuple(premise for premise in self._model.premises if premise not in self._reached)

    def _violation(self) -> Violation | None:
        least = self._findings.least(self.graph)
        if least is None:
            return None
        trace = trace_of(self._model, self._relation, self.graph, least, self._start)
        error = least.error and error_at_end(self._model, trace, least.state, least.error)
        violation = Violation(least.verdict, least.name, trace, error, least.is_step)
        check_violation(self._model, violation, self._start)
        return violation

    def _verdicts(self, temporal: TemporalOutcome | None, *, is_whole: bool) -> Iterator[PropertyVerdict]:
        for prop in self._model.predicates(Role.CHECKED):
            failed = self._findings.count(prop.name)
            yield PropertyVerdict(prop.name, "violated" if failed else "holds", failed)
        yield from temporal_verdicts(self._model, temporal, is_whole=is_whole)


def _order(model: Model, view_order: Callable[[Model], ViewOrder | None] | None) -> ViewOrder | None:
    """The order of the states of one view, if the model has a view."""
    if model.view is None:
        return None
    if view_order is None:
        raise ValueError("a model with a view needs view_order, such as kmc.compiler.view_order.fingerprint_order")
    return view_order(model)
