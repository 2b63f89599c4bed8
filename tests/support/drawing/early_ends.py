"""Random small graphs that are searched level by level, and the level in which each way to look must report a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
from support.drawing.lassos import random_fairness, random_graph, random_query
from support.oracles.lassos import SmallGraph, least_end

from kmc.engine.behaviour_graph.early_lassos import EarlyLassos
from kmc.engine.behaviour_graph.recorded_levels import RecordedLevels, StepPart
from kmc.engine.lassos.refuting_level import refuting_level
from kmc.engine.lassos.search import LassoSearch
from kmc.liveness.early_queries import early_queries
from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, TemporalCheck
from kmc.liveness.problem import TemporalProblem
from kmc.reference.temporal.behaviours import Behaviours
from kmc.reference.temporal.early_refutations import ObviousEarlyLassos

ATOMS = range(3)


@dataclass(frozen=True)
class EarlyCase:
    """A graph that is expanded whole, its levels by the number of their first state, and a problem of one query."""

    graph: SmallGraph
    starts: tuple[int, ...]
    problem: TemporalProblem
    expected: int | None


@cache
def early_cases(seed: int, count: int) -> list[EarlyCase]:
    """Random cases, with the level in which each is to be reported, or None."""
    random = Random(seed)
    found: list[EarlyCase] = []
    while len(found) < count:
        graph = random_graph(random)
        fairness = random_fairness(random)
        query = random_query(random)
        problem = problem_of(graph, fairness, query)
        if graph.expanded == graph.states and early_queries(problem):
            starts = levels_of(graph)
            end = least_end(graph, fairness, query)
            # What goes back on its way may be longer than there are levels.
            is_early = end is not None and end < len(starts) - 1
            found.append(EarlyCase(graph, starts, problem, end if is_early else None))
    return found


def problem_of(graph: SmallGraph, fairness: Sequence[FairnessCondition], query: LassoQuery) -> TemporalProblem:
    """The problem of one query, with the predicates of a graph's states by number."""
    of_pairs = {(pair.source, target): pair.atoms for pair, target in zip(graph.pairs, targets_of(graph), strict=True)}

    def of_state(atom: int) -> Callable[[int], bool]:
        return lambda state: atom in graph.atoms[state]

    def of_step(atom: int) -> Callable[[int, int], bool]:
        return lambda state, new: atom in of_pairs[state, new]

    checks = (TemporalCheck("P", "", (query,)),)
    return TemporalProblem(tuple(map(of_state, ATOMS)), tuple(map(of_step, ATOMS)), tuple(fairness), checks)


def targets_of(graph: SmallGraph) -> list[int]:
    """The target of each pair; each dropped one leads to a state of its own."""
    return [graph.states + n if pair.target is None else pair.target for n, pair in enumerate(graph.pairs)]


def levels_of(graph: SmallGraph) -> tuple[int, ...]:
    """The number of the first state of each level, and how many states there are."""
    starts = [0, graph.initial]
    while starts[-1] < graph.states:
        last = [target for state in range(*starts[-2:]) for _, target in graph.moves(state)]
        starts.append(max(last) + 1)
    return tuple(starts)


def native_level(case: EarlyCase) -> int | None:
    """The level in which the native search reports the query."""
    arrays = case.graph.as_arrays()
    levels = RecordedLevels()
    early = EarlyLassos(case.problem)
    for first, end in pairwise(case.starts):
        levels.starts.append(end)
        levels.state_bits.append(arrays.state_bits[first:end])
    for level, (first, end) in enumerate(pairwise(case.starts)):
        # Two parts, as threads make them.
        for begin, stop in pairwise(sorted({first, (first + end) // 2, end})):
            steps = slice(int(arrays.offsets[begin]), int(arrays.offsets[stop]))
            counts = (arrays.offsets[begin + 1 : stop + 1] - arrays.offsets[begin:stop]).astype("uint32")
            part = arrays.targets[steps], arrays.labels[steps], arrays.step_bits[steps]
            levels.parts.append(StepPart(begin, counts, *part))
        if early.is_found(levels, level):
            return level
    return None


def level_of_whole_graph(case: EarlyCase) -> int | None:
    """The level that is told of the graph when it is whole; None if it was not looked at on the way."""
    arrays = replace(case.graph.as_arrays(), level_starts=np.array(case.starts, np.int64))
    level = refuting_level(LassoSearch(arrays, case.problem.fairness), case.problem)
    return level if level is not None and level < len(case.starts) - 1 else None


def interpreted_level(case: EarlyCase) -> int | None:
    """The level in which the interpreter reports it."""
    graph = case.graph
    steps: list[dict[int, frozenset[int]]] = [{} for _ in range(graph.states)]
    for pair, target in zip(graph.pairs, targets_of(graph), strict=True):
        steps[pair.source][target] = pair.labels
    states: Any = range(graph.states + len(graph.pairs))
    early = ObviousEarlyLassos(case.problem)
    for level, (first, end) in enumerate(pairwise(case.starts)):
        behaviours = Behaviours(case.problem, states, graph.states, steps[:end])
        if early.is_found(behaviours, range(first, end), graph.initial):
            return level
    return None
