"""The verdicts on the temporal properties of a model, whatever engine searches for the lassos.

Invariant: a violation that is returned has been replayed (`kmc.reference.temporal.lasso_replay`). A refutation by a
finite prefix comes first, as TLC reports it during the search; then the first property, and its first instance, that
has a lasso.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import holds
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.lang.tla import shortened, text
from kmc.liveness.lasso_order import LassoRank, least_answer
from kmc.liveness.lasso_queries import (
    AllStates,
    AllSteps,
    AndSteps,
    FairnessCondition,
    Into,
    LassoQuery,
    Phase,
    Recurrence,
    TemporalCheck,
)
from kmc.liveness.problem import TemporalProblem
from kmc.reference.temporal.behaviours import Behaviours
from kmc.reference.temporal.lasso_finder import LassoFinder, LassosUnfinished, is_answered
from kmc.reference.temporal.lasso_replay import check_refutation, temporal_violation
from kmc.reference.temporal.lassos import ObviousLassos, Path
from kmc.reference.temporal.vacuity import Dropping, vacuous_properties
from kmc.result import AssumedFairness, Bound, CutFairness, PropertyVerdict, Vacuity, Violation
from kmc.spec.variables import encode_state

Tell: TypeAlias = Callable[[str], None]


def _silent(activity: str, /) -> None:
    """Do nothing: progress is not shown."""


@dataclass(frozen=True, slots=True)
class TemporalOutcome:
    """The verdict on each temporal property, the violation to report, the fair steps that a constraint cuts.

    `vacuous` are the properties that hold because their premise never does.
    """

    properties: tuple[PropertyVerdict, ...]
    violation: Violation | None
    cut: tuple[CutFairness, ...] = ()
    vacuous: tuple[Vacuity, ...] = ()


@dataclass(frozen=True, slots=True)
class AnsweredCheck:
    """A check that fails: one of its queries, and the least path that answers it."""

    check: TemporalCheck
    query: LassoQuery
    path: Path


class GraphFinder:
    """The interpreter's finder."""

    def __init__(self, behaviours: Behaviours, initial: int, fairness: Sequence[FairnessCondition]) -> None:
        self._behaviours = behaviours
        self._initial = initial
        self._fairness = fairness

    def least(self, query: LassoQuery, below: LassoRank | None) -> Path | None:
        """See `LassoFinder`."""
        lasso = ObviousLassos(self._behaviours, self._initial, query).least(self._fairness)
        return lasso if lasso is not None and (below is None or lasso.rank < below) else None

    def order(self, path: Path) -> tuple[LassoRank, Any]:
        """See `LassoFinder`: the states in display order, those of the cycle first, then the stem back from it."""
        return path.rank, [sort_key(state) for state in self.states((*path.cycle, *reversed(path.stem)))]

    def has_lasso(self, query: LassoQuery) -> bool:
        """Whether a fair lasso answers a query."""
        return self.least(query, None) is not None

    def shortest_prefix(self, query: LassoQuery) -> Path | None:
        """The shortest way into the last phase, or None."""
        return ObviousLassos(self._behaviours, self._initial, query).shortest_prefix()

    def states(self, indices: Sequence[int]) -> list[State]:
        """The states of some numbers."""
        return [self._behaviours.states[index] for index in indices]


def interpreted(
    model: Model,
    problem: TemporalProblem,
    behaviours: Behaviours,
    initial: int,
    start: State | None = None,
    tell: Tell = _silent,
    dropping: Dropping = Dropping.NOTHING,
) -> TemporalOutcome:
    """The verdicts by the interpreter, on the graph of a search; the first `initial` states are initial."""
    tell("Building the behaviour graph")
    behaviours.evaluate_all()
    finder = GraphFinder(behaviours, initial, problem.fairness)
    properties, violation = verdicts(model, problem, finder, start, tell)
    cut = tuple(_cut(model, problem, behaviours))
    vacuous = vacuous_properties(problem, finder, properties, dropping)
    return TemporalOutcome(properties, violation, cut, vacuous)


