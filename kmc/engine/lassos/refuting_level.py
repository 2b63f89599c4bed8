"""The level in which a search with early refutation would have ended, computed from the graph of a search without it.

A search in memory ends where a prefix or a lasso that stutters refutes (`early_lassos`). The tasks of a search in
shards do not know that, so it goes on, and its counts are those of a level that lies behind.
"""

from __future__ import annotations

from kmc.engine.lassos.choice import LassoAnswers
from kmc.liveness.early_queries import early_queries, staying
from kmc.liveness.lasso_queries import AndStates
from kmc.liveness.problem import TemporalProblem


def refuting_level(lassos: LassoAnswers, problem: TemporalProblem) -> int | None:
    """The first level, counted from 0, whose steps refute a property of the problem early; None without one.

    A way of n steps is known when n + 1 levels have been expanded, so this is the least distance of a state in which
    some query may end.
    """
    allowed = tuple(dict.fromkeys(staying(fair.condition) for fair in problem.fairness))
    least: int | None = None
    for query in early_queries(problem):
        ends = lassos.states_of(AndStates((*query.ends, *(allowed if query.stutters else ()))))
        ends[lassos.expanded :] = False
        if not ends.any():
            continue
        for distance, states in lassos.distances(query.phases).by_distance():
            expanded = int(lassos.level_starts[min(distance + 1, len(lassos.level_starts) - 1)])
            if (least is not None and distance >= least) or not query.is_asked(expanded):
                break
            if ends[states].any():
                least = distance
                break
    return None if least is None else _ending_level(lassos, problem, least)


def _ending_level(lassos: LassoAnswers, problem: TemporalProblem, level: int) -> int | None:
    """The first level from this one on at which a refutation ends the search; None if the search is whole before."""
    for end, expanded in enumerate(lassos.level_starts[1:]):
        if end >= level and expanded > problem.whole_states:
            return end
    return None if problem.whole_states else level
