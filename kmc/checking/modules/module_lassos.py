"""The verdicts on the temporal properties of a module: the native search for lassos, in the graph of a search.

Invariant: a violation that is returned has been replayed by the module's own formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_graph import ModuleGraph
from kmc.checking.modules.module_lasso_replay import lasso_violation
from kmc.checking.modules.module_text import state_line
from kmc.engine.lassos.number_finder import NumberFinder
from kmc.engine.lassos.search import LassoSearch
from kmc.lang.tla import shortened
from kmc.liveness.formulas import Fair, Formula, StepPredicate
from kmc.liveness.problem import TemporalProblem
from kmc.reference.temporal.vacuity import Dropping, vacuous_properties
from kmc.reference.temporal.verdicts import Tell, TemporalOutcome, judged
from kmc.result import CutFairness
from kmc.tla.run.program import State


class ModuleFinder(NumberFinder):
    """The lassos of a module; see `kmc.reference.temporal.lasso_finder.LassoFinder`."""

    def __init__(self, lassos: LassoSearch, states: Sequence[State]) -> None:
        super().__init__(lassos)
        self._states = states

    def states(self, indices: Sequence[int]) -> list[State]:
        """The states of some numbers."""
        return [self._states[index] for index in indices]


def module_verdicts(
    module: CheckedModule,
    problem: TemporalProblem,
    graph: ModuleGraph,
    dropping: Dropping,
    tell: Tell,
    poll: Callable[[], None],
    start: State | None = None,
) -> TemporalOutcome:
    """The verdicts on the properties of a problem, after a search that found no other failure.

    `tell` is called with the name of each phase of work, `poll` now and then; `start` is the first state, if it was
    given. KmcError where a predicate cannot be evaluated.
    """
    tell("Building the behaviour graph")
    finder = ModuleFinder(LassoSearch(graph.arrays(problem, poll), problem.fairness, problem.checks), graph.states)
    properties, answered = judged(problem, finder, tell)
    violation = None
    if answered is not None:
        states = finder.states((*answered.path.stem, *answered.path.cycle))
        violation = lasso_violation(module, problem, answered, states, start)
    cut = tuple(_cut(module, problem, graph)) if dropping is Dropping.BY_CONSTRAINT else ()
    vacuous = vacuous_properties(problem, finder, properties, dropping)
    return TemporalOutcome(properties, violation, cut, vacuous)


def _cut(module: CheckedModule, problem: TemporalProblem, graph: ModuleGraph) -> Iterator[CutFairness]:
    """Yield the conditions of fairness whose steps a constraint drops, each with the first state."""
    for formula, condition in zip(problem.assumed, problem.fairness, strict=True):
        steps = ((graph.states[source], target) for source, target in graph.dropped)
        first = next((source for source, target in steps if _is_of(formula, source, target)), None)
        if first is not None:
            yield CutFairness(condition.name, condition.group, shortened(state_line(module.program, first)))


def _is_of(formula: Formula, source: State, target: State) -> bool:
    """Return whether a step is one that a condition of fairness asks for."""
    if not isinstance(formula, Fair) or not isinstance(formula.steps, StepPredicate):
        raise TypeError(f"the reader makes no such condition of fairness: {formula}")
    return source != target and formula.steps.function(source, target)