def verdicts(
    model: Model, problem: TemporalProblem, finder: LassoFinder, start: State | None = None, tell: Tell = _silent
) -> tuple[tuple[PropertyVerdict, ...], Violation | None]:
    """The verdict on each property, and the violation to report, replayed. `tell` is called with a text for each phase
    of work.

    It, and the finder, may raise `LassosUnfinished`: then the verdicts so far count, if there are any.
    """
    properties, shown = judged(problem, finder, tell)
    if shown is None:
        return properties, None
    states = finder.states((*shown.path.stem, *shown.path.cycle))
    stem, cycle = states[: len(shown.path.stem)], states[len(shown.path.stem) :]
    violation = temporal_violation(model, problem, shown.check, shown.query, stem, cycle)
    check_refutation(model, problem, violation, start)
    return properties, violation


def judged(
    problem: TemporalProblem, finder: LassoFinder, tell: Tell = _silent
) -> tuple[tuple[PropertyVerdict, ...], AnsweredCheck | None]:
    """The verdict on each property, and the check that fails and is to be shown, before any replay; see `verdicts`."""
    shown: AnsweredCheck | None = None
    violated: set[str] = set()
    remaining = "holds"
    try:
        for of_prefixes, ordinal, check in _in_order(problem):
            if check.name in violated:
                continue
            what = f"{check.name} {check.instance}".rstrip()
            tell(f"Searching lassos: property {ordinal} of {len(problem.checks)}, {what}")
            if shown is None:
                answer = least_path(check, finder, of_prefixes=of_prefixes)
                shown = None if answer is None else AnsweredCheck(check, *answer)
                fails = answer is not None
            else:
                # Of what is not shown, the verdict is enough.
                fails = _is_answered(check, finder, of_prefixes=of_prefixes)
            violated |= {check.name} if fails else set()
    except LassosUnfinished:
        if shown is None:
            raise
        remaining = "not checked"
    names = dict.fromkeys(check.name for check in problem.checks)
    properties = tuple(
        PropertyVerdict(name, "violated" if name in violated else remaining, int(name in violated), is_temporal=True)
        for name in names
    )
    return properties, shown


def _in_order(problem: TemporalProblem) -> Iterator[tuple[bool, int, TemporalCheck]]:
    """The checks, first as finite prefixes refute them, with their numbers from 1 on."""
    for of_prefixes in (True, False):
        for ordinal, check in enumerate(problem.checks, start=1):
            yield of_prefixes, ordinal, check


def lasso_seconds(seconds: float | None, passed: float, stopped: Bound | None) -> float | None:
    """The number of seconds left for lassos. After a search that used all its time, a tenth of that time, and at least
    one second.
    """
    if seconds is None:
        return None
    return max(1.0, seconds / 10) if stopped is Bound.TIME else seconds - passed


def bound_of(
    model: Model, stopped: Bound | None, cut: int, temporal: TemporalOutcome | None, *, from_start: bool
) -> Bound | None:
    """Say why a result without violations is not about all behaviours. A constraint bounds temporal properties only."""
    bound = stopped or (Bound.START if from_start else None)
    if bound is not None or not model.temporal:
        return bound
    if temporal is None:
        return Bound.NOT_CHECKED
    return Bound.CONSTRAINT if cut else None


def is_refuted(violation: Violation | None) -> bool:
    """Whether a temporal property was refuted, which is found when the search has ended, within its bound."""
    return violation is not None and violation.refutation is not None


def temporal_verdicts(model: Model, temporal: TemporalOutcome | None, *, is_whole: bool) -> Iterator[PropertyVerdict]:
    """The verdicts for a result. A property that holds of some behaviours may be false of those that were not
    explored.
    """
    if temporal is None:
        yield from (PropertyVerdict(prop.name, "not checked", is_temporal=True) for prop in model.temporal)
        return
    for prop in temporal.properties:
        yield replace(prop, verdict="not refuted") if prop.verdict == "holds" and not is_whole else prop


