"""The verdicts on the temporal properties of a model, whatever engine searches for the lassos.

Invariant: a violation that is returned has been replayed (`kmc.reference.lasso_replay`). What a finite prefix refutes
comes first, as TLC reports it during the search; then the first property, and its first instance, that has a lasso.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kmc.invariants.kinds import Role
from kmc.invariants.properties import holds
from kmc.lang.tla import shortened, text
from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, TemporalCheck
from kmc.liveness.problem import TemporalProblem
from kmc.reference.behaviours import Behaviours, behaviours_of
from kmc.reference.lasso_replay import check_refutation, temporal_violation
from kmc.reference.lassos import ObviousLassos, Path
from kmc.result import AssumedFairness, CutFairness, PropertyVerdict, Violation
from kmc.spec.model import Model
from kmc.spec.variables import encode_state


class LassoFinder(Protocol):
    """What an engine can be asked of the behaviours that it has found."""

    def least(self, query: LassoQuery, fairness: Sequence[FairnessCondition]) -> Path | None:
        """The least fair lasso that answers a query, or None."""

    def shortest_prefix(self, query: LassoQuery) -> Path | None:
        """The shortest way into the last phase, or None."""

    def state(self, number: int) -> Any:
        """The state of a number."""


@dataclass(frozen=True, slots=True)
class TemporalOutcome:
    """The verdict on each temporal property, the violation to report, and the fair steps that a constraint cuts."""

    properties: tuple[PropertyVerdict, ...]
    violation: Violation | None
    cut: tuple[CutFairness, ...] = ()


class GraphFinder:
    """The interpreter's finder."""

    def __init__(self, behaviours: Behaviours, initial: int) -> None:
        self._behaviours = behaviours
        self._initial = initial

    def least(self, query: LassoQuery, fairness: Sequence[FairnessCondition]) -> Path | None:
        """The least fair lasso that answers a query, or None."""
        return ObviousLassos(self._behaviours, self._initial, query).least(fairness)

    def shortest_prefix(self, query: LassoQuery) -> Path | None:
        """The shortest way into the last phase, or None."""
        return ObviousLassos(self._behaviours, self._initial, query).shortest_prefix()

    def state(self, number: int) -> Any:
        """The state of a number."""
        return self._behaviours.states[number]


def interpreted(
    model: Model, problem: TemporalProblem, found: Sequence[Any], expanded: int, initial: int, start: Any = None
) -> TemporalOutcome:
    """The verdicts by the interpreter, on the states that a search found, of which the first were expanded."""
    behaviours = behaviours_of(model, problem, found, expanded)
    properties, violation = verdicts(model, problem, GraphFinder(behaviours, initial), start)
    return TemporalOutcome(properties, violation, tuple(_cut(model, problem, behaviours)))


def verdicts(
    model: Model, problem: TemporalProblem, finder: LassoFinder, start: Any = None
) -> tuple[tuple[PropertyVerdict, ...], Violation | None]:
    """The verdict on each property, and the violation to report, replayed."""
    found: dict[str, tuple[TemporalCheck, LassoQuery, Path]] = {}
    for of_prefixes in (True, False):
        for check in problem.checks:
            if check.name not in found:
                answer = _answer(check, problem, finder, of_prefixes=of_prefixes)
                if answer is not None:
                    found[check.name] = check, *answer
    names = dict.fromkeys(check.name for check in problem.checks)
    properties = tuple(
        PropertyVerdict(name, "violated" if name in found else "holds", int(name in found), is_temporal=True)
        for name in names
    )
    if not found:
        return properties, None
    check, query, path = next(iter(found.values()))
    stem, cycle = ([finder.state(number) for number in part] for part in (path.stem, path.cycle))
    violation = temporal_violation(model, problem, check, query, stem, cycle)
    check_refutation(model, problem, violation, start)
    return properties, violation


def not_refuted(properties: Iterable[PropertyVerdict]) -> Iterator[PropertyVerdict]:
    """The verdicts where not all behaviours were looked at: what holds among them may be false of others."""
    for prop in properties:
        yield replace(prop, verdict="not refuted") if prop.verdict == "holds" else prop


def _answer(
    check: TemporalCheck, problem: TemporalProblem, finder: LassoFinder, *, of_prefixes: bool
) -> tuple[LassoQuery, Path] | None:
    """The least path that answers one of the queries of a check, those that a prefix answers or the others."""
    answers: list[tuple[LassoQuery, Path]] = []
    for query in check.queries:
        if query.is_of_prefixes is of_prefixes:
            answers += ((query, path) for path in _paths(query, problem.fairness, finder))
    return min(answers, key=lambda answer: len(answer[1]), default=None)


def _paths(query: LassoQuery, fairness: Sequence[FairnessCondition], finder: LassoFinder) -> Iterator[Path]:
    prefix = finder.shortest_prefix(query) if query.is_of_prefixes else None
    if prefix is not None:
        yield prefix
    if prefix is not None or not query.is_of_prefixes:
        # A lasso can be shorter than the prefix that is enough: it passes through the same states again.
        lasso = finder.least(query, fairness)
        if lasso is not None:
            yield lasso


def _cut(model: Model, problem: TemporalProblem, behaviours: Behaviours) -> Iterable[CutFairness]:
    """The conditions of fairness whose steps a constraint drops, each with the first state."""
    if not model.predicates(Role.BOUNDING):
        return
    waiting = list(problem.fairness)
    for source in range(behaviours.expanded):
        cut = [target for target in behaviours.cut(source) if _breaks(model, behaviours, source, target)]
        for fair in [fair for fair in waiting if any(behaviours.has_step(fair.steps, source, t) for t in cut)]:
            waiting.remove(fair)
            yield CutFairness(fair.name, fair.group, state_text(model, behaviours.states[source]))


def state_text(model: Model, state: Any) -> str:
    """A state in one line, cut where it is long."""
    variables = encode_state(state, model.spec.variables)
    return shortened(" /\\ ".join(f"{name} = {text(value)}" for name, value in variables.items()))


def assumed_fairness(problem: TemporalProblem) -> tuple[AssumedFairness, ...]:
    """What the specification assumes, for a result."""
    return tuple(AssumedFairness(fair.name, fair.group, fair.strong) for fair in problem.fairness)


def _breaks(model: Model, behaviours: Behaviours, source: int, target: int) -> bool:
    """Whether a constraint, and not the bound of a search, drops a step."""
    files, pair = model.spec.files, (behaviours.states[source], behaviours.states[target])
    return not all(
        holds(constraint, files, *pair[-kind_states:])
        for kind_states, constraints in ((1, model.constraints), (2, model.action_constraints))
        for constraint in constraints
    )
