"""The replay of a lasso of a module by definition: its steps, its fairness, and the property that it refutes.

Invariant: nothing of the search or of its graph is used. The initial predicate, the next-state relation and all
formulas are evaluated on the states of the lasso.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_replay import refuse_replay, replay_in_module
from kmc.checking.modules.module_trace import least_step
from kmc.liveness.lasso_queries import LassoQuery, TemporalCheck
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.liveness.problem import TemporalProblem
from kmc.liveness.refutation_text import why_false
from kmc.reference.temporal.behaviours import Behaviours
from kmc.reference.temporal.lasso_check import how_met, phase_entries
from kmc.reference.temporal.lasso_replay import is_of_step
from kmc.reference.temporal.lassos import Path
from kmc.reference.temporal.verdicts import AnsweredCheck
from kmc.result import Cycle, FairnessMet, Refutation, Trace, TraceStep, Verdict, Violation
from kmc.tla.run.program import State


def lasso_violation(
    module: CheckedModule,
    problem: TemporalProblem,
    answered: AnsweredCheck,
    states: Sequence[State],
    start: State | None = None,
) -> Violation:
    """The violation that the states of a path show, stem and cycle; InternalError KMC942 if they show none."""
    path, check, program = answered.path, answered.check, module.program
    steps = [TraceStep(states[0]), *(least_step(program, source, target.__eq__) for source, target in pairwise(states))]
    begin = len(path.stem)
    closing = least_step(program, states[-1], states[begin].__eq__) if len(path.cycle) > 1 else None
    trace = Trace(tuple(steps))
    replay_in_module(module, Trace((*steps, closing)) if closing is not None else trace, start)
    behaviour = EndlessBehaviour(states, begin if path.cycle else begin - 1, lambda _: {})
    formula = problem.formulas[problem.checks.index(check)]
    if behaviour.satisfies(formula):
        refuse_replay(f"the behaviour satisfies {check.name} by its definition")
    met = _fairness(problem, answered, states, behaviour) if path.cycle else ()
    return Violation(
        Verdict.VIOLATION if answered.query.is_of_prefixes else Verdict.LIVENESS,
        check.name,
        trace,
        is_step=is_of_step(answered.query),
        refutation=Refutation(
            check.instance, why_false(behaviour, formula), Cycle(begin + 1, closing, met) if path.cycle else None
        ),
    )


def find_query(problem: TemporalProblem, check: TemporalCheck, path: Path, states: Sequence[State]) -> LassoQuery:
    """Return the query of a check that a path answers; InternalError KMC942 if there is none."""
    behaviours, own = _on_its_own(problem, path, states)
    for query in check.queries:
        if (path.cycle or query.is_of_prefixes) and phase_entries(behaviours, own, query) is not None:
            return query
    refuse_replay(f"the behaviour answers no query for {check.name}")


def is_bad_prefix_in_module(problem: TemporalProblem, states: Sequence[State]) -> bool:
    """Return whether every behaviour that begins with these states refutes a property, however it goes on."""
    behaviours, path = _on_its_own(problem, Path(tuple(range(len(states))), ()), states)
    queries = (query for check in problem.checks for query in check.queries if query.is_of_prefixes)
    return any(phase_entries(behaviours, path, query) is not None for query in queries)


def _fairness(
    problem: TemporalProblem, answered: AnsweredCheck, states: Sequence[State], behaviour: EndlessBehaviour
) -> tuple[FairnessMet, ...]:
    """Return the step or state by which the cycle meets each condition of fairness."""
    behaviours, path = _on_its_own(problem, answered.path, states)
    if phase_entries(behaviours, path, answered.query) is None:
        refuse_replay(f"the behaviour does not answer the query for {answered.check.name}")
    met: list[FairnessMet] = []
    for formula, condition in zip(problem.assumed, problem.fairness, strict=True):
        how = how_met(behaviours, path, condition)
        if how is None:
            refuse_replay(f"the behaviour is not fair by {condition.name}")
        if not behaviour.satisfies(formula):
            refuse_replay(f"the behaviour is not fair by the definition of {condition.name}")
        met.append(how)
    return tuple(met)


def _on_its_own(problem: TemporalProblem, path: Path, states: Sequence[State]) -> tuple[Behaviours, Path]:
    """The states of a lasso by new numbers, with the steps that it takes and no others."""
    distinct = list(dict.fromkeys(states))
    number_of = {state: number for number, state in enumerate(distinct)}
    numbers = [number_of[state] for state in states]
    begin = len(path.stem)
    taken: list[dict[int, frozenset[int]]] = [{} for _ in distinct]
    for source, target in pairwise([*numbers, *numbers[begin : begin + 1]]):
        taken[source][target] = frozenset((0,))
    return Behaviours(problem, distinct, len(distinct), taken), Path(tuple(numbers[:begin]), tuple(numbers[begin:]))