def least_path(check: TemporalCheck, finder: LassoFinder, *, of_prefixes: bool) -> tuple[LassoQuery, Path] | None:
    """Return the least path that answers one of the queries of a check, those that a prefix answers or the others."""
    queries = [query for query in check.queries if query.is_of_prefixes is of_prefixes]
    if of_prefixes:
        answer = least_answer(queries, lambda query, _: finder.shortest_prefix(query), finder.order)
        # A lasso can be shorter than the prefix that is enough: it passes through the same states again.
        return answer and least_answer(queries, finder.least, finder.order, answer)
    answer = least_answer(queries, finder.least, finder.order)
    others = [other for query in check.queries if answer for other in begun_in_the_cycle(query)]
    return least_answer(dict.fromkeys(others), finder.least, finder.order, answer)


def _is_answered(check: TemporalCheck, finder: LassoFinder, *, of_prefixes: bool) -> bool:
    """Return whether `least_path` finds something."""
    return any(is_answered(query, finder) for query in check.queries if query.is_of_prefixes is of_prefixes)


def begun_in_the_cycle(query: LassoQuery) -> tuple[LassoQuery, ...]:
    """Queries for the behaviours that answer a query, where its last phase may begin in the cycle: some are shorter.

    Only for two phases of which the first asks nothing of states and steps, or the same as the last. That is what most
    properties need.
    """
    if len(query.phases) != 2:
        return ()
    first, last = query.phases
    begins = Recurrence(steps=AndSteps((last.entered_by, Into(last.enters_at))))
    stays = Phase(states=last.states, steps=last.steps)
    if (first.states, first.steps) == (last.states, last.steps):
        ways: tuple[tuple[Phase, ...], ...] = ((first,),)
    elif (first.states, first.steps) == (AllStates(), AllSteps()):
        ways = ((replace(stays, enters_at=first.enters_at),), (first, stays))
    else:
        return ()
    recurrences = (*query.recurrences, begins)
    return tuple(replace(query, phases=way, recurrences=recurrences) for way in ways)


def _cut(model: Model, problem: TemporalProblem, behaviours: Behaviours) -> Iterable[CutFairness]:
    """The conditions of fairness whose steps a constraint drops, each with the first state."""
    if not model.predicates(Role.BOUNDING):
        return
    waiting = list(problem.fairness)
    for source in range(behaviours.expanded):
        cut = [target for target in behaviours.cut(source) if _breaks(model, behaviours, source, target)]
        for fair in [fair for fair in waiting if any(behaviours.has_step(fair.steps, source, t) for t in cut)]:
            waiting.remove(fair)
            yield cut_fairness(model, problem, fair, behaviours.states[source])


def cut_fairness(model: Model, problem: TemporalProblem, fair: FairnessCondition, state: State) -> CutFairness:
    """The report on steps that a constraint drops: the state in one line, cut if it is long."""
    line = _line_of(model, state) if problem.line is None else problem.line(state)
    return CutFairness(fair.name, fair.group, shortened(line))


def _line_of(model: Model, state: State) -> str:
    variables = encode_state(state, model.spec.variables)
    return " /\\ ".join(f"{name} = {text(value)}" for name, value in variables.items())


def assumed_fairness(problem: TemporalProblem) -> tuple[AssumedFairness, ...]:
    """The fairness that the specification assumes, for a result."""
    return tuple(AssumedFairness(fair.name, fair.group, fair.strong) for fair in problem.fairness)


def _breaks(model: Model, behaviours: Behaviours, source: int, target: int) -> bool:
    """Whether a constraint drops a step; not the bound of a search, nor the lack of an action of Next for it."""
    files, pair = model.spec.files, (behaviours.state(source), behaviours.state(target))
    return not all(
        holds(constraint, files, *pair[-kind_states:])
        for kind_states, constraints in ((1, model.constraints), (2, model.action_constraints))
        for constraint in constraints
    )
